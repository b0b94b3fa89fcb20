//! Headers and bodies of the command line.

use std::path::Path;

use wavetank_experiment::{UrlBody, UrlPart, has_template};
use wavetank_plan::{PemFile, Secret, UserError};

use super::files::InputFiles;
use super::run_args::RequestArgs;

/// Parses `-H`: one header, or a file of them.
pub(super) fn headers(word: &str, files: &mut InputFiles) -> Result<Vec<(String, Secret)>, UserError> {
    let Some(path) = word.strip_prefix('@') else { return Ok(vec![header(word, "-H")?]) };
    let text = files.text("-H", path)?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| header(line, &format!("-H @{path}, line {number}"))).collect()
}

/// Refuses more than one body.
pub(super) fn one_body(words: &RequestArgs) -> Result<(), UserError> {
    let given = [
        ("--body", words.body.is_some()),
        ("--body-file", words.body_file.is_some()),
        ("--json", words.json.is_some()),
        ("--form", !words.form.is_empty()),
    ];
    let mut given = given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
    match (given.next(), given.next()) {
        (Some(first), Some(second)) => {
            let message = format!("{first} and {second} exclude each other");
            Err(UserError::usage("conflict", message, "one of the two is the body"))
        }
        _ => Ok(()),
    }
}

/// Parses `--json`. The text must be JSON, except where a template is in the place of a value.
pub(super) fn json(word: String, files: &mut InputFiles) -> Result<String, UserError> {
    let text = match word.strip_prefix('@') {
        Some(path) => files.text("--json", path)?,
        None => word,
    };
    if !has_template(&text)
        && let Err(error) = serde_json::from_str::<serde_json::Value>(&text)
    {
        let hint = "in single quotes for the shell: --json '{\"name\": \"value\"}'; other text is --body";
        return Err(UserError::usage("bad_body", format!("--json is not JSON: {error}"), hint));
    }
    Ok(text)
}

/// Parses `--form`. Files are read now, because the current folder is theirs.
pub(super) fn form(
    words: &[String],
    multipart: bool,
    files: &mut InputFiles,
    read: &mut Vec<PemFile>,
) -> Result<UrlBody, UserError> {
    let mut fields = Vec::with_capacity(words.len());
    for word in words {
        let (name, value) = word.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
            let message = format!("--form `{word}` has no name and value");
            UserError::usage("bad_pair", message, "--form name=value")
        })?;
        fields.push((name.to_owned(), value.to_owned()));
    }
    if !multipart && !fields.iter().any(|(_, value)| value.starts_with('@')) {
        return Ok(UrlBody::Form(fields));
    }
    let part = |(name, value): (String, String)| {
        let Some(path) = value.strip_prefix('@') else { return Ok((name, UrlPart::Text(value))) };
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
                    return Err(UserError::usage("bad_pair", message, hint));
                }
            }
        }
        read.push(PemFile { name: file.clone(), bytes: files.form_file(Path::new(&file))? });
        Ok((name, UrlPart::File { file, name: sent, content_type }))
    };
    fields.into_iter().map(part).collect::<Result<_, _>>().map(UrlBody::Multipart)
}

/// curl reads `--data @file`; a body that really starts with `@` can come from a file.
pub(super) fn inline_body(text: String) -> Result<Vec<u8>, UserError> {
    match text.strip_prefix('@') {
        Some(path) if !path.is_empty() => {
            let hint = format!("--body-file {path}; a body that begins with @ goes into a file too");
            Err(UserError::usage("bad_body", format!("--body `{text}` looks like a file"), hint))
        }
        _ => Ok(text.into_bytes()),
    }
}

pub(super) fn basic(word: &str, files: &mut InputFiles) -> Result<Secret, UserError> {
    match word.strip_prefix('@') {
        Some(path) => Ok(Secret::new(files.text("--basic", path)?.trim_end_matches(['\r', '\n']))),
        None if has_template(word) => {
            let hint = "--basic @FILE with user:password in it, which is sent as it is";
            Err(UserError::usage("template_not_fixed", "--basic takes no templates", hint))
        }
        None => Ok(Secret::new(word)),
    }
}

/// Parses `Name: value`, which is at `place`. Errors leave the text out, because it may be a
/// secret.
pub(super) fn header(line: &str, place: &str) -> Result<(String, Secret), UserError> {
    if line.trim_start().starts_with('#') {
        let message = format!("{place}: a header begins with `#`, and comments are not supported");
        return Err(UserError::usage("bad_header", message, "remove the line"));
    }
    let (name, value) = line.split_once(':').ok_or_else(|| {
        let message = format!("{place}: a header has no colon");
        UserError::usage("bad_header", message, "-H 'Name: value', in quotes; in a file one on each line")
    })?;
    Ok((name.to_owned(), Secret::new(value.trim())))
}
