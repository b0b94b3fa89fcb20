//! [`Logs`]: lines that journeys log, kept until the next seal takes them.

use wavetank_plan::redact::REDACTED;
use wavetank_plan::{Key, Plan};
use wavetank_units::Nanos;

use crate::messages::LogLine;

/// The maximum number of lines of one load thread in one interval. Further lines are only counted.
const LINES_MAX: usize = 100;
/// The maximum length of a line in bytes.
const LINE_BYTES_MAX: usize = 1_000;

/// The lines that journeys log; see the module documentation.
pub(crate) struct Logs {
    lines: Vec<LogLine>,
    untold: u64,
    /// Texts that no line may show.
    secrets: Vec<String>,
}

impl Logs {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { lines: Vec::new(), untold: 0, secrets: plan.secrets() }
    }

    /// Adds the line `text`, logged at `at` by a session counted under `key`.
    pub(crate) fn add(&mut self, key: Key, at: Nanos, text: &str) {
        if self.lines.len() >= LINES_MAX {
            self.untold += 1;
            return;
        }
        // Secrets are removed before truncation, because a part of a secret is a secret too.
        let mut text = text.to_owned();
        for secret in self.secrets.iter().filter(|secret| !secret.is_empty()) {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), REDACTED);
            }
        }
        text.truncate(text.floor_char_boundary(LINE_BYTES_MAX));
        // A line stays one line, whatever a response contains.
        let text = text.replace(|buffer: char| buffer.is_control(), " ");
        self.lines.push(LogLine { key, at, text });
    }

    /// Returns the lines since the last call, and the number of further lines.
    pub(crate) fn take(&mut self) -> (Vec<LogLine>, u64) {
        (std::mem::take(&mut self.lines), std::mem::take(&mut self.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(secrets: &[&str], text: &str, expected: &str) {
        let secrets = secrets.iter().map(|&secret| secret.to_owned()).collect();
        let mut logs = Logs { lines: Vec::new(), untold: 0, secrets };
        logs.add(Key::default(), Nanos::ZERO, text);
        assert_eq!(logs.take().0[0].text, expected);
    }

    #[test]
    fn a_line_is_one_line_without_secrets_and_of_bounded_length() {
        check(&[], "as it is: ü", "as it is: ü");
        check(&["tops3cret", "s3c"], "a=tops3cret, b=s3c", "a=***, b=***");
        check(&[""], "a\r\nb\u{1b}[31m", "a  b [31m");
        let long = format!("{}ü", "x".repeat(LINE_BYTES_MAX - 1));
        check(&[], &long, &long[..LINE_BYTES_MAX - 1]);
        // A secret at the truncation limit was removed before.
        let hidden = format!("{}secret", "x".repeat(LINE_BYTES_MAX - 4));
        check(&["secret"], &hidden, &format!("{}***", "x".repeat(LINE_BYTES_MAX - 4)));
    }

    #[test]
    fn kept_lines_are_limited_to_those_read() {
        let mut logs = Logs { lines: Vec::new(), untold: 0, secrets: Vec::new() };
        (0..LINES_MAX + 7).for_each(|_| logs.add(Key::default(), Nanos::ZERO, "again"));
        let (lines, untold) = logs.take();
        assert_eq!((lines.len(), untold), (LINES_MAX, 7));
        assert_eq!((logs.take().0.len(), logs.take().1), (0, 0));
    }
}
