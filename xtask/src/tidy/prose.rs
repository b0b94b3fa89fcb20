//! Rules on language: terms of the project's former dialect, and the width of comments.
//!
//! A term that is only dialect is a breach. A term that also has a plain use is counted over the whole tree, and the
//! count may only fall: `xtask/prose-counts.txt` records it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use super::comments::{Kind, passages};
use super::finding::Finding;
use super::source::is_rust;

/// Records how often each counted term may still appear.
pub(crate) const COUNTS_FILE: &str = "xtask/prose-counts.txt";
/// Most columns of a line with a comment.
const COMMENT_COLUMNS_MAX: usize = 100;

/// Terms that are errors, each with what to write instead.
const BANNED: [(&str, &str); 19] = [
    ("told", "reported, printed, shown, listed"),
    ("telling", "reporting, showing"),
    ("stands", "is, appears, is stored in"),
    ("beside", "next to, along with, in parallel"),
    ("nobody", "no process, no user, none"),
    ("somebody", "a user, a client, a process"),
    ("whoever", "any client, the process that"),
    ("anybody", "any user, any process"),
    ("whose", "name the owner in a phrase with `of` or `with`"),
    ("comes to", "amounts to, results in"),
    ("came of", "resulted from"),
    ("reckon", "compute, estimate, count"),
    ("reckons", "computes, estimates, counts"),
    ("reckoned", "computed, estimated, counted"),
    ("so many", "this many, a number of"),
    ("under way", "in progress, open, in flight"),
    ("anew", "again"),
    ("be it", "whether"),
    ("as meant", "as intended, as planned"),
];

/// Terms that have a plain use as well; their number may only fall.
const COUNTED: [&str; 14] = [
    "tell", "tells", "words", "stand", "lies", "bear", "bears", "nor", "he", "his", "him", "at once",
    "for good", "so long",
];

/// How often each counted term appears, over all files seen so far.
#[derive(Debug, Default)]
pub(crate) struct Counts(BTreeMap<&'static str, usize>);

/// Whether the language of a tracked file is checked. Stored records of earlier runs, sentences that such records
/// contain, inputs of fuzzers and licences keep the text they have.
pub(crate) fn concerns(path: &str) -> bool {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
    let prose = matches!(extension, Some("rs" | "md" | "txt" | "yaml" | "toml" | "sh"));
    let kept = ["/golden/", "/corpus/"].iter().any(|folder| path.contains(folder))
        || path.starts_with("fuzz/")
        || path.ends_with("_earlier.txt");
    let own = path == COUNTS_FILE || path == "xtask/src/tidy/prose.rs";
    prose && !kept && !own
}

/// Checks one file and adds its counted terms to `counts`.
pub(crate) fn check(path: &str, text: &str, counts: &mut Counts) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !is_rust(path) {
        for (index, line) in text.lines().enumerate() {
            check_line(path, index + 1, line, counts, &mut findings);
        }
        return findings;
    }
    for passage in passages(text) {
        // A string without a space is a key, a path or an option, which other programs read.
        if passage.kind == Kind::Text && !passage.text.contains(' ') {
            continue;
        }
        for (offset, line) in passage.text.lines().enumerate() {
            check_line(path, passage.line + offset, line, counts, &mut findings);
        }
        let source_line = text.lines().nth(passage.line - 1).unwrap_or_default();
        let columns = source_line.chars().count();
        // A single long token, such as a URL, cannot be wrapped.
        let breakable = passage.text.split_whitespace().count() > 2;
        if passage.kind == Kind::Comment && columns > COMMENT_COLUMNS_MAX && breakable {
            let message = format!("{columns} columns; at most {COMMENT_COLUMNS_MAX}");
            findings.push(Finding::at("comment-width", path, passage.line, message));
        }
    }
    findings
}

fn check_line(path: &str, number: usize, line: &str, counts: &mut Counts, findings: &mut Vec<Finding>) {
    let line = without_code(line).to_lowercase();
    for (term, instead) in BANNED {
        if count(&line, term) > 0 {
            let message = format!("`{term}` is not plain English here: write {instead}");
            findings.push(Finding::at("prose", path, number, message));
        }
    }
    for term in COUNTED {
        *counts.0.entry(term).or_default() += count(&line, term);
    }
}

/// The line with code cut out: passages in back-quotes, and placeholders `{name:format}`.
fn without_code(line: &str) -> String {
    let line = without_placeholders(line);
    let parts: Vec<&str> = line.split('`').collect();
    // An unclosed back-quote quotes nothing.
    let closed = if parts.len() % 2 == 1 { parts.len() } else { parts.len() - 1 };
    parts.iter().enumerate().filter(|(at, _)| at % 2 == 0 || *at >= closed).map(|(_, part)| *part).collect()
}

fn without_placeholders(line: &str) -> String {
    let mut parts = line.split('{');
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.find('}').filter(|end| !part[..*end].contains(' '));
        kept.push_str(name.map_or(part, |end| &part[end..]));
    }
    kept
}

/// Counts how often `term` appears in `line` between word boundaries; `line` is lower case.
fn count(line: &str, term: &str) -> usize {
    let is_bound = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let found = line.match_indices(term);
    found
        .filter(|(at, _)| {
            is_bound(line[..*at].chars().next_back()) && is_bound(line[at + term.len()..].chars().next())
        })
        .count()
}

/// Folders that are not rewritten yet may have as many breaches as the record says, and no other number. Returns
/// what remains of `findings`, and a breach for each folder with another number.
pub(crate) fn check_remaining(findings: Vec<Finding>, recorded: &str) -> Result<Vec<Finding>> {
    let recorded = parse_counts(recorded)?;
    let mut left = Vec::new();
    let mut by_folder: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
    for finding in findings {
        by_folder.entry(folder(&finding.subject)).or_default().push(finding);
    }
    for (folder, before) in recorded.iter().filter(|(name, _)| name.contains('/')) {
        let found = by_folder.remove(*folder).unwrap_or_default();
        if found.len() > *before {
            left.extend(found);
        } else if found.len() < *before {
            let message =
                format!("`{folder}` has {} breaches, {before} are recorded: lower the record", found.len());
            left.push(Finding::at("prose-count", COUNTS_FILE, 0, message));
        }
    }
    left.extend(by_folder.into_values().flatten());
    Ok(left)
}

/// The first two parts of a path: `core/pace` of `core/pace/src/lib.rs`.
fn folder(path: &str) -> String {
    path.split('/').take(2).collect::<Vec<_>>().join("/")
}

/// Compares the counts of the whole tree with the recorded ones: both more and fewer are a breach, so that the
/// record follows every improvement.
pub(crate) fn check_counts(counts: &Counts, recorded: &str) -> Result<Vec<Finding>> {
    let recorded = parse_counts(recorded)?;
    let mut findings = Vec::new();
    for term in COUNTED {
        let now = counts.0.get(term).copied().unwrap_or_default();
        let before = recorded.get(term).copied().unwrap_or_default();
        let message = match now.cmp(&before) {
            std::cmp::Ordering::Equal => continue,
            std::cmp::Ordering::Greater => {
                format!("`{term}` appears {now} times, {before} are recorded: write it in other terms")
            }
            std::cmp::Ordering::Less => {
                format!("`{term}` appears {now} times, {before} are recorded: lower the record")
            }
        };
        findings.push(Finding::at("prose-count", COUNTS_FILE, 0, message));
    }
    Ok(findings)
}

/// Reads lines `NUMBER TERM` and `NUMBER FOLDER`; `#` starts a comment.
pub(crate) fn parse_counts(text: &str) -> Result<BTreeMap<&str, usize>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (number, term) = line.split_once(' ').with_context(|| format!("{COUNTS_FILE}: `{line}`"))?;
            Ok((term.trim(), number.parse().with_context(|| format!("{COUNTS_FILE}: `{line}`"))?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(path: &str, text: &str, expected: &[(&str, usize)]) {
        let found = check(path, text, &mut Counts::default());
        let found: Vec<_> = found.iter().map(|finding| (finding.rule, finding.line)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn banned_terms_are_found_in_comments_strings_and_documents() {
        check_text(
            "a/b.rs",
            "// It is told.\nfn told() {}\nlet x = \"of nobody\";\n",
            &[("prose", 1), ("prose", 3)],
        );
        check_text("docs/a.md", "Fine.\nRuns stored Beside others.\n", &[("prose", 2)]);
        check_text("docs/a.md", "A file named `told.rs`; retold and untold.\n", &[]);
        check_text("a/b.rs", "f(\"a {told:?} b\", \"stands\");", &[]);
        check_text("a/b.rs", "let x = \"is nobody\";", &[("prose", 1)]);
        check_text("a/b.rs", "const A: &str = \"one\ntwo under way\";", &[("prose", 2)]);
    }

    #[test]
    fn long_comments_are_found_and_long_code_is_not() {
        let comment = format!("// {}\n", "word ".repeat(20));
        check_text("a/b.rs", &comment, &[("comment-width", 1)]);
        check_text("a/b.rs", &format!("// {}\n", "x".repeat(120)), &[]);
        check_text("a/b.rs", &format!("let a = \"{}\";\n", "word ".repeat(20)), &[]);
    }

    #[test]
    fn counts_may_only_fall_and_the_record_follows() {
        let mut counts = Counts::default();
        check("docs/a.md", "They tell, tell and tell.\n", &mut counts);
        let breaches = |recorded: &str| check_counts(&counts, recorded).expect("is a record").len();
        assert_eq!(breaches("# terms\n3 tell\n"), 0);
        assert_eq!(breaches("2 tell\n"), 1);
        assert_eq!(breaches("4 tell\n"), 1);
        assert!(check_counts(&counts, "many tell\n").is_err());
    }

    #[test]
    fn a_folder_not_rewritten_yet_may_have_its_recorded_breaches_and_no_more() {
        let breaches = || check("io/x/src/a.rs", "// told\n// nobody\n", &mut Counts::default());
        let left = |recorded: &str| check_remaining(breaches(), recorded).expect("is a record").len();
        assert_eq!(left("2 io/x"), 0);
        assert_eq!(left("1 io/x"), 2);
        assert_eq!(left("3 io/x"), 1);
        assert_eq!(left("2 io/y"), 3);
    }

    #[test]
    fn stored_records_and_inputs_keep_their_text() {
        for (path, expected) in [
            ("core/pace/src/lib.rs", true),
            ("docs/lab.md", true),
            ("core/record/tests/golden/run.json", false),
            ("core/report/tests/golden/run.txt", false),
            ("fuzz/Cargo.toml", false),
            ("LICENSE-MIT", false),
        ] {
            assert_eq!(concerns(path), expected, "{path}");
        }
    }
}
