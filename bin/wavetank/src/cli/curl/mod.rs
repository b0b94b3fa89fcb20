//! `--curl FILE`: reads a command for curl, as browsers copy it, into the options of a run.

mod body;
mod connect;
mod cookies;
mod error;
mod form;
mod options;
mod proxy;
mod request;
mod shell;
mod url;
mod windows;

use std::ffi::OsString;

use wavetank_units::{Code, UserError};

use super::files::InputFiles;
use super::override_args::OverrideArgs;

use request::CurlRequest;

/// Returns the URL or file to load: the argument, or the URL of the curl command, which is merged
/// into `flags`.
pub(super) fn url_or(word: Option<OsString>, flags: &mut OverrideArgs) -> Result<OsString, UserError> {
    match (word, flags.request.curl.take()) {
        (Some(_), Some(_)) => {
            let hint = "the curl command has the URL; leave the other one out";
            Err(UserError::usage(Code::Conflict, "--curl and a URL or file exclude each other", hint))
        }
        (Some(word), None) => Ok(word),
        (None, path) => Ok(read(&path.unwrap_or_default(), flags)?.into()),
    }
}

/// Reads the command and puts what it says into `flags`, where they say nothing themselves. Returns
/// its URL.
///
/// # Errors
/// Everything that cannot be done, as one error.
fn read(path: &str, flags: &mut OverrideArgs) -> Result<String, UserError> {
    let mut files = InputFiles::default();
    let text = files.curl(path)?;
    let words = if windows::is_windows(&text) { windows::split(&text)? } else { shell::split(&text)? };
    options::check_program(&words)?;
    let (found, mut errors) = options::parse(&words);
    let request = CurlRequest::new(found, &mut files, &mut errors);
    if let Some(error) = UserError::combine(errors) {
        return Err(error);
    }
    request.apply(flags, &mut files)
}
