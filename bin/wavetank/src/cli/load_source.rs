//! [`LoadSource`]: whether `run` is given a URL or an experiment file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use wavetank_plan::{TargetUrl, UserError};

use super::args::LoadSource;
use super::experiment_args::{ExperimentArgs, experiment_args};

/// Reads the word that stands for what is to be loaded, with the options that only a file has;
/// `other` is one more of them that was given.
pub(super) fn parse_load_source(
    word: &OsStr,
    variation: ExperimentArgs,
    other: Option<&'static str>,
) -> Result<LoadSource, UserError> {
    if is_file(word) {
        return Ok(LoadSource::File(experiment_args(PathBuf::from(word), variation)?));
    }
    let Some(text) = word.to_str() else {
        let message = format!("`{}` is no file, and no URL either", word.display());
        return Err(UserError::usage("bad_url", message, "for example: http://localhost:8080/path"));
    };
    let url = TargetUrl::parse(text)?;
    if let Some(option) = variation.first_given_flag().or(other) {
        let hint = match option {
            "--target" => "the URL itself says where to; --connect-to HOST:PORT goes elsewhere".to_owned(),
            "--probe" => "a URL is probed anyway; --no-probe leaves that out".to_owned(),
            "--truth" | "--no-truth" => "it is for files with hold phases: wavetank new FILE".to_owned(),
            _ => "-c -r -d -n say how much; an experiment file: wavetank new FILE".to_owned(),
        };
        let message = format!("{option} means nothing without an experiment file, and {text} is a URL");
        return Err(UserError::usage("conflict", message, hint));
    }
    Ok(LoadSource::Url(url))
}

/// A file that is there, or whose name ends like one; `http://` before it makes it a URL.
fn is_file(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    if text.contains("://") {
        return false;
    }
    let named = text.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let ends = [".yaml", ".yml"].iter().any(|suffix| named.ends_with(suffix));
    (ends && !named.contains(':')) || Path::new(word).is_file()
}
