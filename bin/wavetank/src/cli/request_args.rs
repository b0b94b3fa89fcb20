//! [`RequestArgs`]: the request of a run, and the responses that count as success.

use std::path::{Path, PathBuf};

use clap::Args;
use wavetank_experiment::{UrlBody, UrlPart, has_template};
use wavetank_plan::{PemFile, RunOptions, Secret, StatusSet};
use wavetank_units::{Code, UserError};

use super::errors::Errors;
use super::files::{InputFiles, TextOrFile};
use super::load_source::RequestExtras;

/// Method, headers and body of a request.
#[derive(Args, Debug, Default)]
pub(super) struct MessageArgs {
    /// Method [default: GET, or POST with a body]
    #[arg(short = 'X', long, value_name = "METHOD")]
    pub(super) method: Option<String>,
    /// A header, or @FILE with one on each line (repeatable)
    #[arg(short = 'H', long, value_name = "'NAME: VALUE'|@FILE", allow_hyphen_values = true, value_parser = HeaderArg::parse)]
    pub(super) header: Vec<HeaderArg>,
    /// Request body, sent as given
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = inline_body)]
    pub(super) body: Option<String>,
    /// File with the request body; - is stdin
    #[arg(long, value_name = "FILE|-", allow_hyphen_values = true)]
    pub(super) body_file: Option<PathBuf>,
}

/// The request, and the responses that count as success.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Request")]
pub(super) struct RequestArgs {
    #[command(flatten)]
    pub(super) message: MessageArgs,
    /// JSON request body, or @FILE; sets Content-Type
    #[arg(long, value_name = "TEXT|@FILE", allow_hyphen_values = true, value_parser = inline_json)]
    pub(super) json: Option<TextOrFile>,
    /// Form field (repeatable); with a @FILE the form is sent as multipart/form-data
    #[arg(long, value_name = "NAME=VALUE|NAME=@FILE", allow_hyphen_values = true, value_parser = field)]
    pub(super) form: Vec<(String, String)>,
    /// Read the request from a curl command, as browsers copy it (Copy as cURL); - is stdin
    #[arg(long, value_name = "FILE|-", allow_hyphen_values = true)]
    pub(super) curl: Option<String>,
    /// The body of a curl command.
    #[arg(skip)]
    pub(super) raw_body: Option<Vec<u8>>,
    /// The multipart body of a curl command, and the files that it names.
    #[arg(skip)]
    pub(super) parts: Option<Parts>,
    /// A request without a User-Agent has none.
    #[arg(skip)]
    pub(super) no_user_agent: bool,
    /// Redirects to follow.
    #[arg(skip)]
    pub(super) follow: Option<u32>,
    /// CSV file for templates, ${rows.COLUMN}; each request takes the next row
    #[arg(long, value_name = "FILE")]
    pub(super) rows: Option<String>,
    /// File with the services of a grpc:// URL: .proto, or a set of descriptors (repeatable)
    /// [default: ask the server by reflection]
    #[arg(long, value_name = "FILE")]
    pub(super) proto: Vec<String>,
    /// Folder that imports of --proto start from (repeatable) [default: the folder of the file]
    #[arg(long, value_name = "DIR")]
    pub(super) proto_path: Vec<String>,
    /// User and password of basic authentication, or @FILE; never stored in an archive
    #[arg(long, value_name = "USER:PASSWORD|@FILE", allow_hyphen_values = true, value_parser = credentials)]
    pub(super) basic: Option<TextOrFile>,
    /// Status codes that count as success, such as 200,301 or 200 to 399 [default: 200 to 399]
    #[arg(long, value_name = "STATUS,…", value_parser = StatusSet::parse)]
    pub(super) expect_status: Option<StatusSet>,
}

/// A multipart body.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// Names and contents.
    pub(super) parts: Vec<(String, UrlPart)>,
    /// The files that they name, read already.
    pub(super) files: Vec<PemFile>,
}

/// One `-H`.
#[derive(Clone, Debug)]
pub(super) enum HeaderArg {
    /// A header.
    Line(String, Secret),
    /// A file with one header on each line.
    File(String),
}

impl HeaderArg {
    fn parse(text: &str) -> Result<Self, UserError> {
        match text.strip_prefix('@') {
            Some(path) => Ok(Self::File(path.to_owned())),
            None => header(text, "-H").map(|(name, value)| Self::Line(name, value)),
        }
    }

    /// Whether it is this header; the case of letters does not matter.
    pub(super) fn is(&self, name: &str) -> bool {
        matches!(self, Self::Line(own, _) if own.trim().eq_ignore_ascii_case(name))
    }

    fn read(self, files: &mut InputFiles) -> Result<Vec<(String, Secret)>, UserError> {
        let path = match self {
            Self::Line(name, value) => return Ok(vec![(name, value)]),
            Self::File(path) => path,
        };
        let text = files.text("-H", &path)?;
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(number, line)| header(line, &format!("-H @{path}, line {number}"))).collect()
    }
}

impl RequestArgs {
    /// Whether an option names a body.
    pub(super) fn has_body(&self) -> bool {
        let MessageArgs { body, body_file, .. } = &self.message;
        body.is_some() || body_file.is_some() || self.json.is_some() || !self.form.is_empty()
    }

    /// Puts these options into `options`, with the named files read. Returns what only an
    /// experiment can express.
    pub(super) fn resolve(self, options: RunOptions, errors: &mut Errors) -> (RunOptions, RequestExtras) {
        errors.keep(self.check_one_body());
        let mut files = InputFiles::default();
        let MessageArgs { method, header, body, body_file } = self.message;
        let headers = header.into_iter().flat_map(|header| errors.keep(header.read(&mut files))).collect();
        let mut extras = RequestExtras {
            body_is_typed: body.is_some() || self.raw_body.is_some(),
            follow: self.follow,
            rows: self.rows,
            proto: self.proto,
            proto_paths: self.proto_path,
            ..RequestExtras::default()
        };
        let body = match (body, body_file) {
            (Some(text), _) => Some(text.into_bytes()),
            (None, Some(path)) => errors.keep(files.body(&plain_path(&path)).map(Some)),
            (None, None) => self.raw_body,
        };
        if let Some(json) = self.json {
            extras.body = errors.keep(json.read("--json", &mut files).and_then(checked_json).map(Some));
        } else if !self.form.is_empty() {
            let form = form(self.form, &mut files, &mut extras.files);
            extras.body = errors.keep(form.map(Some));
        } else if let Some(Parts { parts, files }) = self.parts {
            extras.body = Some(UrlBody::Multipart(parts));
            extras.files = files;
        }
        let basic = self.basic.map(|basic| match basic {
            TextOrFile::Text(text) => Ok(Secret::new(text)),
            TextOrFile::File(path) => files.secret("--basic", &path),
        });
        let basic = errors.keep(basic.transpose());
        let (expect_status, no_user_agent) = (self.expect_status, self.no_user_agent);
        (RunOptions { method, headers, body, basic, expect_status, no_user_agent, ..options }, extras)
    }

    /// Refuses more than one body.
    fn check_one_body(&self) -> Result<(), UserError> {
        let given = [
            ("--body", self.message.body.is_some()),
            ("--body-file", self.message.body_file.is_some()),
            ("--json", self.json.is_some()),
            ("--form", !self.form.is_empty()),
        ];
        let mut given = given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
        match (given.next(), given.next()) {
            (Some(first), Some(second)) => {
                let message = format!("{first} and {second} exclude each other");
                Err(UserError::usage(Code::Conflict, message, "one of the two is the body"))
            }
            _ => Ok(()),
        }
    }
}

/// curl users write `--body-file @x`; the @ is not needed.
fn plain_path(path: &Path) -> PathBuf {
    let habit = path.to_str().and_then(|text| text.strip_prefix('@'));
    habit.filter(|_| !path.exists()).map_or_else(|| path.to_owned(), PathBuf::from)
}

/// Parses `--json`. A file is checked when it is read.
fn inline_json(text: &str) -> Result<TextOrFile, UserError> {
    let json = TextOrFile::new(text);
    if let TextOrFile::Text(text) = &json {
        check_json(text)?;
    }
    Ok(json)
}

fn checked_json(text: String) -> Result<UrlBody, UserError> {
    check_json(&text)?;
    Ok(UrlBody::Json(text))
}

/// The text must be JSON, except where a template is in the place of a value.
fn check_json(text: &str) -> Result<(), UserError> {
    if has_template(text) {
        return Ok(());
    }
    serde_json::from_str::<serde_json::Value>(text).map(drop).map_err(|error| {
        let hint = "in single quotes for the shell: --json '{\"name\": \"value\"}'; other text is --body";
        UserError::usage(Code::BadBody, format!("--json is not JSON: {error}"), hint)
    })
}

/// Parses a field of `--form`.
fn field(text: &str) -> Result<(String, String), UserError> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
        UserError::usage(Code::BadPair, format!("`{text}` has no name and value"), "--form name=value")
    })?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Returns the body of `--form`. Files are read now, because the current folder is theirs.
fn form(
    fields: Vec<(String, String)>,
    files: &mut InputFiles,
    read: &mut Vec<PemFile>,
) -> Result<UrlBody, UserError> {
    if !fields.iter().any(|(_, value)| value.starts_with('@')) {
        return Ok(UrlBody::Form(fields));
    }
    let part = |(name, value): (String, String)| {
        let Some(path) = value.strip_prefix('@') else { return Ok((name, UrlPart::text(value))) };
        // `;type=` and `;filename=` are curl's.
        let mut words = path.split(';');
        let file = words.next().unwrap_or_default().to_owned();
        let (mut sent, mut content_type) = (None, None);
        for word in words {
            match word.trim().split_once('=') {
                Some(("type", value)) => content_type = Some(value.to_owned()),
                Some(("filename", value)) => sent = Some(value.trim_matches('"').to_owned()),
                _ => {
                    let message = format!("--form `{name}`: `{word}` is not type= or filename=");
                    let hint = "--form 'photo=@cat.jpg;type=image/jpeg;filename=cat.jpg'";
                    return Err(UserError::usage(Code::BadPair, message, hint));
                }
            }
        }
        read.push(PemFile { name: file.clone(), bytes: files.part("--form", Path::new(&file))? });
        Ok((name, UrlPart::File { file, name: sent, content_type }))
    };
    fields.into_iter().map(part).collect::<Result<_, _>>().map(UrlBody::Multipart)
}

/// Parses `--body`. curl reads `--data @file`; a body that really starts with `@` can come from a
/// file.
fn inline_body(text: &str) -> Result<String, UserError> {
    match text.strip_prefix('@') {
        Some(path) if !path.is_empty() => {
            let hint = format!("--body-file {path}; a body that begins with @ goes into a file too");
            Err(UserError::usage(Code::BadBody, format!("`{text}` looks like a file"), hint))
        }
        _ => Ok(text.to_owned()),
    }
}

/// Parses `--basic`.
pub(super) fn credentials(text: &str) -> Result<TextOrFile, UserError> {
    match TextOrFile::new(text) {
        TextOrFile::Text(text) if has_template(&text) => {
            let hint = "--basic @FILE with user:password in it, which is sent as it is";
            Err(UserError::usage(Code::TemplateNotFixed, "--basic takes no templates", hint))
        }
        credentials => Ok(credentials),
    }
}

/// Parses `Name: value`, which is at `place`. Errors leave the text out, because it may be a
/// secret.
pub(super) fn header(line: &str, place: &str) -> Result<(String, Secret), UserError> {
    if line.trim_start().starts_with('#') {
        let message = format!("{place}: a header begins with `#`, and comments are not supported");
        return Err(UserError::usage(Code::BadHeader, message, "remove the line"));
    }
    let (name, value) = line.split_once(':').ok_or_else(|| {
        let message = format!("{place}: a header has no colon");
        UserError::usage(Code::BadHeader, message, "-H 'Name: value', in quotes; in a file one on each line")
    })?;
    Ok((name.to_owned(), Secret::new(value.trim())))
}
