//! [`parse_haproxy`]: lines of sections (configuration manual, section 2).

use crate::{Finding, Judgement, Place, Verdict};

/// Names of sections.
const SECTIONS: [&str; 17] = [
    "global",
    "defaults",
    "frontend",
    "backend",
    "listen",
    "peers",
    "resolvers",
    "mailers",
    "userlist",
    "program",
    "http-errors",
    "cache",
    "ring",
    "log-forward",
    "fcgi-app",
    "crt-store",
    "traces",
];

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaproxyLine {
    /// Where it is.
    pub place: Place,
    /// `global`, `frontend`, …
    pub section: String,
    /// Number of the section, from 0, so that two sections of the same kind differ.
    pub section_number: usize,
    /// Its terms without quotes; at least one.
    pub terms: Vec<String>,
}

impl HaproxyLine {
    /// Returns term `index`, or an empty text.
    pub fn term(&self, index: usize) -> &str {
        self.terms.get(index).map_or("", String::as_str)
    }

    /// Returns the term after `name`.
    pub fn after(&self, name: &str) -> Option<&str> {
        let at = self.terms.iter().position(|term| term == name)?;
        self.terms.get(at + 1).map(String::as_str)
    }
}

/// Returns whether `word` opens a section.
pub(crate) fn is_section(word: &str) -> bool {
    SECTIONS.contains(&word)
}

/// Reads the text of `file`. Lines outside of sections and open quotes are findings.
pub fn parse_haproxy(file: &str, text: &str) -> (Vec<HaproxyLine>, Vec<Finding>) {
    let (mut lines, mut findings) = (Vec::new(), Vec::new());
    let (mut section, mut section_number) = (String::new(), 0);
    for (index, raw) in text.lines().enumerate() {
        let start = raw.len() - raw.trim_start().len();
        let place = Place { file: file.to_owned(), line: index + 1, column: start + 1 };
        let terms = match split(raw) {
            Ok(terms) if terms.is_empty() => continue,
            Ok(terms) => terms,
            Err(quote) => {
                let sentence = format!("the quote {quote} is never closed");
                findings
                    .push(Judgement::new(Verdict::Syntax, sentence, "run haproxy -c -f FILE").at(&place, ""));
                continue;
            }
        };
        if is_section(&terms[0]) && (start == 0 || section.is_empty() || terms.len() <= 2) {
            section.clone_from(&terms[0]);
            section_number += 1;
        } else if terms[0].starts_with('.') {
            // `.if`, `.else` and `.endif` select lines; all of them are judged.
            continue;
        } else if section.is_empty() {
            let sentence = format!("`{}` is outside of any section", terms[0]);
            let judged = Judgement::new(
                Verdict::Syntax,
                sentence,
                "write global, defaults, frontend or backend above it",
            );
            findings.push(judged.at(&place, &terms[0]));
            continue;
        }
        lines.push(HaproxyLine { place, section: section.clone(), section_number, terms });
    }
    (lines, findings)
}

/// Splits a line into terms. A `#` starts a comment; quotes and backslashes join.
fn split(line: &str) -> Result<Vec<String>, char> {
    let (mut terms, mut term, mut is_open) = (Vec::new(), String::new(), false);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '#' => break,
            '\\' => {
                term.extend(letters.next());
                is_open = true;
            }
            '"' | '\'' => {
                is_open = true;
                loop {
                    match letters.next() {
                        None => return Err(letter),
                        Some(end) if end == letter => break,
                        Some('\\') if letter == '"' => term.extend(letters.next()),
                        Some(inner) => term.push(inner),
                    }
                }
            }
            blank if blank.is_whitespace() => {
                if std::mem::take(&mut is_open) {
                    terms.push(std::mem::take(&mut term));
                }
            }
            other => {
                term.push(other);
                is_open = true;
            }
        }
    }
    terms.extend(is_open.then_some(term));
    Ok(terms)
}
