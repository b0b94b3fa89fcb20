//! [`Logs`]: lines that journeys log, until the next seal takes them.

use wavetank_plan::redact::REDACTED;
use wavetank_plan::{Key, Nanos, Plan};

use crate::messages::LogLine;

/// Lines of one load thread in one interval at most; further ones are only counted.
const LINES_MAX: usize = 100;
/// Bytes of a line at most.
const LINE_BYTES_MAX: usize = 1_000;

/// See the module's description.
pub(crate) struct Logs {
    lines: Vec<LogLine>,
    untold: u64,
    /// What no line may show.
    secrets: Vec<String>,
}

impl Logs {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { lines: Vec::new(), untold: 0, secrets: plan.secrets() }
    }

    /// A session counted under `key` said `text` at `at`.
    pub(crate) fn add(&mut self, key: Key, at: Nanos, text: &str) {
        if self.lines.len() >= LINES_MAX {
            self.untold += 1;
            return;
        }
        // Before it is cut off: a part of a secret is one, too.
        let mut text = text.to_owned();
        for secret in self.secrets.iter().filter(|secret| !secret.is_empty()) {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), REDACTED);
            }
        }
        text.truncate(text.floor_char_boundary(LINE_BYTES_MAX));
        // One line is one line, whatever an answer had in it.
        let text = text.replace(|letter: char| letter.is_control(), " ");
        self.lines.push(LogLine { key, at, text });
    }

    /// The lines since the last call, and how many there were beyond them.
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
        // What is cut off in its middle was taken out before.
        let hidden = format!("{}secret", "x".repeat(LINE_BYTES_MAX - 4));
        check(&["secret"], &hidden, &format!("{}***", "x".repeat(LINE_BYTES_MAX - 4)));
    }

    #[test]
    fn no_more_lines_are_kept_than_anybody_reads() {
        let mut logs = Logs { lines: Vec::new(), untold: 0, secrets: Vec::new() };
        (0..LINES_MAX + 7).for_each(|_| logs.add(Key::default(), Nanos::ZERO, "again"));
        let (lines, untold) = logs.take();
        assert_eq!((lines.len(), untold), (LINES_MAX, 7));
        assert_eq!((logs.take().0.len(), logs.take().1), (0, 0));
    }
}
