//! Corrects for several questions asked together: of twenty, one would be answered wrongly by
//! chance alone.

/// Holm's correction (S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J.
/// Statistics 6, 1979). Each chance in `p` is increased so that comparing all of them with 0.05
/// errs on any of them at most 5 times in 100, for any dependence between them. Returns them in the
/// given order.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least = 0.0_f64;
    for (before, &at) in order.iter().enumerate() {
        least = least.max(p[at] * (p.len() - before) as f64).min(1.0);
        adjusted[at] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_published_example() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
        let check = |p: &[f64], expected: &[f64]| {
            let found = holm(p);
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        };
        check(&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]);
        check(&[0.9, 0.8], &[1.0, 1.0]);
        check(&[0.02], &[0.02]);
        check(&[], &[]);
    }
}
