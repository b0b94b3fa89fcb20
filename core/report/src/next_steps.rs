//! Suggestions for the next run.

use wavetank_record::{RunRecord, Status};
use wavetank_units::quantity::trimmed;
use wavetank_units::{Sentence, sentence};

use crate::command_line::quoted_words;

/// A longer command is not suggested.
const COMMAND_CHARS_MAX: usize = 120;

/// A shorter window gives no useful rate: `-n 1` against a fast target looks like thousands a
/// second.
const WINDOW_MIN_S: f64 = 1.0;

/// Options that exclude `-r`; a suggested command must be valid.
const CLOSED_ONLY: [&str; 2] = ["--pipeline", "--open-rate"];

/// Commands worth trying after this run; empty where a finding already says what to do.
pub(crate) fn next_steps(record: &RunRecord) -> Vec<Sentence> {
    let rate = record.rate.done_per_s.0;
    let command = &without_output(&record.command);
    let option = |word: &str| CLOSED_ONLY.contains(&word.split('=').next().unwrap_or(word));
    if record.duration_s.0 < WINDOW_MIN_S || command.split(' ').any(option) {
        return Vec::new();
    }
    if record.verdict.status != Status::Pass || rate < 2.0 || command.chars().count() > COMMAND_CHARS_MAX {
        return Vec::new();
    }
    // A closed loop hides waiting times, so half of its rate is worth a run. An open loop has its
    // `-r` in the command already, and its findings suggest how to get closer to the limit.
    match record.load.model.as_str() {
        "closed" => {
            vec![sentence!("response times at a fixed rate: {command} -r {}", round_rate(rate / 2.0))]
        }
        _ => Vec::new(),
    }
}

/// Returns `command` without its output options. Otherwise the suggested run would overwrite the
/// page that suggests it.
fn without_output(command: &str) -> String {
    let mut is_value = false;
    let kept = quoted_words(command).filter(|word| {
        let is_option = matches!(*word, "--out" | "--quiet") || word.starts_with("--out=");
        let left_out = is_option || is_value;
        is_value = *word == "--out";
        !left_out
    });
    kept.collect::<Vec<_>>().join(" ")
}

/// Two significant digits in a unit that `-r` reads: `6.2k/s`.
fn round_rate(per_second: f64) -> String {
    let magnitude = 10_f64.powf(per_second.log10().floor() - 1.0);
    let rounded = (per_second / magnitude).round() * magnitude;
    let (value, unit) = match rounded {
        value if value < 999.5 => (value, ""),
        value if value < 999_500.0 => (value / 1e3, "k"),
        value => (value / 1e6, "M"),
    };
    format!("{}{unit}/s", trimmed(&format!("{value:.1}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavetank_record::Number;

    /// The suggestions after a closed run of `command` that did 1,000 requests a second for
    /// `seconds`.
    fn advised(command: &str, seconds: f64) -> Vec<Sentence> {
        let mut record = RunRecord { command: command.to_owned(), ..RunRecord::default() };
        record.verdict.status = Status::Pass;
        record.rate.done_per_s = Number(1_000.0);
        record.duration_s = Number(seconds);
        record.load.model = "closed".to_owned();
        next_steps(&record)
    }

    #[test]
    fn advice_is_a_command_that_works_and_a_rate_that_was_seen() {
        assert_eq!(advised("wavetank run :80 -c 5", 1.0).len(), 1);
        assert_eq!(advised("wavetank run :80 -n 1", 0.000_3), [""; 0], "no rate from one request");
        let advice = advised("wavetank run :80 --out 'my page.html' -c 5 --quiet --out=b.csv --name a", 1.0);
        assert_eq!(advice, ["response times at a fixed rate: wavetank run :80 -c 5 --name a -r 500/s"]);
        for refused in ["--pipeline 4", "--pipeline=4", "--open-rate 1k/s", "--open-rate=1k/s"] {
            assert_eq!(
                advised(&format!("wavetank run :80 {refused}"), 10.0),
                [""; 0],
                "{refused} excludes -r"
            );
        }
    }

    fn check(per_second: f64, text: &str) {
        assert_eq!(round_rate(per_second), text);
        assert!(wavetank_units::quantity::parse_rate(text).is_ok(), "`-r` cannot read {text}");
    }

    #[test]
    fn advised_rates_are_round_and_readable() {
        check(1.0, "1/s");
        check(6_200.4, "6.2k/s");
        check(12_431.0, "12k/s");
        check(999.9, "1k/s");
        check(123.0, "120/s");
        check(1_234_567.0, "1.2M/s");
    }
}
