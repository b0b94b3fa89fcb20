//! [`Counter`]: the bench that turns the load path, under callgrind.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use wavetank_bench::programs;

/// Requests of a short and of a long run. The difference of their counts is the cost of the
/// requests between, without start and end.
const SHORT: u64 = 500;
const LONG: u64 = 3_500;
/// Runs of each length. A wait that ended too early can only add instructions, so the smallest
/// count is used.
const RUNS: usize = 3;
/// Intervals of a run of less than a second: the one before the load, and the load's.
const SEALED_LEAST: u64 = 2;
/// Tries for that on a machine that stops and goes.
const TRIES: usize = 15;
/// Tries after which a machine that has not had one such run is not going to.
const HOPELESS: usize = 4;
/// Functions at which counting is switched: on in the load thread, and off within it for the peers
/// and for sealing.
const SWITCHES: [&str; 3] = [
    "instructions::counted",
    "instructions::peers::Peers::serve",
    "wavetank_engine::worker::sealing::<impl wavetank_engine::worker::Worker<D>>::sealed",
];

/// See the module's description.
pub(super) struct Counter {
    bench: PathBuf,
    valgrind: PathBuf,
    folder: tempfile::TempDir,
}

impl Counter {
    /// Builds the bench; `None` without valgrind.
    pub(super) fn build(root: &Path) -> Result<Option<Self>> {
        let Some(valgrind) = programs::find("valgrind") else { return Ok(None) };
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args([
            "build",
            "--release",
            "--locked",
            "--package",
            "wavetank-engine",
            "--bench",
            "instructions",
        ]);
        command.args(["--message-format", "json-render-diagnostics"]).current_dir(root);
        let output =
            command.stderr(std::process::Stdio::inherit()).output().context("cargo cannot be started")?;
        ensure!(output.status.success(), "building the bench ended with {}", output.status);
        let bench = executable(&String::from_utf8_lossy(&output.stdout)).context("cargo names no bench")?;
        Ok(Some(Self { bench, valgrind, folder: tempfile::tempdir().context("a folder")? }))
    }

    /// Checks that `driver` works here, without counting. The error is the last line it printed.
    pub(super) fn try_out(&self, driver: &str) -> Result<(), String> {
        let tried = Command::new(&self.bench).args([driver, "alone", "10"]).output();
        let tried = tried.map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&tried.stderr);
        let said = text.lines().find(|line| line.contains("the driver")).unwrap_or("no word why").to_owned();
        if tried.status.success() { Ok(()) } else { Err(said) }
    }

    /// Instructions that one more request costs; `None` on a machine too slow to say.
    pub(super) fn per_request(&self, driver: &str, case: &str) -> Result<Option<f64>> {
        let (Some(short), Some(long)) = (self.fewest(driver, case, SHORT)?, self.fewest(driver, case, LONG)?)
        else {
            return Ok(None);
        };
        ensure!(long > short, "{LONG} requests cost {long} instructions, {SHORT} cost {short}");
        Ok(Some((long - short) as f64 / (LONG - SHORT) as f64))
    }

    /// Only runs within one second count: each further second seals an interval, which has a cost
    /// of its own.
    fn fewest(&self, driver: &str, case: &str, requests: u64) -> Result<Option<u64>> {
        let mut counts = Vec::new();
        for tried in 0..TRIES {
            if tried == HOPELESS && counts.is_empty() {
                break;
            }
            let (count, sealed) = self.count(driver, case, requests)?;
            if sealed <= SEALED_LEAST {
                counts.push(count);
            }
            if counts.len() == RUNS {
                return Ok(counts.into_iter().min());
            }
        }
        Ok(None)
    }

    fn count(&self, driver: &str, case: &str, requests: u64) -> Result<(u64, u64)> {
        let mut command = Command::new(&self.valgrind);
        command.args(["--tool=callgrind", "--collect-atstart=no"]);
        command.arg(format!("--callgrind-out-file={}", self.folder.path().join("callgrind.out").display()));
        command.args(SWITCHES.map(|function| format!("--toggle-collect={function}")));
        command.arg(&self.bench).args([driver, case, &requests.to_string()]);
        let output = command.output().context("valgrind cannot be started")?;
        let text = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            bail!("the bench ended with {} under valgrind: {text}", output.status);
        }
        let count = collected(&text).with_context(|| format!("valgrind counted nothing: {text}"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let sealed = said.trim().strip_prefix("sealed ").and_then(|number| number.parse().ok());
        Ok((count, sealed.with_context(|| format!("the bench said `{}`", said.trim()))?))
    }
}

/// The bench among what cargo says it built.
fn executable(messages: &str) -> Option<PathBuf> {
    let built = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut benches = built.filter(|message| message["target"]["name"] == "instructions");
    benches.find_map(|message| Some(PathBuf::from(message["executable"].as_str()?)))
}

/// From `==123== Collected : 86922039`.
fn collected(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("Collected : "))?;
    let count: u64 = line.rsplit(' ').next()?.parse().ok()?;
    (count > 0).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_and_none_is_none() {
        assert_eq!(collected("==1== Events    : Ir\n==1== Collected : 86922039\n"), Some(86_922_039));
        // A function with a changed name would never be entered.
        assert_eq!(collected("==1== Collected : 0\n"), None);
        assert_eq!(collected(""), None);
    }

    #[test]
    fn the_bench_is_found_among_what_was_built() {
        let messages = "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"libc\"},\"executable\":null}\n\
             {\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"instructions\"},\"executable\":\"/x/i-1\"}\n";
        assert_eq!(executable(messages), Some(PathBuf::from("/x/i-1")));
        assert_eq!(executable("{\"reason\":\"build-finished\",\"success\":true}"), None);
    }
}
