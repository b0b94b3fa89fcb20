//! `-F` and `--form-string`: the parts of a multipart body, in curl's own syntax.

use std::path::Path;

use wavetank_experiment::UrlPart;
use wavetank_plan::PemFile;
use wavetank_units::UserError;

use super::body::without_templates;
use super::error::bad;
use crate::cli::files::InputFiles;
use crate::cli::request_args::Parts;

/// Content types that curl knows by the end of a file's name.
const TYPES: &[(&str, &str)] = &[
    (".gif", "image/gif"),
    (".jpg", "image/jpeg"),
    (".jpeg", "image/jpeg"),
    (".png", "image/png"),
    (".svg", "image/svg+xml"),
    (".txt", "text/plain"),
    (".htm", "text/html"),
    (".html", "text/html"),
    (".pdf", "application/pdf"),
    (".xml", "application/xml"),
];

/// The body of `-F` and `--form-string`.
#[derive(Debug, Default)]
pub(super) struct Form(pub(super) Parts);

impl Form {
    /// `--form-string NAME=VALUE`: the value as it is.
    pub(super) fn add_string(&mut self, text: &str) -> Result<(), UserError> {
        let (name, value) = split(text, "--form-string")?;
        self.0.parts.push((name.to_owned(), UrlPart::text(value)));
        Ok(())
    }

    /// `-F NAME=VALUE`, `NAME=@FILE`, `NAME=<FILE`, each with `;type=` and `;filename=`.
    pub(super) fn add(&mut self, text: &str, input: &mut InputFiles) -> Result<(), UserError> {
        let (name, value) = split(text, "-F")?;
        if value.starts_with('(') {
            let hint = "put the body into a file: --body-file FILE -H 'Content-Type: multipart/…'";
            return Err(bad(format!("-F `{text}` begins parts inside a part, which is not supported"), hint));
        }
        let (content, file) = match value.as_bytes().first() {
            Some(mark @ (b'@' | b'<')) => (&value[1..], Some(*mark)),
            _ => (value, None),
        };
        let mut fields = Fields { rest: content, is_list: file == Some(b'@') };
        let content = fields.next();
        let (mut sent, mut kind) = (None, None);
        while let Some(word) = fields.parameter(text)? {
            match word {
                Parameter::Type(value) => kind = Some(value),
                Parameter::Name(value) => sent = Some(value),
            }
        }
        if fields.rest.starts_with(',') {
            let hint = "one -F for each file: -F 'a=@one' -F 'a=@two'";
            return Err(bad(
                format!("-F `{text}` has several files in one part, which is not supported"),
                hint,
            ));
        }
        let part = match file {
            None => UrlPart::Text { text: content, name: sent, content_type: kind },
            Some(b'<') => {
                let bytes = input.part("--curl: -F", Path::new(&content))?;
                let Ok(text) = String::from_utf8(without_templates(&bytes)) else {
                    let hint = format!("-F '{name}=@{content};filename=' sends a file of any bytes");
                    return Err(bad(format!("-F: {content} is not text in UTF-8"), &hint));
                };
                UrlPart::Text { text, name: sent, content_type: kind }
            }
            Some(_) => {
                let bytes = input.part("--curl: -F", Path::new(&content))?;
                self.0.files.push(PemFile { name: content.clone(), bytes });
                let named = sent.as_deref().unwrap_or(&content).to_ascii_lowercase();
                let known = TYPES.iter().find(|(end, _)| named.ends_with(end));
                let kind = kind.or_else(|| known.map(|(_, kind)| (*kind).to_owned()));
                UrlPart::File { file: content, name: sent, content_type: kind }
            }
        };
        self.0.parts.push((name.to_owned(), part));
        Ok(())
    }
}

fn split<'t>(text: &'t str, option: &str) -> Result<(&'t str, &'t str), UserError> {
    text.split_once('=').ok_or_else(|| {
        let hint = format!("{option} name=value");
        bad(format!("{option} `{text}` has no name and value"), &hint)
    })
}

enum Parameter {
    Type(String),
    Name(String),
}

/// The fields of a part, between semicolons. A field may be in double quotes, with backslashes
/// before quotes and backslashes in it.
struct Fields<'t> {
    rest: &'t str,
    /// A comma ends a field, too.
    is_list: bool,
}

impl Fields<'_> {
    fn ends(&self, letter: char) -> bool {
        letter == ';' || (self.is_list && letter == ',')
    }

    /// Takes the next field.
    fn next(&mut self) -> String {
        self.rest = self.rest.trim_start();
        if let Some((word, after)) = quoted(self.rest) {
            // Text between the quote and the semicolon is left out, as curl does.
            let end = after.find(|letter| self.ends(letter)).unwrap_or(after.len());
            self.rest = &after[end..];
            return word;
        }
        let end = self.rest.find(|letter| self.ends(letter)).unwrap_or(self.rest.len());
        let word = self.rest[..end].trim_end().to_owned();
        self.rest = &self.rest[end..];
        word
    }

    /// Takes the next parameter that is understood; others are left out, as curl does.
    fn parameter(&mut self, text: &str) -> Result<Option<Parameter>, UserError> {
        while let Some(rest) = self.rest.strip_prefix(';') {
            self.rest = rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix("type=") {
                self.rest = rest;
                return Ok(Some(Parameter::Type(self.content_type())));
            }
            if let Some(rest) = self.rest.strip_prefix("filename=") {
                self.rest = rest;
                return Ok(Some(Parameter::Name(self.next())));
            }
            let unsupported = ["headers=", "encoder="].into_iter().find(|name| self.rest.starts_with(name));
            if let Some(name) = unsupported {
                let hint = "leave it out, or put the whole body into a file: --body-file FILE";
                return Err(bad(format!("-F `{text}`: {name} is not supported"), hint));
            }
            self.next();
        }
        Ok(None)
    }

    /// A content type with its own parameters, such as `text/plain;charset=utf-8`.
    fn content_type(&mut self) -> String {
        let mut kind = self.next();
        while let Some(rest) = self.rest.strip_prefix(';') {
            let parameter = rest.trim_start();
            if ["type=", "filename=", "headers=", "encoder="].iter().any(|name| parameter.starts_with(name)) {
                break;
            }
            self.rest = parameter;
            let spaces = &rest[..rest.len() - parameter.len()];
            kind = format!("{kind};{spaces}{}", self.next());
        }
        kind
    }
}

/// Returns the text in quotes at the start of `text`, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut word = String::new();
    let mut letters = inside.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((word, &inside[at + 1..])),
            '\\' if inside[at + 1..].starts_with(['"', '\\']) => {
                word.extend(letters.next().map(|(_, next)| next));
            }
            _ => word.push(letter),
        }
    }
    None
}
