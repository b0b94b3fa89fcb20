//! [`Condition::scaled`]: the same claim about a smaller run (`--scale`).

use super::{Condition, Op, Value};

impl Condition {
    /// The condition with its count or rate multiplied by `numerator / denominator`, rounded up to whole
    /// requests and never below one; none at all stays none. Times, shares, bytes and status codes are the
    /// same in a rehearsal.
    #[must_use]
    pub fn scaled(&self, numerator: u64, denominator: u64) -> Self {
        let factor = numerator as f64 / denominator.max(1) as f64;
        let shrink = |number: f64| if number > 0.0 { (number * factor).ceil().max(1.0) } else { number };
        let (value, words) = match self.value {
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
        Self { text: self.with_value(&words), value, ..self.clone() }
    }

    /// The text with other words for the value.
    fn with_value(&self, words: &str) -> String {
        let subject = self.subject_text();
        let phase = self.phase.as_ref().map(|phase| format!(" in {phase}")).unwrap_or_default();
        let window =
            self.window.map(|window| format!(" for {}s", window.0 / 1_000_000_000)).unwrap_or_default();
        format!("{subject} {} {words}{phase}{window}", self.op.as_str())
    }

    /// The subject as written: what stands before the comparison, outside parentheses.
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
