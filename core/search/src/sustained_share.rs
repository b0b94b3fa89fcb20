//! [`SustainedShares`]: for each load that passed, the share that the target had done by the end.

/// For each level that passed: the smallest share of the offered load that was certainly done in
/// time.
///
/// A target that is offered slightly more than it can do meets its thresholds while its queue is
/// short. All requests open at the end may be such a queue, and it cannot be longer. So the target
/// sustains the load times this share, for any length of the runs and any thresholds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SustainedShares(Vec<(f64, f64)>);

impl SustainedShares {
    /// A run of `level` held, of which `share` (0 to 1) was over by the end.
    pub(crate) fn add(&mut self, level: f64, share: f64) {
        match self.0.iter_mut().find(|(at, _)| at.total_cmp(&level).is_eq()) {
            Some((_, least)) => *least = least.min(share),
            None => self.0.push((level, share)),
        }
    }

    /// The share at `level`, or at the level that held nearest to it; 1 where none did.
    pub(crate) fn share_at(&self, level: f64) -> f64 {
        let far = |at: f64| (at / level).ln().abs();
        let nearest = self.0.iter().min_by(|a, b| far(a.0).total_cmp(&far(b.0)));
        nearest.map_or(1.0, |&(_, share)| share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_counts_and_the_nearest_answers() {
        let mut kept = SustainedShares::default();
        assert!((kept.share_at(100.0) - 1.0).abs() < 1e-12);
        for (level, share) in [(100.0, 0.999), (500.0, 0.99), (500.0, 0.97), (500.0, 0.98)] {
            kept.add(level, share);
        }
        for (level, share) in [(10.0, 0.999), (100.0, 0.999), (500.0, 0.97), (505.0, 0.97), (10_000.0, 0.97)]
        {
            assert!((kept.share_at(level) - share).abs() < 1e-12, "{level}");
        }
    }
}
