//! [`Generator`]: a contestant, how it is called and what it claims to have done.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::Session;
use super::child::{Used, measure};

/// Connections of the comparison.
pub(super) const CONNECTIONS: usize = 64;

/// A load generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generator {
    Wavetank,
    Wrk,
}

/// One contestant's turn.
pub(super) struct Turn {
    /// Requests it says were answered.
    pub(super) done: u64,
    /// Requests it says went out, as the target would count them.
    pub(super) sent: u64,
    pub(super) cpu_us: f64,
    pub(super) peak_rss_bytes: u64,
}

impl Generator {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Wavetank => "wavetank",
            Self::Wrk => "wrk",
        }
    }

    /// The command: one thread, keep-alive connections, everything recorded that it records.
    pub(super) fn words(self, session: &Session, url: &str, seconds: u32) -> Vec<String> {
        let line = match self {
            Self::Wavetank => format!(
                "{} run {url} -c {CONNECTIONS} -d {seconds}s --threads 1 --engine epoll --format json --runs-dir {}",
                session.wavetank.display(),
                session.folder.path().join("runs").display()
            ),
            Self::Wrk => format!("wrk -t 1 -c {CONNECTIONS} -d {seconds}s {url}"),
        };
        line.split(' ').map(str::to_owned).collect()
    }

    /// Runs it once.
    pub(super) fn turn(self, session: &Session, url: &str, seconds: u32) -> Result<Turn> {
        let words = self.words(session, url, seconds);
        // A verdict is not what is compared: 1, 3 and 4 are runs that went to their end.
        let fine: &[i32] = if self == Self::Wavetank { &[1, 3, 4] } else { &[] };
        let used = measure(&words, session.cpus.generator, &session.folder.path().join("usage.json"), fine)?;
        let (done, sent) = match self {
            Self::Wavetank => wavetank_counts(&used)?,
            Self::Wrk => wrk_count(&used.stdout).map(|done| (done, done))?,
        };
        if done == 0 {
            bail!("`{}` had nothing answered: {}{}", words.join(" "), used.stdout, used.stderr);
        }
        Ok(Turn { done, sent, cpu_us: used.cpu_us, peak_rss_bytes: used.peak_rss_bytes })
    }
}

/// Requests done, and all that went out: of the measured phases, of the warm-up and of the probe.
fn wavetank_counts(used: &Used) -> Result<(u64, u64)> {
    let run: Value =
        serde_json::from_str(&used.stdout).with_context(|| format!("no JSON: {}", used.stderr))?;
    let done = run["requests"]["done"].as_u64().context("requests.done")?;
    let wire = run["wire"]["sent"].as_u64().context("wire.sent")?;
    let other = [&run["warmup"]["wire"]["sent"], &run["setup"]["sent"]];
    Ok((done, wire + other.iter().filter_map(|count| count.as_u64()).sum::<u64>()))
}

/// The line `  123456 requests in 6.00s, 17.66MB read`; any line of errors makes the turn worthless.
fn wrk_count(stdout: &str) -> Result<u64> {
    if let Some(line) = stdout.lines().find(|line| line.contains("errors:") || line.contains("Non-2xx")) {
        bail!("wrk had failures: {}", line.trim());
    }
    let line = stdout.lines().find(|line| line.contains(" requests in ")).context("wrk printed no count")?;
    line.split_whitespace().next().unwrap_or_default().parse().context("wrk's count")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_wrk_is_read_and_its_errors_too() {
        let fine = "Running 6s test @ http://127.0.0.1:1/\n  1 threads and 64 connections\n  Thread Stats   Avg\n  \
                    265131 requests in 6.10s, 41.71MB read\nRequests/sec:  43464.48\n";
        assert_eq!(wrk_count(fine).expect("has a count"), 265_131);
        let socket = format!("{fine}  Socket errors: connect 0, read 3, write 0, timeout 0\n");
        let status = format!("{fine}  Non-2xx or 3xx responses: 12\n");
        for bad in [socket.as_str(), status.as_str(), "nothing"] {
            assert!(wrk_count(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn all_that_went_out_is_counted() {
        let used = |stdout: &str| Used {
            cpu_us: 0.0,
            peak_rss_bytes: 0,
            stdout: stdout.to_owned(),
            stderr: String::new(),
        };
        let run =
            r#"{"requests":{"done":98},"wire":{"sent":100},"warmup":{"wire":{"sent":7}},"setup":{"sent":1}}"#;
        assert_eq!(wavetank_counts(&used(run)).expect("has counts"), (98, 108));
        let plain = r#"{"requests":{"done":98},"wire":{"sent":100},"warmup":{},"setup":{"sent":0}}"#;
        assert_eq!(wavetank_counts(&used(plain)).expect("has counts"), (98, 100));
        assert!(wavetank_counts(&used("{}")).is_err());
    }
}
