//! Linting of short texts.

use wavetank_tuning::{FileKind, Finding, LintContext, LintFile, lint_files};

/// Lints one text without anything to include.
pub(crate) fn lint(kind: FileKind, text: &str, context: &LintContext) -> Vec<Finding> {
    let file = LintFile { name: "file".to_owned(), text: text.to_owned(), kind };
    lint_files(&[file], context, &|_, _| Vec::new())
}

/// Checks lines and codes of all findings that are no notes: `4 setting_harmful`.
#[track_caller]
pub(crate) fn check(kind: FileKind, text: &str, expected: &[&str]) {
    check_on(&LintContext::default(), kind, text, expected);
}

/// The same for a host.
#[track_caller]
pub(crate) fn check_on(context: &LintContext, kind: FileKind, text: &str, expected: &[&str]) {
    let found = lint(kind, text, context);
    let shown: Vec<String> = found
        .iter()
        .filter(|finding| finding.verdict.severity() != wavetank_tuning::Severity::Note)
        .map(|finding| format!("{} {}", finding.line, finding.verdict.code()))
        .collect();
    assert_eq!(shown, expected, "{found:#?}");
    for finding in found.iter().filter(|finding| !finding.hint.is_empty()) {
        assert!(!finding.sentence.is_empty() && !finding.sentence.ends_with('.'), "{finding:?}");
    }
}
