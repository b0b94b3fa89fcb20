//! [`spark`]: a line as small as a word.

use wavetank_units::Nanos;

use super::downsample::value;
use super::path::polyline_with_gaps;
use super::series::Point;
use super::svg::escape;

/// Width in pixels.
const WIDTH: f64 = 96.0;
/// Height in pixels.
const HEIGHT: f64 = 20.0;
/// Points at most: one a pixel.
const POINTS_MAX: usize = 96;

/// A line as small as a word, for a cell of a table: `<svg class="spark">` from 0 at the bottom to
/// the maximum at the top. If there are more points than pixels, the maximum of each pixel is
/// drawn.
///
/// `said` describes it for screen readers, such as `p99 over time`. An empty text hides it from
/// them, for tables with the same values in the neighbouring cells.
pub fn spark(values: &[Option<f64>], said: &str) -> String {
    let per = values.len().div_ceil(POINTS_MAX).max(1);
    let columns: Vec<Option<f64>> = values
        .chunks(per)
        .map(|chunk| chunk.iter().flatten().copied().filter(|value| value.is_finite()).reduce(f64::max))
        .collect();
    let points: Vec<Point> = (0..).map(Nanos).zip(columns).collect();
    let most = points.iter().filter_map(value).fold(0.0, f64::max);
    let across = WIDTH / points.len().saturating_sub(1).max(1) as f64;
    let path = polyline_with_gaps(&points, |at, value| {
        let height = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
        (at.0 as f64 * across, 1.0 + (HEIGHT - 2.0) * (1.0 - height))
    });
    let access = if said.is_empty() {
        "aria-hidden=\"true\"".to_owned()
    } else {
        format!("role=\"img\" aria-label=\"{}\"", escape(said))
    };
    format!("<svg class=\"spark\" width=\"{WIDTH}\" height=\"{HEIGHT}\" {access}><path d=\"{path}\"/></svg>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spark_keeps_its_peak_and_its_gaps() {
        let mut values = vec![Some(1.0); 500];
        values[250] = Some(9.0);
        values[100..110].fill(None);
        let svg = spark(&values, "p99 <over> time");
        assert!(svg.contains(" 1L"), "the peak reaches the top: {svg}");
        assert_eq!(svg.matches('M').count(), 2, "one gap: {svg}");
        assert!(svg.contains("p99 &lt;over&gt; time") && svg.len() < 1_500, "{svg}");
        for awful in [&[][..], &[None], &[Some(f64::NAN)], &[Some(0.0)], &[Some(-5.0), Some(f64::INFINITY)]] {
            assert!(!spark(awful, "").contains("NaN"));
        }
    }
}
