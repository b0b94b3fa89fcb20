//! [`Body`]: the body of `-d` and its like, or the query with `-G`.

use std::path::Path;

use wavetank_units::UserError;

use super::options::Meaning;
use crate::cli::files::InputFiles;

/// What `-d`, `--data-urlencode` and `--json` give together.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// The bytes; `None` without any such option.
    pub(super) bytes: Option<Vec<u8>>,
    /// `--json` is among them.
    pub(super) is_json: bool,
}

impl Body {
    /// Adds the value of one option.
    pub(super) fn add(
        &mut self,
        meaning: Meaning,
        value: &[u8],
        files: &mut InputFiles,
    ) -> Result<(), UserError> {
        let bytes = match meaning {
            Meaning::DataUrlencode => url_encoded("--curl: --data-urlencode", value, files)?,
            _ => data(meaning, value, files)?,
        };
        // Pieces of JSON are joined as they are.
        let joint: &[u8] = if meaning == Meaning::Json { b"" } else { b"&" };
        self.is_json |= meaning == Meaning::Json;
        match &mut self.bytes {
            Some(all) => {
                all.extend(joint);
                all.extend(bytes);
            }
            None => self.bytes = Some(bytes),
        }
        Ok(())
    }
}

/// Templates are in the command, not in the files that it names. In the bytes of a file, `${` is
/// therefore escaped.
pub(super) fn without_templates(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'$' && bytes.get(at + 1) == Some(&b'{') {
            out.push(b'$');
        }
        out.push(*byte);
    }
    out
}

/// The bytes of `-d` and its like.
fn data(meaning: Meaning, value: &[u8], files: &mut InputFiles) -> Result<Vec<u8>, UserError> {
    let path = value.strip_prefix(b"@").filter(|_| meaning != Meaning::DataRaw);
    let Some(path) = path else { return Ok(value.to_vec()) };
    let option = match meaning {
        Meaning::DataBinary => "--curl: --data-binary",
        Meaning::Json => "--curl: --json",
        _ => "--curl: -d",
    };
    let mut bytes = files.part(option, Path::new(String::from_utf8_lossy(path).as_ref()))?;
    if meaning == Meaning::Data {
        bytes.retain(|byte| !b"\r\n\0".contains(byte));
    }
    Ok(without_templates(&bytes))
}

/// `CONTENT`, `=CONTENT`, `NAME=CONTENT`, `@FILE` or `NAME@FILE`; the content is encoded, and a
/// template in it stays as it is. Errors name `option`.
pub(super) fn url_encoded(
    option: &'static str,
    value: &[u8],
    files: &mut InputFiles,
) -> Result<Vec<u8>, UserError> {
    let (name, content) = match value.iter().position(|byte| matches!(byte, b'=' | b'@')) {
        Some(at) if value[at] == b'=' => (&value[..at], value[at + 1..].to_vec()),
        Some(at) => {
            let path = String::from_utf8_lossy(&value[at + 1..]).into_owned();
            (&value[..at], without_templates(&files.part(option, Path::new(&path))?))
        }
        None => (&value[..0], value.to_vec()),
    };
    let mut out = name.to_vec();
    if !name.is_empty() {
        out.push(b'=');
    }
    let mut rest = content.as_slice();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'$' if rest.starts_with(b"${") => {
                // An escaped template is text.
                out.extend(b"%24%7B");
                rest = &rest[2..];
            }
            b'$' if rest.starts_with(b"{") => {
                let end = rest.iter().position(|byte| *byte == b'}').map_or(rest.len(), |at| at + 1);
                out.push(b'$');
                out.extend(&rest[..end]);
                rest = &rest[end..];
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(*byte),
            b' ' => out.push(b'+'),
            _ => out.extend(format!("%{byte:02X}").as_bytes()),
        }
    }
    Ok(out)
}
