//! [`LoadSource`]: distinguishes a URL from an experiment file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use wavetank_plan::{TargetUrl, UserError};

use super::args::LoadSource;
use super::experiment_args::{ExperimentArgs, experiment_args};

/// Parses the argument that names the load. `variation` has the options that need an experiment
/// file; `other` is one more such option that was given.
pub(super) fn parse_load_source(
    word: &OsStr,
    variation: ExperimentArgs,
    other: Option<&'static str>,
) -> Result<LoadSource, UserError> {
    if is_file(word) {
        return Ok(LoadSource::File(experiment_args(PathBuf::from(word), variation)?));
    }
    let Some(text) = word.to_str() else {
        let message = format!("`{}` is not a file and not a URL", word.display());
        return Err(UserError::usage("bad_url", message, "for example: http://localhost:8080/path"));
    };
    let url = TargetUrl::parse(text)?;
    if let Some(option) = variation.first_given_flag().or(other) {
        let hint = match option {
            "--target" => "the URL is the target; --connect-to HOST:PORT connects elsewhere".to_owned(),
            "--probe" => "a URL is always probed; --no-probe turns that off".to_owned(),
            "--truth" | "--no-truth" => "it is for files with hold phases: wavetank new FILE".to_owned(),
            _ => "use -c, -r, -d and -n, or an experiment file: wavetank new FILE".to_owned(),
        };
        let message = format!("{option} needs an experiment file, and {text} is a URL");
        return Err(UserError::usage("conflict", message, hint));
    }
    Ok(LoadSource::Url(url))
}

/// Whether `word` names a file: the file exists, or the name ends like one. A scheme such as
/// `http://` makes it a URL.
fn is_file(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    if text.contains("://") {
        return false;
    }
    let named = text.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let ends = [".yaml", ".yml"].iter().any(|suffix| named.ends_with(suffix));
    (ends && !named.contains(':')) || Path::new(word).is_file()
}
