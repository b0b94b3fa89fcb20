//! Reads files that options name: `-H @FILE`, `--basic @FILE`, `--body-file FILE`, `--cacert FILE`,
//! and `-` for stdin.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use wavetank_plan::Secret;
use wavetank_units::quantity::show_size;
use wavetank_units::{Code, UserError};

/// Largest body: every load thread keeps the rendered request in memory.
const BODY_MAX: u64 = 256 << 20;
/// Largest file of headers or credentials.
const TEXT_MAX: u64 = 256 << 10;

/// Largest file of certificates: a host's whole store is some hundred kilobytes.
const PEM_MAX: u64 = 4 << 20;

/// A value that is given as `TEXT` or in a file, as `@FILE`.
#[derive(Clone)]
pub(super) enum TextOrFile {
    Text(String),
    File(String),
}

/// The text may be a secret.
impl fmt::Debug for TextOrFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl TextOrFile {
    /// Distinguishes the two.
    pub(super) fn new(text: &str) -> Self {
        match text.strip_prefix('@') {
            Some(path) => Self::File(path.to_owned()),
            None => Self::Text(text.to_owned()),
        }
    }

    /// Returns the text, read from the file if there is one. Errors name `option`.
    pub(super) fn read(self, option: &'static str, files: &mut InputFiles) -> Result<String, UserError> {
        match self {
            Self::Text(text) => Ok(text),
            Self::File(path) => files.text(option, &path),
        }
    }
}

/// Reads files that options name. Stdin is read at most once, because it is empty the second time.
#[derive(Debug, Default)]
pub(super) struct InputFiles {
    stdin_taken_by: Option<&'static str>,
}

impl InputFiles {
    /// Reads the body of `--body-file`.
    pub(super) fn body(&mut self, path: &Path) -> Result<Vec<u8>, UserError> {
        self.read("--body-file", path, BODY_MAX)
    }

    /// Reads the command of `--curl`.
    pub(super) fn curl(&mut self, path: &str) -> Result<String, UserError> {
        let bytes = self.read("--curl", Path::new(path), BODY_MAX)?;
        String::from_utf8(without_mark(bytes)).map_err(|_| {
            let hint = "save the command as text in UTF-8";
            UserError::usage(Code::BadFile, format!("--curl {path} is not text in UTF-8"), hint)
        })
    }

    /// Reads a file for `option` that becomes a body, or a part of one, as it is.
    pub(super) fn part(&mut self, option: &'static str, path: &Path) -> Result<Vec<u8>, UserError> {
        self.read(option, path, BODY_MAX)
    }

    /// Reads a small text file without the byte-order mark that some editors write. Errors name
    /// `option`.
    pub(super) fn text(&mut self, option: &'static str, path: &str) -> Result<String, UserError> {
        let bytes = self.read(option, Path::new(path), TEXT_MAX)?;
        String::from_utf8(without_mark(bytes)).map_err(|_| {
            let message = format!("{option} @{path} is not text in UTF-8");
            UserError::usage(Code::BadFile, message, "write one per line, as on the command line")
        })
    }

    /// Reads a secret, without the end of its line. Errors name `option`.
    pub(super) fn secret(&mut self, option: &'static str, path: &str) -> Result<Secret, UserError> {
        Ok(Secret::new(self.text(option, path)?.trim_end_matches(['\r', '\n'])))
    }

    /// Reads a file of certificates or keys. Errors name `option`.
    pub(super) fn pem(&mut self, option: &'static str, path: &str) -> Result<Vec<u8>, UserError> {
        self.read(option, Path::new(path), PEM_MAX)
    }

    fn read(&mut self, option: &'static str, path: &Path, bytes_max: u64) -> Result<Vec<u8>, UserError> {
        if path == Path::new("-") {
            if let Some(other) = self.stdin_taken_by.replace(option) {
                let message = format!("{other} and {option} both read stdin");
                return Err(UserError::usage(Code::Conflict, message, "put one of them in a file"));
            }
            return limited(io::stdin().lock(), option, path, bytes_max);
        }
        let file = File::open(path).map_err(|error| unreadable(option, path, &error))?;
        limited(file, option, path, bytes_max)
    }
}

fn limited(
    source: impl Read,
    option: &'static str,
    path: &Path,
    bytes_max: u64,
) -> Result<Vec<u8>, UserError> {
    let mut bytes = Vec::new();
    source.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| unreadable(option, path, &error))?;
    if bytes.len() as u64 > bytes_max {
        let message = format!("{option} {} is larger than {}", path.display(), show_size(bytes_max));
        return Err(UserError::usage(Code::BadFile, message, "a smaller file"));
    }
    Ok(bytes)
}

/// Returns the bytes without the byte-order mark that some editors write.
fn without_mark(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    bytes
}

fn unreadable(option: &str, path: &Path, error: &io::Error) -> UserError {
    let path = path.display();
    let (why, hint) = match error.kind() {
        ErrorKind::NotFound => {
            ("there is no such file".to_owned(), "check the path; it is relative to the current folder")
        }
        ErrorKind::PermissionDenied => ("it may not be read".to_owned(), "check its permissions: ls -l"),
        ErrorKind::IsADirectory => ("it is a folder".to_owned(), "name a file in it"),
        _ => (error.to_string(), "check the path"),
    };
    UserError::usage(Code::BadFile, format!("{option} {path}: {why}"), hint)
}
