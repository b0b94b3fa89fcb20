//! [`Row`]: one round of `bench http`.

use super::generator::Turn;
use super::median;

/// One round: both turns side by side.
pub(super) struct Row {
    ours_us: f64,
    peer_us: f64,
    ours_done: u64,
    peer_done: u64,
    pub(super) peak_rss_bytes: u64,
    /// Why the round counts for nothing.
    void: Option<String>,
}

impl Row {
    /// What the columns are.
    pub(super) const HEADER: &'static str =
        "round      µs/request  wrk µs/request   ratio     requests  wrk requests   peak MB";

    /// Puts two turns side by side, each with why its count cannot be trusted.
    pub(super) fn new(ours: &(Turn, Option<String>), peer: &(Turn, Option<String>)) -> Self {
        Self {
            ours_us: ours.0.cpu_us / ours.0.done as f64,
            peer_us: peer.0.cpu_us / peer.0.done as f64,
            ours_done: ours.0.done,
            peer_done: peer.0.done,
            peak_rss_bytes: ours.0.peak_rss_bytes,
            void: ours.1.clone().or_else(|| peer.1.clone()),
        }
    }

    fn ratio(&self) -> f64 {
        self.ours_us / self.peer_us
    }

    /// The row of the table.
    pub(super) fn line(&self, round: usize) -> String {
        let Self { ours_us, peer_us, ours_done, peer_done, peak_rss_bytes, void } = self;
        let ratio = self.ratio();
        let peak = *peak_rss_bytes as f64 / 1e6;
        let mut line = format!(
            "{round:<10} {ours_us:>10.2}  {peer_us:>14.2}  {ratio:>6.3}  {ours_done:>11}  {peer_done:>12}  {peak:>8.1}"
        );
        if let Some(why) = void {
            line.push_str("  VOID: ");
            line.push_str(why);
        }
        line
    }
}

/// What the rounds say together.
#[derive(Debug, PartialEq)]
pub(super) struct Outcome {
    /// Median of the ratios of rounds that count; nothing where none does.
    pub(super) ratio: Option<f64>,
    /// Rounds that count.
    pub(super) valid: usize,
}

impl Outcome {
    pub(super) fn of(rows: &[Row]) -> Self {
        let ratios: Vec<f64> = rows.iter().filter(|row| row.void.is_none()).map(Row::ratio).collect();
        Self { valid: ratios.len(), ratio: median(ratios) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(cpu_us: f64) -> Turn {
        Turn { done: 1_000, sent: 1_000, cpu_us, peak_rss_bytes: 0 }
    }

    fn row(ours_us: f64, void: Option<&str>) -> Row {
        Row::new(&(turn(ours_us), void.map(str::to_owned)), &(turn(10_000.0), None))
    }

    #[test]
    fn the_outcome_is_the_median_of_ratios_of_valid_rounds() {
        let rows =
            [row(9_000.0, None), row(1.0, Some("counts differ")), row(7_000.0, None), row(8_000.0, None)];
        assert_eq!(Outcome::of(&rows), Outcome { ratio: Some(0.8), valid: 3 });
        assert_eq!(Outcome::of(&[row(1.0, Some("counts differ"))]), Outcome { ratio: None, valid: 0 });
    }

    #[test]
    fn a_void_row_says_why() {
        assert!(row(1.0, Some("counts differ")).line(1).ends_with("VOID: counts differ"));
        assert!(!row(1.0, None).line(1).contains("VOID"));
    }
}
