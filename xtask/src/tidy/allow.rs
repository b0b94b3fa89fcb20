//! [`AllowList`]: exceptions from the rules, each with its reason.

use anyhow::{Context, Result, bail};

use super::finding::Finding;

/// Path of the list.
pub(crate) const ALLOW_FILE: &str = "xtask/tidy-allow.txt";

/// Exceptions from the rules: lines `RULE SUBJECT LIMIT REASON…`. LIMIT is the size up to which a
/// rule with a limit is relaxed, and `-` for a rule without one. `#` starts a comment.
pub(crate) struct AllowList {
    entries: Vec<Entry>,
}

struct Entry {
    line: usize,
    rule: String,
    subject: String,
    limit: Option<usize>,
}

impl AllowList {
    /// Reads the list; an entry without a reason is an error.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut entries = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fields: Vec<&str> = line.splitn(4, char::is_whitespace).collect();
            let [rule, subject, limit, reason] = fields.as_slice() else {
                bail!("{ALLOW_FILE}:{line_number}: an entry is `RULE SUBJECT LIMIT REASON`");
            };
            if reason.trim().len() < 10 {
                bail!("{ALLOW_FILE}:{line_number}: a reason is missing");
            }
            let limit = match *limit {
                "-" => None,
                number => Some(
                    number
                        .parse()
                        .with_context(|| format!("{ALLOW_FILE}:{line_number}: limit `{number}`"))?,
                ),
            };
            let (rule, subject) = ((*rule).to_owned(), (*subject).to_owned());
            entries.push(Entry { line: line_number, rule, subject, limit });
        }
        Ok(Self { entries })
    }

    /// What remains of `findings`, and one more for each entry that excused nothing.
    pub(crate) fn apply(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let mut used = vec![false; self.entries.len()];
        let mut left = Vec::new();
        for finding in findings {
            let excuse = self.entries.iter().position(|entry| entry.excuses(&finding));
            match excuse {
                Some(index) => used[index] = true,
                None => left.push(finding),
            }
        }
        for (entry, _) in self.entries.iter().zip(&used).filter(|(_, used)| !**used) {
            let message = format!("`{} {}` excuses nothing (any more): remove it", entry.rule, entry.subject);
            left.push(Finding::at("unused-allowance", ALLOW_FILE, entry.line, message));
        }
        left
    }
}

impl Entry {
    fn excuses(&self, finding: &Finding) -> bool {
        let within = match (finding.size, self.limit) {
            (Some(size), Some(limit)) => size <= limit,
            (None, None) => true,
            _ => false,
        };
        within && finding.rule == self.rule && finding.subject == self.subject
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(size: usize) -> Finding {
        Finding { size: Some(size), ..Finding::at("file-length", "io/a.rs", 0, "too long") }
    }

    fn check(list: &str, findings: Vec<Finding>, expected: &[&str]) {
        let left = AllowList::parse(list).expect("is a list").apply(findings);
        let rules: Vec<_> = left.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, expected, "{list}");
    }

    #[test]
    fn an_entry_excuses_up_to_its_limit() {
        let list = "# comment\n\nfile-length io/a.rs 450 a table that reads best whole\n";
        check(list, vec![long(450)], &[]);
        check(list, vec![long(451)], &["file-length", "unused-allowance"]);
    }

    #[test]
    fn an_entry_without_limit_excuses_a_rule_without_size() {
        let clock = || Finding::at("clock", "xtask/src/a.rs", 3, "reads the clock");
        check("clock xtask/src/a.rs - it times its own steps", vec![clock(), clock()], &[]);
        check("clock xtask/src/b.rs - it times its own steps", vec![clock()], &["clock", "unused-allowance"]);
    }

    #[test]
    fn an_unused_entry_is_a_finding() {
        check("file-length io/a.rs 450 a table that reads best whole", vec![], &["unused-allowance"]);
    }

    #[test]
    fn an_entry_has_a_reason() {
        for list in
            ["file-length io/a.rs 450", "file-length io/a.rs 450 so", "file-length io/a.rs many for reasons"]
        {
            assert!(AllowList::parse(list).is_err(), "{list}");
        }
    }
}
