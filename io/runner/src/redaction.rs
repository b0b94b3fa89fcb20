//! [`Redaction`]: what targets say, without the secrets that they were sent.

use wavetank_plan::Plan;
use wavetank_plan::redact::REDACTED;

/// The end of a text that was cut off may be the beginning of a secret; shorter ones say nothing.
const PART_BYTES_MIN: usize = 4;

/// See the module's description. A response may contain what was sent, and samples quote responses.
pub(crate) struct Redaction {
    secrets: Vec<String>,
}

impl Redaction {
    /// Of what `plan` sends.
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut secrets = plan.secrets();
        secrets.retain(|secret| !secret.is_empty());
        // One may be part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// `text` with `***` in the place of every secret, and of a part of one at its end.
    pub(crate) fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), REDACTED);
            }
            let parts = secret.char_indices().map(|(end, _)| &secret[..end]).rev();
            let part =
                parts.take_while(|part| part.len() >= PART_BYTES_MIN).find(|part| text.ends_with(part));
            if let Some(part) = part {
                text.truncate(text.len() - part.len());
                text.push_str(REDACTED);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let secrets = ["hunter2-and-more", "hunter2", "ünicode"].map(str::to_owned).to_vec();
        assert_eq!(Redaction { secrets }.redact(text), expected);
    }

    #[test]
    fn secrets_and_their_beginnings_at_the_end() {
        check("nothing of it", "nothing of it");
        check("found hunter2!", "found ***!");
        check("hunter2-and-more, hunter2", "***, ***");
        check("found hunter2-and-m", "found ***");
        check("found hunt", "found ***");
        check("found hun", "found hun");
        check("found ünico", "found ***");
    }
}
