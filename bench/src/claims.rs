//! [`ReportedResult`]: the counts that a load generator reports, read from its output.

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Largest share by which a reported count may differ from the target's count.
const TOLERANCE: f64 = 0.001;

/// The counts that a generator reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReportedResult {
    /// Requests answered.
    pub(crate) done: u64,
    /// Requests that went out, as the target would count them.
    pub(crate) sent: u64,
    /// Whether `sent` covers every request that went out. Other generators end with requests in
    /// flight that they do not report.
    pub(crate) exact: bool,
}

impl ReportedResult {
    /// Returns why the target's count `seen` contradicts the report. Up to `under_way` requests in
    /// flight may be missing from the report.
    pub(crate) fn doubt(self, seen: u64, under_way: usize) -> Option<String> {
        let slack = self.sent as f64 * TOLERANCE;
        let untold = if self.exact { 0.0 } else { under_way as f64 };
        let more = seen as f64 - self.sent as f64;
        let held = -slack <= more && more <= slack + untold;
        (!held).then(|| format!("claims {}, the target counted {seen}", self.sent))
    }
}

/// Reads the JSON of a run. `sent` includes the requests of the warm-up and the probe, since the
/// target counts them too.
pub(crate) fn wavetank(stdout: &str) -> Result<ReportedResult> {
    let run: Value = serde_json::from_str(stdout).context("no JSON")?;
    let failed = run["requests"]["failed"].as_u64().context("requests.failed")?;
    if failed > 0 {
        bail!("wavetank had {failed} failures: {}; {}", run["errors"], run["verdict"]);
    }
    let done = run["requests"]["done"].as_u64().context("requests.done")?;
    let wire = run["wire"]["sent"].as_u64().context("wire.sent")?;
    let other = [&run["warmup"]["wire"]["sent"], &run["setup"]["sent"]];
    let sent = wire + other.iter().filter_map(|count| count.as_u64()).sum::<u64>();
    Ok(ReportedResult { done, sent, exact: true })
}

/// Reads the line `  123456 requests in 6.00s, 17.66MB read`. A line about errors makes the turn
/// invalid.
pub(crate) fn wrk(stdout: &str) -> Result<ReportedResult> {
    if let Some(line) = stdout.lines().find(|line| line.contains("errors:") || line.contains("Non-2xx")) {
        bail!("wrk had failures: {}", line.trim());
    }
    let line = stdout.lines().find(|line| line.contains(" requests in ")).context("wrk printed no count")?;
    let done = line.split_whitespace().next().unwrap_or_default().parse().context("wrk's count")?;
    Ok(ReportedResult { done, sent: done, exact: false })
}

/// Reads the line `requests: 9 total, 9 started, 9 done, 9 succeeded, 0 failed, 0 errored, 0
/// timeout`.
pub(crate) fn h2load(stdout: &str) -> Result<ReportedResult> {
    let line =
        stdout.lines().find_map(|line| line.strip_prefix("requests: ")).context("h2load printed no count")?;
    let count = |name: &str| -> Result<u64> {
        let part = line.split(", ").find_map(|part| part.strip_suffix(name));
        part.and_then(|number| number.trim().parse().ok()).with_context(|| format!("h2load's {name}: {line}"))
    };
    if count("failed")? + count("errored")? + count("timeout")? > 0 {
        bail!("h2load had failures: {line}");
    }
    let done = count("succeeded")?;
    Ok(ReportedResult { done, sent: done, exact: false })
}

/// Reads the lines `Complete requests:      2000` and `Failed requests:        0`.
pub(crate) fn ab(stdout: &str) -> Result<ReportedResult> {
    let count = |name: &str| {
        let rest = stdout.lines().find_map(|line| line.strip_prefix(name));
        rest.and_then(|rest| rest.trim_start_matches(':').trim().parse::<u64>().ok())
    };
    let bad = count("Failed requests").unwrap_or(0) + count("Non-2xx responses").unwrap_or(0);
    if bad > 0 {
        bail!("ab had {bad} failures");
    }
    let done = count("Complete requests").context("ab printed no count")?;
    Ok(ReportedResult { done, sent: done, exact: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Reader = fn(&str) -> Result<ReportedResult>;

    fn check(read: Reader, text: &str, expected: Option<(u64, u64)>) {
        let claim = read(text).ok();
        assert_eq!(claim.map(|claim| (claim.done, claim.sent)), expected, "{text}");
    }

    #[test]
    fn counts_are_read_and_errors_too() {
        let fine = "Running 6s test @ http://127.0.0.1:1/\n  265131 requests in 6.10s, 41.71MB read\n";
        check(wrk, fine, Some((265_131, 265_131)));
        check(wrk, &format!("{fine}  Socket errors: connect 0, read 3, write 0, timeout 0\n"), None);
        check(wrk, &format!("{fine}  Non-2xx or 3xx responses: 12\n"), None);
        let line = |failed| {
            format!(
                "requests: 9 total, 9 started, 9 done, 8 succeeded, {failed} failed, 0 errored, 0 timeout\n"
            )
        };
        check(h2load, &line(0), Some((8, 8)));
        check(h2load, &line(1), None);
        let ab_text = "Complete requests:      2000\nFailed requests:        0\n";
        check(ab, ab_text, Some((2_000, 2_000)));
        check(ab, &format!("{ab_text}Non-2xx responses:      7\n"), None);
        for read in [wrk, h2load, ab, wavetank] as [Reader; 4] {
            check(read, "nothing", None);
        }
    }

    #[test]
    fn all_that_went_out_is_counted() {
        let run =
            |rest: &str| format!(r#"{{"requests":{{"done":98,"failed":0}},"wire":{{"sent":100}},{rest}}}"#);
        check(wavetank, &run(r#""warmup":{"wire":{"sent":7}},"setup":{"sent":1}"#), Some((98, 108)));
        check(wavetank, &run(r#""warmup":{},"setup":{"sent":0}"#), Some((98, 100)));
        check(wavetank, r#"{"requests":{"done":98,"failed":2},"wire":{"sent":100}}"#, None);
    }

    #[test]
    fn a_claim_is_held_against_the_target() {
        let check = |exact, seen, fine| {
            let claim = ReportedResult { done: 10_000, sent: 10_000, exact };
            assert_eq!(claim.doubt(seen, 64).is_none(), fine, "{exact} {seen}");
        };
        check(true, 10_010, true);
        check(true, 10_030, false);
        check(false, 10_074, true);
        check(false, 10_075, false);
        check(false, 9_989, false);
    }
}
