//! [`parse_unit`]: the lines of a unit (systemd.syntax(7)).

use crate::{Finding, Judgement, Place, Verdict};

/// One assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitLine {
    /// Where it is.
    pub place: Place,
    /// The section, without brackets.
    pub section: String,
    /// The key.
    pub key: String,
    /// The value, with continued lines joined by blanks.
    pub value: String,
}

/// Reads the text of `file`. Lines that are no assignment are findings.
pub fn parse_unit(file: &str, text: &str) -> (Vec<UnitLine>, Vec<Finding>) {
    let (mut lines, mut findings) = (Vec::<UnitLine>::new(), Vec::new());
    let (mut section, mut continues) = (String::new(), false);
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim();
        if line.starts_with(['#', ';']) || (line.is_empty() && !continues) {
            continue;
        }
        let place = Place { file: file.to_owned(), line: index + 1, column: 1 };
        let (own, ends_open) = line.strip_suffix('\\').map_or((line, false), |own| (own.trim_end(), true));
        if std::mem::replace(&mut continues, ends_open) {
            if let Some(last) = lines.last_mut() {
                format!("{} {own}", last.value).trim().clone_into(&mut last.value);
            }
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
            continue;
        }
        match own.split_once('=') {
            Some((key, value)) if !section.is_empty() => lines.push(UnitLine {
                place,
                section: section.clone(),
                key: key.trim().to_owned(),
                value: value.trim().to_owned(),
            }),
            Some(_) => {
                let sentence = "the assignment is before any section, so systemd ignores it";
                let judged = Judgement::new(Verdict::Syntax, sentence, "write [Service] above it");
                findings.push(judged.at(&place, own));
            }
            None => {
                continues = false;
                let sentence = format!("`{own}` is no assignment, so systemd ignores it");
                let judged = Judgement::new(Verdict::Syntax, sentence, "write KEY=VALUE");
                findings.push(judged.at(&place, own));
            }
        }
    }
    (lines, findings)
}
