//! `--curl FILE`: reads a command for curl, as browsers copy it, into the options of a run.

mod options;
mod request;
mod shell;

use wavetank_plan::UserError;

use super::files::InputFiles;
use super::run_args::OverrideArgs;

use request::CurlRequest;

/// Reads the command and puts what it says into `words`, where they say nothing themselves. Returns
/// its URL.
///
/// # Errors
/// Everything that cannot be done, as one error.
pub(super) fn read(path: &str, words: &mut OverrideArgs) -> Result<String, UserError> {
    let mut files = InputFiles::default();
    let text = files.curl(path)?;
    let (found, mut errors) = options::parse(&shell::split(&text)?);
    let request = CurlRequest::new(found, &mut files, &mut errors);
    if let Some(error) = UserError::combine(errors) {
        return Err(error);
    }
    Ok(request.apply(words))
}
