//! [`LoadSource`]: distinguishes a URL from an experiment file, and a plain URL from one that needs
//! an experiment.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use wavetank_experiment::{UrlBody, UrlRequest, has_template};
use wavetank_plan::{PemFile, RunOptions, TargetUrl, UrlProtocol};
use wavetank_units::{Code, UserError};

use super::experiment_args::{ExperimentArgs, ExperimentSource, FileArgs};
use super::output_formats::FileFormat;

/// What `run` is given to load.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LoadSource {
    /// One request, repeated.
    Url(TargetUrl),
    /// An experiment file, or one request that needs an experiment: with templates, for example.
    File(FileArgs),
}

/// What the options say of the request of a URL beyond [`RunOptions`]. None of it applies to an
/// experiment file.
#[derive(Debug, Default)]
pub(super) struct RequestExtras {
    /// `--json`, `--form`.
    pub(super) body: Option<UrlBody>,
    /// Whether the body of [`RunOptions`] was typed, so that it may contain templates.
    pub(super) body_is_typed: bool,
    /// `--rows`.
    pub(super) rows: Option<String>,
    /// `--proto`.
    pub(super) proto: Vec<String>,
    /// `--proto-path`.
    pub(super) proto_paths: Vec<String>,
    /// Redirects to follow.
    pub(super) follow: Option<u32>,
    /// Files that the body names, read already.
    pub(super) files: Vec<PemFile>,
}

/// Name of the file that `--body-file` has read.
const BODY_FILE: &str = "--body-file";

impl RequestExtras {
    /// Refuses the options that describe the request of a URL, together with an experiment file.
    pub(super) fn check_unused(&self) -> Result<(), UserError> {
        let json = matches!(self.body, Some(UrlBody::Json(_)));
        let given = [
            ("--json", json, "in the file's step: json: {name: value}"),
            ("--form", self.body.is_some() && !json, "in the file's step: form: {name: value}"),
            ("--proto", !self.proto.is_empty(), "in the file: grpc: {proto: FILE}"),
            ("--proto-path", !self.proto_paths.is_empty(), "in the file: grpc: {paths: [DIR]}"),
            ("--rows", self.rows.is_some(), "in the file: data: {accounts: {file: accounts.csv}}"),
        ];
        match given.into_iter().find(|(_, given, _)| *given) {
            Some((option, _, hint)) => {
                let message = format!("{option} applies only to a URL, not to an experiment file");
                Err(UserError::usage(Code::Conflict, message, hint))
            }
            None => Ok(()),
        }
    }

    /// Whether the run of `url` needs an experiment.
    fn needs_experiment(&self, url: &str, options: &RunOptions) -> bool {
        let body = options.body.as_deref().filter(|_| self.body_is_typed);
        self.body.is_some()
            || self.rows.is_some()
            || self.follow.is_some()
            || !self.proto.is_empty()
            || !self.proto_paths.is_empty()
            || !options.stages.is_empty()
            || has_template(url)
            || TargetUrl::protocol_of(url) != UrlProtocol::Http
            || options.headers.iter().any(|(_, value)| has_template(value.reveal()))
            || body.is_some_and(|body| std::str::from_utf8(body).is_ok_and(has_template))
    }

    /// Takes method and body out of `options`, which overrides of an experiment do not have.
    fn into_source(mut self, url: &str, options: &mut RunOptions) -> ExperimentSource {
        let own = options.body.take().map(|bytes| match String::from_utf8(bytes) {
            Ok(text) if self.body_is_typed => UrlBody::Text(text),
            Ok(text) => self.file(text.into_bytes()),
            Err(error) => self.file(error.into_bytes()),
        });
        let request = Box::new(UrlRequest {
            url: url.to_owned(),
            method: options.method.take(),
            body: self.body.take().or(own),
            rows: self.rows.take(),
            follow: self.follow,
            proto: std::mem::take(&mut self.proto),
            proto_paths: std::mem::take(&mut self.proto_paths),
        });
        ExperimentSource::Url { request, files: self.files }
    }

    fn file(&mut self, bytes: Vec<u8>) -> UrlBody {
        self.files.push(PemFile { name: BODY_FILE.to_owned(), bytes });
        UrlBody::File(BODY_FILE.to_owned())
    }
}

/// Parses the argument that names the load. `variation` has the options that need an experiment
/// file; `other` is one more such option that was given.
pub(super) fn parse_load_source(
    word: &OsStr,
    variation: ExperimentArgs,
    other: Option<&'static str>,
    request: RequestExtras,
    options: &mut RunOptions,
) -> Result<LoadSource, UserError> {
    if is_file(word) {
        request.check_unused()?;
        let source = ExperimentSource::File(PathBuf::from(word));
        return Ok(LoadSource::File(variation.resolve(source, FileFormat::Text)?));
    }
    if word == "-" {
        let message = "an experiment is not read from standard input";
        let hint = "save it as FILE.yaml; --curl - reads a command for curl from standard input";
        return Err(UserError::usage(Code::BadUrl, message, hint));
    }
    let Some(text) = word.to_str() else {
        let message = format!("`{}` is not a file and not a URL", word.display());
        return Err(UserError::usage(Code::BadUrl, message, "for example: http://localhost:8080/path"));
    };
    if !request.needs_experiment(text, options) {
        let url = TargetUrl::parse(text)?;
        refuse_file_options(variation.first_given_flag().or(other), text)?;
        return Ok(LoadSource::Url(url));
    }
    // Secrets have their place in templates; a URL has no variables and no phases of its own.
    refuse_file_options(variation.first_given_but_secret().or(other), text)?;
    let source = request.into_source(text, options);
    Ok(LoadSource::File(variation.resolve(source, FileFormat::Text)?))
}

fn refuse_file_options(given: Option<&'static str>, url: &str) -> Result<(), UserError> {
    let Some(option) = given else { return Ok(()) };
    let hint = match option {
        "--target" => "the URL is the target; --connect-to HOST:PORT connects elsewhere",
        "--probe" => "a URL is always probed; --no-probe turns that off",
        "--truth" | "--no-truth" => "it is for files with hold phases: wavetank new FILE",
        "--secret" => "-H 'Authorization: Bearer ${secret:NAME}' uses a secret",
        _ => "use -c, -r, -d and -n, or an experiment file: wavetank new FILE",
    };
    let message = format!("{option} needs an experiment file, and {url} is a URL");
    Err(UserError::usage(Code::Conflict, message, hint))
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
