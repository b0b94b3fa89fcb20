//! What fuzzers call: any bytes are judged as files of every kind, without a panic and in bounds.

use crate::{FileKind, LintContext, LintFile, lint_files};

/// Judges `bytes` as a file of each kind, which includes itself.
pub fn fuzz_lint(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let lines = text.lines().count().max(1);
    for (name, kind) in FileKind::ALL {
        let file = LintFile { name: name.to_owned(), text: text.clone(), kind };
        let includes = |_: &str, pattern: &str| vec![(pattern.to_owned(), Ok(text.clone()))];
        let found = lint_files(&[file], &LintContext::default(), &includes);
        assert!(
            found.iter().all(|finding| (1..=lines + 1).contains(&finding.line)),
            "a line outside of the text"
        );
    }
    let _ = FileKind::detect("a", &text);
}
