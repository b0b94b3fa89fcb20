//! [`explain_command`]: the command that explains the codes of a report.

use std::collections::BTreeMap;

use wavetank_record::RunRecord;

/// Most names in one command; a longer command is unreadable.
const NAMES_MAX: usize = 8;

/// Returns the command that explains these codes, classes or reasons, each once and in their order.
/// `None` without any.
pub(crate) fn explain_command<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut reported: Vec<&str> = Vec::new();
    for name in names {
        if !reported.contains(&name) && reported.len() < NAMES_MAX {
            reported.push(name);
        }
    }
    (!reported.is_empty()).then(|| format!("wavetank explain {}", reported.join(" ")))
}

/// The same for all findings.
pub(crate) fn more_about_findings(record: &RunRecord) -> Option<String> {
    explain_command(record.findings.iter().map(|finding| finding.code.as_str()))
}

/// The same for the classes of failed requests, the reasons of dropped ones, and the classes of
/// failed and lost connections.
pub(crate) fn more_about_errors(record: &RunRecord) -> Option<String> {
    let occurred = |counts: &'_ BTreeMap<String, u64>| {
        let mut counts: Vec<_> =
            counts.iter().filter(|&(_, &n)| n > 0).map(|(name, &n)| (name.clone(), n)).collect();
        counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        counts.into_iter().map(|(name, _)| name)
    };
    let all: Vec<String> =
        [&record.errors, &record.dropped_by, &record.connections_failed_by, &record.connections_lost_by]
            .into_iter()
            .flat_map(occurred)
            .collect();
    explain_command(all.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_appears_once() {
        let check = |names: &[&str], reported: Option<&str>| {
            assert_eq!(explain_command(names.iter().copied()).as_deref(), reported);
        };
        check(&[], None);
        check(&["late", "no_files", "late"], Some("wavetank explain late no_files"));
        check(&["a", "b", "c", "d", "e", "f", "g", "h", "i"], Some("wavetank explain a b c d e f g h"));
    }

    #[test]
    fn what_failed_most_comes_first() {
        let counts = |all: &[(&str, u64)]| all.iter().map(|&(name, n)| (name.to_owned(), n)).collect();
        let (errors, dropped_by) =
            (counts(&[("check", 2), ("reset", 9), ("tls", 0)]), counts(&[("behind", 1)]));
        let record = RunRecord { errors, dropped_by, ..RunRecord::default() };
        assert_eq!(more_about_errors(&record).as_deref(), Some("wavetank explain reset check behind"));
        assert_eq!(more_about_errors(&RunRecord::default()), None);
    }
}
