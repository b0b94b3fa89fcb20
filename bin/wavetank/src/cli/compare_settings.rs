//! [`CompareSettings`]: what `compare` and `run … --baseline` have in common.

use wavetank_units::quantity::parse_share;
use wavetank_units::{Code, UserError, did_you_mean, sanitize};

/// Most runs of one side. More are a mistake in a shell pattern, or a label that all runs have.
pub(crate) const RUNS_MAX: usize = 100;

/// Options of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CompareSettings {
    /// `--metric`, named as in conditions; empty for all.
    pub(crate) metrics: Vec<String>,
    /// `--max-regression` as a share.
    pub(crate) max_regression: Option<f64>,
    /// `--seed` of the draws.
    pub(crate) seed: u64,
}

/// Parses `--max-regression`: a share above 0.
pub(super) fn limit(text: &str) -> Result<f64, UserError> {
    let is_limit = |share: f64| share > 0.0 && share < 1.0;
    let read = parse_share(text);
    // If a unit alone would not correct the value, the error says so immediately.
    let meant = read.clone().or_else(|error| parse_share(&format!("{text}%")).map_err(|_| error))?;
    if !is_limit(meant) {
        let hint = "use a share between 0% and 100%, such as 10%; without it no difference fails";
        return Err(UserError::usage(Code::OutOfRange, format!("`{text}` is not a limit"), hint));
    }
    read
}

/// Parses `--metric`. A metric that no run has is reported once the runs are known; only impossible
/// ones are errors here.
pub(super) fn metric(text: &str) -> Result<String, UserError> {
    const PLAIN: [&str; 7] = ["done_rate", "failed", "lost", "p50", "p90", "p99", "p99.9"];
    let bare = text.split('(').next().unwrap_or_default();
    let percentile = bare.strip_prefix('p').is_some_and(|q| q.parse::<f64>().is_ok());
    if percentile || PLAIN.contains(&bare) || text.contains('(') {
        return Ok(text.to_owned());
    }
    let hint = match did_you_mean(bare, PLAIN) {
        Some(near) => format!("did you mean {near}?"),
        None => "p50 p90 p99 p99.9 done_rate failed lost 'p99(service)' 'p99(STEP)'".to_owned(),
    };
    Err(UserError::usage(Code::MetricUnknown, format!("--metric: `{text}` is not a known value"), hint))
}

/// Splits names of runs at commas; empty if no run is named. A comma after a backslash belongs to
/// the name or label.
pub(super) fn split(words: &[String]) -> Result<Vec<String>, UserError> {
    // A character that no argument can contain.
    const OWN: &str = "\0";
    let marked: Vec<String> = words.iter().map(|word| word.replace("\\,", OWN)).collect();
    let all = marked.iter().flat_map(|word| word.split(',')).map(|word| word.trim().replace(OWN, ","));
    let (named, empty): (Vec<_>, Vec<_>) = all.partition(|word| !word.is_empty());
    if empty.is_empty() || named.is_empty() {
        return Ok(named);
    }
    // Most likely an empty variable of a script.
    let message = format!("`{}` contains an empty name", sanitize(&words.join(" ")));
    let without: Vec<String> = named.iter().map(|word| word.replace(',', "\\,")).collect();
    Err(UserError::usage(Code::NoRun, message, format!("without it: {}", without.join(","))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meaningless_options_are_refused() {
        assert_eq!(limit("10%"), Ok(0.1));
        let refused =
            |word: &str| limit(word).map_err(|error| (error.code.as_str(), error.hint)).unwrap_err();
        let expected = |code, hint: &str| (code, hint.to_owned());
        assert_eq!(refused("10"), expected("unit_missing", "10%?"));
        assert_eq!(refused("1e400"), expected("unit_missing", "a share looks like 1% or 0.01%"));
        assert_eq!(refused("-5%").0, "negative");
        for word in ["0%", "100%", "0", "100"] {
            let (code, hint) = refused(word);
            assert!(
                code == "out_of_range" && hint.starts_with("use a share between"),
                "{word}: {code} {hint}"
            );
        }
        assert!(["p99", "p99(login)", "failed", "p99.9"].iter().all(|word| metric(word).is_ok()));
        assert_eq!(metric("p9999x").unwrap_err().code, "metric_unknown");
        assert!(metric("faild").unwrap_err().hint.contains("failed"));
    }
}
