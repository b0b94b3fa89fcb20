//! [`Row`]: the content of one row of the CSV, and the format of its cells.

use wavetank_measure::{
    Histogram, Interval, PhaseSeries, SessionSeries, StepSeries, TargetSeries, ThreadStats,
};
use wavetank_units::{Nanos, is_control_char};

/// One interval, of the whole run or of one step.
pub(super) struct Row<'a> {
    pub(super) agent: &'a str,
    pub(super) interval: &'a Interval,
    pub(super) part: LoadPart,
    /// Names of phase, scenario and step, in a row of one step.
    pub(super) names: [&'a str; 3],
    /// Requests of all keys of the row.
    pub(super) requests: StepSeries,
    /// Sessions of all scenarios, in a row of the whole run.
    pub(super) sessions: SessionSeries,
    /// Times that are recorded per phase, in a row of the whole run.
    pub(super) times: PhaseSeries,
    /// Times of connecting, in a row of the whole run.
    pub(super) opening: TargetSeries,
    pub(super) planned: Planned,
    /// Whether this row has the values that are counted once for the whole run.
    pub(super) whole: bool,
}

/// The plan's target values in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Planned {
    /// Sessions of the open loop that arrive; the mean for Poisson arrivals.
    pub(super) sessions: Option<u64>,
    /// Users of the closed loop at its end.
    pub(super) users: Option<u64>,
    /// Connections held at its end.
    pub(super) connections: Option<u64>,
}

/// The part of the run that a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadPart {
    /// Before all load: connections are opened.
    Before,
    /// Warm-up, which is not judged.
    Warmup,
    /// Judged.
    Measured,
}

impl LoadPart {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Warmup => "warmup",
            Self::Measured => "measured",
        }
    }
}

impl Row<'_> {
    /// Returns percentile `q` of `times` in µs. Empty without a sample, and if dropped requests
    /// reach into the percentile.
    pub(super) fn percentile(&self, times: &Histogram, q: f64) -> String {
        let counters = &self.requests.counters;
        let unknown = counters.dropped() as f64 > (1.0 - q / 100.0) * counters.offered as f64 + 1e-9;
        if counters.dropped() > 0 && unknown { String::new() } else { micros(times.percentile(q)) }
    }

    /// A count that only rows of the whole run have.
    pub(super) fn run_only_count(&self, count: u64) -> String {
        if self.whole { count.to_string() } else { String::new() }
    }

    /// A value of the load threads, if they are known.
    pub(super) fn per_thread(&self, reported: impl FnOnce(&[ThreadStats]) -> String) -> String {
        if self.whole && !self.interval.threads.is_empty() {
            reported(&self.interval.threads)
        } else {
            String::new()
        }
    }
}

/// Percentile `q` of `times` in µs; empty without a sample.
pub(super) fn percentile_cell(times: &Histogram, q: f64) -> String {
    micros(times.percentile(q))
}

/// The exact largest of `times` in µs; empty without a sample.
pub(super) fn max(times: &Histogram) -> String {
    micros((!times.is_empty()).then(|| times.max()))
}

/// The exact mean of `times` in µs; empty without a sample.
pub(super) fn mean(times: &Histogram) -> String {
    if times.is_empty() { String::new() } else { format!("{:.3}", times.mean() / 1e3) }
}

fn micros(ns: Option<u64>) -> String {
    ns.map_or_else(String::new, |ns| trimmed(ns / 1_000, ns % 1_000, 3))
}

/// Seconds with the decimals that are needed.
pub(super) fn seconds(at: Nanos) -> String {
    let sign = if at.0 < 0 { "-" } else { "" };
    let ns = at.0.unsigned_abs();
    format!("{sign}{}", trimmed(ns / 1_000_000_000, ns % 1_000_000_000, 9))
}

/// `whole` and `fraction` of `places` places, without zeros at its end.
fn trimmed(whole: u64, fraction: u64, places: usize) -> String {
    if fraction == 0 {
        return whole.to_string();
    }
    format!("{whole}.{fraction:0places$}").trim_end_matches('0').to_owned()
}

/// A number that may be unknown.
pub(super) fn count_or_empty(number: Option<u64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// Quotes a name from outside. A name that a spreadsheet would take for a formula gets an
/// apostrophe prefix, which makes it text.
pub(super) fn name(name: &str) -> String {
    let name: String =
        name.chars().map(|letter| if is_control_char(letter) { '\u{fffd}' } else { letter }).collect();
    if name.starts_with(['=', '+', '-', '@', '\'']) { format!("'{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_short() {
        let check = |ns, expected: &str| assert_eq!(seconds(Nanos(ns)), expected);
        check(0, "0");
        check(-2_000_000_000, "-2");
        check(1_500_000_000, "1.5");
        check(-1, "-0.000000001");
        assert_eq!(micros(Some(12_340)), "12.34");
        assert_eq!(micros(None), "");
    }

    #[test]
    fn no_name_is_a_formula() {
        let check = |from: &str, expected: &str| assert_eq!(name(from), expected);
        check("GET /", "GET /");
        check("=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1");
        check("+1", "'+1");
        check("-1", "'-1");
        check("@SUM(A1)", "'@SUM(A1)");
        check("'=1", "''=1");
        check("\t=1", "\u{fffd}=1");
    }
}
