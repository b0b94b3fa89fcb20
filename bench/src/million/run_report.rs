//! [`RunReport`]: the numbers that `run` reports. They count only if other sources confirm them.

use anyhow::{Context, Result};
use serde_json::Value;

/// The numbers from the JSON of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RunReport {
    /// Status and headline of the verdict.
    pub(super) verdict: String,
    /// Fewest open connections at the end of a second, in the phase that holds them.
    pub(super) lowest: u64,
    /// Connections that ended earlier than planned.
    pub(super) lost: u64,
    /// Opened connections, including replacements of lost ones.
    pub(super) opened: u64,
    /// Connections that could not be opened.
    pub(super) not_opened: u64,
    /// Requests answered.
    pub(super) done: u64,
    /// Requests that failed.
    pub(super) failed: u64,
    /// Longest time from the intended start of a request to its response, in seconds.
    pub(super) slowest_s: f64,
    /// Messages of the findings.
    pub(super) findings: Vec<String>,
}

impl RunReport {
    /// Reads the JSON. Fails if the run held no connections.
    pub(super) fn read(text: &str) -> Result<Self> {
        let run: Value = serde_json::from_str(text).context("the run's JSON")?;
        let count = |path: &str| run.pointer(path).and_then(Value::as_u64).with_context(|| path.to_owned());
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let findings = run["findings"].as_array().into_iter().flatten();
        Ok(Self {
            verdict: format!("{}: {}", word(&run["verdict"]["status"]), word(&run["verdict"]["headline"])),
            lowest: count("/held/0/lowest")?,
            lost: count("/connections/lost")?,
            opened: count("/connections/opened")?,
            not_opened: count("/connections/failed")?,
            done: count("/requests/done")?,
            failed: count("/requests/failed")?,
            // Without requests there is no slowest response.
            slowest_s: run["response_us"]["max"].as_f64().unwrap_or(0.0) / 1e6,
            findings: findings.map(|finding| word(&finding["message"])).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_read() {
        let text = r#"{"verdict":{"status":"pass","headline":"9 held"},"held":[{"lowest":9}],
            "connections":{"lost":1,"opened":10,"failed":2},"requests":{"done":3,"failed":4},"response_us":{"max":5e6},
            "findings":[{"message":"late"}]}"#;
        let said = RunReport::read(text).expect("whole");
        let expected = RunReport {
            verdict: "pass: 9 held".to_owned(),
            lowest: 9,
            lost: 1,
            opened: 10,
            not_opened: 2,
            done: 3,
            failed: 4,
            slowest_s: 5.0,
            findings: vec!["late".to_owned()],
        };
        assert_eq!(said, expected);
        assert!(RunReport::read(&text.replace("lowest", "highest")).is_err());
        assert!(RunReport::read("").is_err());
    }
}
