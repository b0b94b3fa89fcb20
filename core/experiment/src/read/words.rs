//! Names, words of a closed set, and the words of other tools.

use wavetank_plan::did_you_mean;

use super::Reader;
use crate::{At, Node};

/// Letters, digits, `_`, `-`, `.`: what may stand after `in`, between parentheses and in a file's name.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
}

/// What other tools and everyday speech call our keys.
const SYNONYMS: [(&str, &str); 36] = [
    ("duration", "for"),
    ("length", "for"),
    ("url", "get: or target:"),
    ("uri", "get:"),
    ("path", "get:"),
    ("base_url", "target"),
    ("baseUrl", "target"),
    ("host", "target"),
    ("vus", "users"),
    ("concurrency", "users"),
    ("clients", "users"),
    ("threads", "users"),
    ("connections", "hold (kept connections) or users"),
    ("arrivalRate", "rate"),
    ("arrival_rate", "rate"),
    ("rps", "rate: 500 requests/s"),
    ("qps", "rate: 500 requests/s"),
    ("stages", "phases"),
    ("load", "phases"),
    ("sleep", "think"),
    ("delay", "think"),
    ("loop", "repeat"),
    ("foreach", "each"),
    ("assert", "check"),
    ("asserts", "check"),
    ("checks", "check"),
    ("capture", "extract"),
    ("save", "extract"),
    ("params", "query"),
    ("payload", "body or json"),
    ("cookie_jar", "cookies"),
    ("setup", "before"),
    ("teardown", "after"),
    ("variables", "vars"),
    ("iterations", "sessions"),
    ("ramp_up", "users: 0 to 300, at: 5/s"),
];

/// What an unknown key was probably meant to be.
pub(crate) fn meant<'k>(word: &str, mut known: impl Iterator<Item = &'k str> + Clone) -> Option<String> {
    if let Some(near) = did_you_mean(word, known.clone()) {
        return Some(format!("did you mean {near}?"));
    }
    let synonym = SYNONYMS.iter().find(|(other, _)| other.eq_ignore_ascii_case(word)).map(|(_, own)| *own)?;
    let first = synonym.split([':', ' ']).next().unwrap_or(synonym);
    known.any(|key| key == first).then(|| format!("here it is called {synonym}"))
}

impl Reader<'_> {
    /// One of a closed set of words.
    pub(crate) fn one_of<T: Copy>(&mut self, node: &Node, what: &str, words: &[(&str, T)]) -> Option<T> {
        let word = self.text(node, what)?;
        if let Some((_, value)) = words.iter().find(|(known, _)| *known == word.value) {
            return Some(*value);
        }
        let known = || words.iter().map(|(known, _)| *known);
        let hint = match did_you_mean(&word.value, known()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("one of: {}", known().collect::<Vec<_>>().join(", ")),
        };
        self.fail("word_unknown", word.place, format!("`{}` is no {what}", word.value), hint)
    }

    /// `true` or `false`.
    pub(crate) fn bool(&mut self, node: &Node) -> Option<bool> {
        let word = self.text(node, "true or false")?;
        let hint = match word.value.to_ascii_lowercase().as_str() {
            "true" if word.value == "true" => return Some(true),
            "false" if word.value == "false" => return Some(false),
            "true" | "yes" | "on" | "y" | "1" => "true?",
            "false" | "no" | "off" | "n" | "0" => "false?",
            _ => "true or false",
        };
        self.fail("not_a_bool", word.place, format!("`{}` is neither true nor false", word.value), hint)
    }

    /// One word, as names of phases, scenarios and targets are.
    pub(crate) fn name(&mut self, node: &Node, what: &str) -> Option<At<String>> {
        let name = self.text(node, what)?;
        if is_word(&name.value) {
            return Some(name);
        }
        let message = format!("`{}` is no name: one word of letters, digits, _, - and .", name.value);
        let joined: String = name
            .value
            .chars()
            .map(|c| if c.is_alphanumeric() || "_-.".contains(c) { c } else { '-' })
            .collect();
        self.fail("bad_name", name.place, message, format!("{}?", joined.trim_matches('-')))
    }

    /// A key that is a name of the user's choosing.
    pub(crate) fn own_name(&mut self, entry: &crate::Entry, what: &str) -> Option<At<String>> {
        if is_word(&entry.key) {
            return Some(At::new(entry.key.clone(), entry.place));
        }
        let message =
            format!("`{}` is no name of {what}: one word of letters, digits, _, - and .", entry.key);
        self.fail("bad_name", entry.place, message, "for example: buy, log-in, step_2")
    }
}
