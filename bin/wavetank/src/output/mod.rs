//! Output: the result on stdout and in files ([`deliver`]), and progress on stderr ([`Console`]).

#[cfg(target_os = "linux")]
mod console;
mod gap_warning;
mod host_rows;
mod html_page;
mod out_file;
mod result_writer;
mod write_error;

use std::io::{self, BufWriter, Write};

use wavetank_record::{NetDoc, SearchDoc};
use wavetank_report::Language;
use wavetank_store::os_error_text;
#[cfg(target_os = "linux")]
use wavetank_units::ExitCode;
use wavetank_units::{Code, UserError};

use crate::cli::{OutFile, OutputFormat};
#[cfg(target_os = "linux")]
pub(crate) use console::Console;
use out_file::overwrite;
pub(crate) use out_file::{OpenFile, open_all};
pub(crate) use result_writer::ResultWriter;
use write_error::WriteError;

/// Code of the error that there is a result but no place for it, or not everywhere.
pub(crate) const UNWRITTEN: Code = Code::ResultUnwritten;

/// Renders an error that ended the command before a result, in `format`, or as text if the format
/// has no errors.
pub(crate) fn render_error(error: &UserError, format: OutputFormat) -> String {
    match format {
        OutputFormat::Json => wavetank_report::error_json(error),
        OutputFormat::Junit => wavetank_report::error_junit(error),
        _ => format!("{error}\n"),
    }
}

/// Writes the error to the result files, so that readers do not find an earlier run's result. Files
/// that cannot be written are skipped: the error is about them, or they are not worth a second one.
/// Formats without errors stay unchanged, because a sentence in them would be read as data.
pub(crate) fn deliver_error(error: &UserError, out: &[OutFile]) {
    // Then the others hold the result.
    if error.code == UNWRITTEN {
        return;
    }
    for OutFile { path, format } in out.iter().filter(|out| out.format.can_hold_errors()) {
        overwrite(path, &render_error(error, *format));
    }
}

/// Writes the result to every file and to stdout. Tries all, and returns the first error.
pub(crate) fn deliver(
    outcome: &ResultWriter<'_>,
    format: OutputFormat,
    files: Vec<OpenFile>,
) -> Result<(), UserError> {
    deliver_as(&|format, to| outcome.write(format, to), format, files)
}

/// The same of a search; `language` is that of a page.
pub(crate) fn deliver_search(
    doc: &SearchDoc,
    format: OutputFormat,
    files: Vec<OpenFile>,
    language: Language,
) -> Result<(), UserError> {
    let write = |format, to: &mut dyn Write| {
        let text = match format {
            OutputFormat::Text => wavetank_report::knee_text(doc),
            OutputFormat::Json => wavetank_report::knee_json(doc),
            OutputFormat::Junit => wavetank_report::knee_junit(doc),
            OutputFormat::Markdown => wavetank_report::knee_markdown(doc),
            OutputFormat::Csv => wavetank_report::knee_csv(doc),
            OutputFormat::Html => wavetank_report::knee_html(doc, language),
            OutputFormat::Oneline | OutputFormat::Hgrm | OutputFormat::Hlog => {
                return Err(WriteError::Unmade(unsupported_for_search()));
            }
        };
        Ok(to.write_all(text.as_bytes())?)
    };
    deliver_as(&write, format, files)
}

/// The same of measurements of a network, in the formats that they have.
pub(crate) fn deliver_net(doc: &NetDoc, format: OutputFormat, files: Vec<OpenFile>) -> Result<(), UserError> {
    let write = |format, to: &mut dyn Write| {
        let text = match format {
            OutputFormat::Text => wavetank_report::net_text(doc),
            OutputFormat::Json => doc.to_json() + "\n",
            OutputFormat::Html => wavetank_report::net_html(doc),
            _ => return Err(WriteError::Unmade(unsupported_for_net())),
        };
        Ok(to.write_all(text.as_bytes())?)
    };
    deliver_as(&write, format, files)
}

/// Other formats are of loads.
pub(crate) fn unsupported_for_net() -> UserError {
    let message = "a network measurement is written as text, json or html";
    UserError::usage(Code::FormatOfRuns, message, "use --format json, or --out FILE.html")
}

/// A search is of many levels, and such a file of one load.
pub(crate) fn unsupported_for_search() -> UserError {
    let hint = "each run has one: wavetank report FOLDER/runs/NAME --format hgrm; of a search there is text, json, junit, csv, md, html";
    UserError::usage(Code::FormatOfRuns, "oneline, hgrm and hlog are of one run, and a search is many", hint)
}

/// How a result is written in a format.
type Written<'a> = dyn Fn(OutputFormat, &mut dyn Write) -> Result<(), WriteError> + 'a;

fn deliver_as(write: &Written<'_>, format: OutputFormat, files: Vec<OpenFile>) -> Result<(), UserError> {
    let mut failures = Vec::new();
    for file in files {
        let (format, shown) = (file.format, format!("`{}`", file.path.display()));
        if let Err(unwritten) = file.write_atomically(|to| write(format, to)) {
            failures.push(into_user_error(&shown, unwritten));
        }
    }
    match to_stdout(|to| write(format, to)) {
        Ok(()) => {}
        Err(unwritten) => failures.push(into_user_error("stdout", unwritten)),
    }
    UserError::combine(failures).map_or(Ok(()), Err)
}

fn into_user_error(place: &str, unwritten: WriteError) -> UserError {
    let (cannot, why, hint) = match unwritten {
        WriteError::Io(error) => (
            "cannot write the result to",
            os_error_text(&error),
            "free some space there; a run with an archive can be printed again: wavetank report RUN"
                .to_owned(),
        ),
        WriteError::Unmade(error) => ("cannot make the result for", error.message, error.hint),
    };
    UserError::usage(UNWRITTEN, format!("{cannot} {place}: {why}"), hint)
}

/// Write to stdout what is no run's result.
pub(crate) fn print(text: &str) -> Result<(), UserError> {
    to_stdout(|to| to.write_all(text.as_bytes())).map_err(|error| {
        let message = format!("cannot write to stdout: {}", os_error_text(&error));
        UserError::usage(Code::StdoutUnwritable, message, "free some space there, or send it elsewhere")
    })
}

/// Writes to stdout after requests were sent, so a failure is not a usage error.
#[cfg(target_os = "linux")]
pub(crate) fn print_sent(text: &str) -> Result<(), UserError> {
    print(text).map_err(sent_but_unwritten)
}

/// Returns the error of a command that sent requests and could not write the result: the result is
/// incomplete.
#[cfg(target_os = "linux")]
pub(crate) fn sent_but_unwritten(error: UserError) -> UserError {
    UserError { exit: ExitCode::Incomplete, ..error }
}

/// A reader that does not read to the end made a choice, so it is no failure.
fn to_stdout<E: From<io::Error> + Ended>(
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let mut stdout = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = write(&mut stdout).and_then(|()| Ok(stdout.flush()?));
    if written.is_err() {
        // What is left in it was for a reader who is gone or a place that is full.
        drop(stdout.into_parts());
    }
    match written {
        Err(error) if error.is_end() => Ok(()),
        written => written,
    }
}

/// An error that may be a reader's choice.
trait Ended {
    /// Returns whether the reader went away.
    fn is_end(&self) -> bool;
}

impl Ended for io::Error {
    fn is_end(&self) -> bool {
        self.kind() == io::ErrorKind::BrokenPipe
    }
}

impl Ended for WriteError {
    fn is_end(&self) -> bool {
        matches!(self, Self::Io(error) if error.is_end())
    }
}
