//! Remarks about a file, for people and for programs.

use std::io::Write;

use serde_json::{Value, json};
use wavetank_grammar::{Diagnostic, Diagnostics, Severity, render};
use wavetank_record::ErrorDoc;
use wavetank_units::{Code, ExitCode, UserError};

use super::ExperimentFile;
use crate::cli::FileFormat;
use crate::output;

impl ExperimentFile {
    /// All remarks as a person reads them; empty if there are none.
    pub(crate) fn rendered(&self) -> String {
        if self.is_url {
            return self.diagnostics.sorted().into_iter().map(line_of).collect();
        }
        render(&self.diagnostics, &self.name, &self.text)
    }

    /// The first of what keeps the file from being run.
    pub(crate) fn first_error(&self) -> UserError {
        let first = if self.is_url {
            let mut all = self.diagnostics.sorted().into_iter();
            let first = all.find(|one| one.severity == Severity::Error);
            first.map(|one| UserError::usage(one.code, one.message.clone(), one.hint.clone()))
        } else {
            self.diagnostics.first_error(&self.name)
        };
        first.unwrap_or_else(|| {
            UserError::usage(Code::BadFile, format!("{} cannot be read", self.name), "wavetank new FILE")
        })
    }

    /// Reports what prevents the file from being run: as text on stderr, or as `wavetank.error/1`
    /// with all diagnostics after the first. Exit 2.
    pub(crate) fn print_errors(&self, format: FileFormat) -> Result<u8, UserError> {
        let first = self.first_error();
        match format {
            FileFormat::Text => {
                // If stderr is closed too, only the exit code is left.
                let _ = std::io::stderr().write_all(self.rendered().as_bytes());
            }
            FileFormat::Json => {
                output::print(&format!("{}\n", errors_json(&first, &self.diagnostics)))?;
            }
        }
        Ok(ExitCode::Usage as u8)
    }
}

/// Returns a diagnostic of a command line, in the form of other errors there.
fn line_of(one: &Diagnostic) -> String {
    let error = UserError::usage(one.code, one.message.clone(), one.hint.clone()).with_code();
    match one.severity {
        Severity::Error => format!("{error}\n"),
        Severity::Warning => format!("{}\n", error.replacen("error: ", "warning: ", 1)),
        Severity::Note => format!("{}\n", error.replacen("error: ", "note: ", 1)),
    }
}

/// Returns `wavetank.error/1` of the first error, with all diagnostics.
pub(crate) fn errors_json(first: &UserError, diagnostics: &Diagnostics) -> Value {
    let doc = ErrorDoc::from(first);
    json!({
        "schema": doc.schema, "code": doc.code, "message": doc.message, "hint": doc.hint, "exit": doc.exit,
        "remarks": remarks_json(diagnostics),
    })
}

/// Every remark that is kept, in the order of places.
pub(crate) fn remarks_json(diagnostics: &Diagnostics) -> Vec<Value> {
    let all = diagnostics.sorted().into_iter().map(|one| {
        json!({
            "code": one.code.as_str(),
            "severity": match one.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            },
            "line": one.place.map(|place| place.line),
            "column": one.place.map(|place| place.column),
            "message": one.message,
            "hint": one.hint,
        })
    });
    all.collect()
}
