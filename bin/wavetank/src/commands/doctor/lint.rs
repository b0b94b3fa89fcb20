//! `wavetank doctor --lint FILE…`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wavetank_tuning::nginx::IncludedFile;
use wavetank_tuning::{FileKind, Finding, KernelVersion, LintContext, LintFile, Severity, lint_files};
use wavetank_units::{Code, ExitCode, UserError, sanitize};

use crate::cli::FileFormat;
use crate::commands::bounded_file::read_bounded;
use crate::output;

/// What to judge.
pub(super) struct LintRequest<'a> {
    pub(super) files: &'a [PathBuf],
    pub(super) kind: Option<FileKind>,
    pub(super) kernel: Option<KernelVersion>,
    pub(super) all: bool,
    pub(super) format: FileFormat,
    pub(super) root: &'a Path,
}

/// Judges the files. Exit 0 without a warning, else 1.
pub(super) fn lint(request: &LintRequest<'_>) -> Result<u8, UserError> {
    let files = read_files(request)?;
    let context = context(request);
    let findings = lint_files(&files, &context, &|file, pattern| included(file, pattern));
    let text = match request.format {
        FileFormat::Text => text(&findings, request.all),
        FileFormat::Json => {
            let names: Vec<Value> =
                files.iter().map(|file| json!({ "file": file.name, "kind": file.kind.name() })).collect();
            let document = json!({
                "schema": "wavetank.doctor_lint/1",
                "ok": !has_warnings(&findings),
                "files": names,
                "findings": findings.iter().map(finding_json).collect::<Vec<_>>(),
            });
            format!("{document}\n")
        }
    };
    output::print(&text)?;
    Ok(if has_warnings(&findings) { ExitCode::Fail } else { ExitCode::Pass } as u8)
}

/// Whether any finding is more than a note.
pub(super) fn has_warnings(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.verdict.severity() != Severity::Note)
}

/// Reads all files. All that cannot be read or are of no known kind are reported together.
fn read_files(request: &LintRequest<'_>) -> Result<Vec<LintFile>, UserError> {
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for path in request.files {
        match read_file(path, request.kind) {
            Ok(file) => files.push(file),
            Err(error) => errors.push(error),
        }
    }
    UserError::combine(errors).map_or(Ok(files), Err)
}

/// Reads one file.
pub(super) fn read_file(path: &Path, kind: Option<FileKind>) -> Result<LintFile, UserError> {
    let name = path.display().to_string();
    let bytes = read_bounded(path).map_err(|reason| {
        let message = format!("cannot read `{}`: {reason}", sanitize(&name));
        UserError::usage(Code::BadFile, message, "name a file that can be read")
    })?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let kind = kind.map_or_else(|| FileKind::detect(&name, &text), Ok)?;
    Ok(LintFile { name, text, kind })
}

#[cfg(target_os = "linux")]
fn context(request: &LintRequest<'_>) -> LintContext {
    use wavetank_settings::{kernel_keys, read_snapshot};
    // A file for another kernel is most likely for another host as well.
    if let Some(kernel) = request.kernel {
        return LintContext { kernel: Some(kernel), ..LintContext::default() };
    }
    let snapshot = read_snapshot(request.root);
    let host = wavetank_tuning::HostState { snapshot: &snapshot };
    LintContext { kernel_keys: kernel_keys(request.root), ..host.lint_context() }
}

#[cfg(not(target_os = "linux"))]
fn context(request: &LintRequest<'_>) -> LintContext {
    let _ = request.root;
    LintContext { kernel: request.kernel, ..LintContext::default() }
}

/// Returns the files that a pattern of nginx's `include` names: relative to the folder of the main
/// file. A pattern with `*` may name none.
pub(super) fn included(file: &str, pattern: &str) -> Vec<IncludedFile> {
    let folder = Path::new(file).parent().unwrap_or(Path::new("."));
    let path = folder.join(pattern);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let paths = match name.split_once('*') {
        None => vec![path],
        Some((start, end)) => {
            let inside = path.parent().map(std::fs::read_dir);
            let entries = inside.into_iter().flatten().flatten().flatten().map(|entry| entry.path());
            let matches = |path: &PathBuf| {
                let name =
                    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                name.len() + 1 > start.len() + end.len()
                    && name.starts_with(start)
                    && name.ends_with(end)
                    && path.is_file()
            };
            let mut paths: Vec<PathBuf> = entries.filter(matches).collect();
            paths.sort();
            paths
        }
    };
    let read = |path: PathBuf| {
        let text = read_bounded(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (path.display().to_string(), text)
    };
    paths.into_iter().map(read).collect()
}

/// Returns a line for each finding, with its hint below it, and a summary.
pub(super) fn text(findings: &[Finding], all: bool) -> String {
    let shown = findings.iter().filter(|finding| all || finding.verdict.severity() != Severity::Note);
    let mut text = String::new();
    for finding in shown {
        let setting = if finding.setting.is_empty() {
            String::new()
        } else {
            format!("{}: ", sanitize(&finding.setting))
        };
        let _ = writeln!(
            text,
            "{}:{}: {}: {setting}{}",
            sanitize(&finding.file),
            finding.line,
            finding.verdict.code(),
            sanitize(&finding.sentence)
        );
        if !finding.hint.is_empty() {
            let _ = writeln!(text, "    hint: {}", sanitize(&finding.hint));
        }
    }
    let count = |severity| findings.iter().filter(|own| own.verdict.severity() == severity).count();
    let (errors, warnings, notes) = (count(Severity::Error), count(Severity::Warning), count(Severity::Note));
    let more = if notes > 0 && !all { "; --all shows what is fine" } else { "" };
    let plural = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let _ = writeln!(
        text,
        "{}, {}, {}{more}",
        plural(errors, "error"),
        plural(warnings, "warning"),
        plural(notes, "note")
    );
    text
}

/// Returns one finding as JSON.
pub(super) fn finding_json(finding: &Finding) -> Value {
    json!({
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "setting": finding.setting,
        "code": finding.verdict.code(),
        "severity": finding.verdict.severity().name(),
        "sentence": finding.sentence,
        "hint": finding.hint,
        "source": finding.source,
    })
}
