//! [`Condition::scaled`]: the same claim about a smaller run (`--scale`).

use super::{Condition, Op, Value};

impl Condition {
    /// Returns the condition with its count or rate multiplied by `numerator / denominator`. The
    /// result is rounded up to whole requests and is at least one; zero stays zero. Times, shares,
    /// bytes and status codes do not change in a rehearsal.
    #[must_use]
    pub fn scaled(&self, numerator: u64, denominator: u64) -> Self {
        let factor = numerator as f64 / denominator.max(1) as f64;
        let shrink = |number: f64| if number > 0.0 { (number * factor).ceil().max(1.0) } else { number };
        let (value, text) = match self.value {
            Value::Count(count) => {
                let count = shrink(count);
                (Value::Count(count), format!("{count}"))
            }
            Value::PerSecond(rate) => {
                let rate = shrink(rate);
                (Value::PerSecond(rate), format!("{rate}/s"))
            }
            _ => return self.clone(),
        };
        Self { text: self.with_value(&text), value, ..self.clone() }
    }

    /// Returns the text of the condition with `value` as its value.
    fn with_value(&self, value: &str) -> String {
        let subject = self.subject_text();
        let phase = self.phase.as_ref().map(|phase| format!(" in {phase}")).unwrap_or_default();
        let window =
            self.window.map(|window| format!(" for {}s", window.0 / 1_000_000_000)).unwrap_or_default();
        format!("{subject} {} {value}{phase}{window}", self.op.as_str())
    }

    /// Returns the subject as written: the text before the comparison operator. Parentheses are
    /// skipped.
    fn subject_text(&self) -> &str {
        let mut depth = 0_u32;
        let end = self.text.find(|letter: char| {
            match letter {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && "=!<>".contains(letter)
        });
        self.text[..end.unwrap_or(self.text.len())].trim_end()
    }
}

impl Op {
    /// As written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        }
    }
}
