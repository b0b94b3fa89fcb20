//! [`deliver`]: the result on stdout and in files.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use wavetank_plan::UserError;
use wavetank_record::RunRecord;

use crate::cli::{OutFile, OutputFormat};

/// Code of the error that there is a result but no place for it.
const UNWRITTEN: &str = "result_unwritten";

/// An `--out` file, found to be writable.
pub(crate) struct OpenFile {
    file: File,
    path: PathBuf,
    format: OutputFormat,
}

/// Every `--out` file can be written, found out before anything is sent. The files are opened here and
/// stay untouched until there is a result.
pub(crate) fn open_all(out: &[OutFile]) -> Result<Vec<OpenFile>, UserError> {
    out.iter()
        .map(|out| {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&out.path);
            file.map(|file| OpenFile { file, path: out.path.clone(), format: out.format }).map_err(|error| {
                UserError::usage(
                    "out_unwritable",
                    format!("cannot write `--out {}`: {}", out.path.display(), said(&error)),
                    "name a file in a folder that exists and can be written",
                )
            })
        })
        .collect()
}

/// Render `record` in `format`.
pub(crate) fn render(record: &RunRecord, format: OutputFormat) -> String {
    match format {
        OutputFormat::Text => wavetank_report::text(record),
        OutputFormat::Json => wavetank_report::json(record),
        OutputFormat::Junit => wavetank_report::junit(record),
    }
}

/// What ended before there was a result, in `format`.
pub(crate) fn render_error(error: &UserError, format: OutputFormat) -> String {
    match format {
        OutputFormat::Text => format!("{error}\n"),
        OutputFormat::Json => wavetank_report::error_json(error),
        OutputFormat::Junit => wavetank_report::error_junit(error),
    }
}

/// Put the error where the result was wanted: whoever reads those files must not find an earlier run's. Files
/// that cannot be written are what the error is about, or not worth a second one.
pub(crate) fn deliver_error(error: &UserError, out: &[OutFile]) {
    // Then the others hold the result.
    if error.code == UNWRITTEN {
        return;
    }
    for OutFile { path, format } in out {
        let _ = std::fs::write(path, render_error(error, *format));
    }
}

/// Write the result to every file and to stdout. Fails on the first that could not be written, after
/// having tried all.
pub(crate) fn deliver(
    record: &RunRecord,
    format: OutputFormat,
    files: Vec<OpenFile>,
) -> Result<(), UserError> {
    let mut unwritten = Vec::new();
    for OpenFile { mut file, path, format } in files {
        let text = render(record, format);
        let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
        if let Err(error) = written {
            unwritten.push(format!("`{}`: {}", path.display(), said(&error)));
        }
    }
    if let Err(error) = to_stdout(&render(record, format)) {
        unwritten.push(format!("stdout: {}", said(&error)));
    }
    if unwritten.is_empty() { Ok(()) } else { Err(result_unwritten(&unwritten.join(", "))) }
}

/// The system's words without the number.
pub(crate) fn said(error: &std::io::Error) -> String {
    let said = error.to_string();
    said.split(" (os error").next().unwrap_or(&said).to_owned()
}

fn result_unwritten(what: &str) -> UserError {
    UserError::usage(
        UNWRITTEN,
        format!("cannot write the result to {what}"),
        "free some space there; a run with an archive can be printed again: wavetank report RUN",
    )
}

/// Write to stdout what is no run's result.
pub(crate) fn print(text: &str) -> Result<(), UserError> {
    to_stdout(text).map_err(|error| {
        let message = format!("cannot write to stdout: {}", said(&error));
        UserError::usage("stdout_unwritable", message, "free some space there, or send it elsewhere")
    })
}

/// That nobody reads it to the end is the reader's choice, and no failure.
fn to_stdout(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}
