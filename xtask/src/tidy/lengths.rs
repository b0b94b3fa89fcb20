//! Rules on length: files and functions that fit into a head.

use super::finding::Finding;
use super::source::Source;

/// Most lines of a file.
pub(crate) const FILE_LINES_MAX: usize = 400;
/// Most lines of a function, from `fn` to its closing brace.
pub(crate) const FUNCTION_LINES_MAX: usize = 70;

/// Files and functions over their limit.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    if source.lines > FILE_LINES_MAX {
        findings.push(Finding {
            rule: "file-length",
            subject: source.path.clone(),
            line: 0,
            size: Some(source.lines),
            message: format!("{} lines; at most {FILE_LINES_MAX}: one noun a file", source.lines),
        });
    }
    for function in source.functions.iter().filter(|function| function.length > FUNCTION_LINES_MAX) {
        findings.push(Finding {
            rule: "function-length",
            subject: format!("{}::{}", source.path, function.name),
            line: function.line,
            size: Some(function.length),
            message: format!("{} lines; at most {FUNCTION_LINES_MAX}", function.length),
        });
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(text: &str, expected: &[(&str, Option<usize>)]) {
        let source = Source::parse("io/x/src/y.rs", text).expect("is Rust");
        let found = check(&source);
        let found: Vec<_> = found.iter().map(|finding| (finding.rule, finding.size)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn files_end_at_their_limit() {
        check_text(&"//\n".repeat(FILE_LINES_MAX), &[]);
        check_text(&"//\n".repeat(FILE_LINES_MAX + 1), &[("file-length", Some(FILE_LINES_MAX + 1))]);
    }

    #[test]
    fn functions_end_at_their_limit() {
        let function = |lines: usize| format!("fn f() {{\n{}}}\n", "    g();\n".repeat(lines - 2));
        check_text(&function(FUNCTION_LINES_MAX), &[]);
        check_text(&function(FUNCTION_LINES_MAX + 1), &[("function-length", Some(FUNCTION_LINES_MAX + 1))]);
    }
}
