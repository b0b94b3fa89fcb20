//! [`parse_sysctl`]: the lines of a file of sysctl (sysctl.conf(5), sysctl.d(5)).

use crate::{Finding, Judgement, Place, Verdict};

/// One assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysctlLine {
    /// Where it is; the column is that of the value.
    pub place: Place,
    /// The key with dots.
    pub key: String,
    /// The value, with single blanks between its parts.
    pub value: String,
    /// Whether the line starts with `-`: an error of it is ignored.
    pub ignores_errors: bool,
}

/// Reads the text of `file`. Lines that are no assignment are findings.
pub fn parse_sysctl(file: &str, text: &str) -> (Vec<SysctlLine>, Vec<Finding>) {
    let (mut lines, mut findings) = (Vec::new(), Vec::new());
    for (index, raw) in text.lines().enumerate() {
        let trimmed = raw.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        let start = raw.len() - raw.trim_start().len();
        let place = Place { file: file.to_owned(), line: index + 1, column: start + 1 };
        let (ignores_errors, rest) = match trimmed.strip_prefix('-') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, trimmed),
        };
        let Some((key, value)) = rest.split_once('=') else {
            // systemd excludes a key from a pattern by `-KEY`.
            if !ignores_errors {
                let sentence = format!("`{trimmed}` is no assignment, so sysctl skips it");
                let judged = Judgement::new(Verdict::Syntax, sentence, "write KEY = VALUE, one per line");
                findings.push(judged.at(&place, trimmed));
            }
            continue;
        };
        let key = dotted(key.trim());
        if key.is_empty() || key.contains(char::is_whitespace) {
            let sentence = format!("`{key}` is not the name of a setting: a name has no blanks");
            let hint = format!("write {}", key.replace(char::is_whitespace, "_"));
            let hint = if key.is_empty() { "write KEY = VALUE".to_owned() } else { hint };
            findings.push(Judgement::new(Verdict::Misspelt, sentence, hint).at(&place, &key));
            continue;
        }
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.push(SysctlLine { place, key, value, ignores_errors });
    }
    (lines, findings)
}

/// Returns the key with dots between its parts. In a key with slashes, dots belong to names of
/// interfaces.
fn dotted(key: &str) -> String {
    match (key.find('/'), key.find('.')) {
        (Some(slash), dot) if dot.is_none_or(|dot| slash < dot) => {
            key.trim_start_matches('/').chars().map(swapped).collect()
        }
        _ => key.to_owned(),
    }
}

const fn swapped(letter: char) -> char {
    match letter {
        '/' => '.',
        '.' => '/',
        letter => letter,
    }
}
