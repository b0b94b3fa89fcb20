//! Decodes the bytes of a file to text: encodings and byte-order marks.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};
use wavetank_units::{Code, UserError};

use super::remark::DataNote;

/// Returns the text of the file. `encoding` is the value in the experiment. Without it, a
/// byte-order mark decides, else UTF-8. A mark is removed with a note. Bytes that are invalid in
/// the encoding are an error with their line.
pub(super) fn decode<'a>(
    name: &str,
    bytes: &'a [u8],
    encoding: Option<&str>,
    remarks: &mut Vec<DataNote>,
) -> Result<Cow<'a, str>, UserError> {
    if let Some((_, what, hint)) = MAGIC.iter().find(|(start, ..)| bytes.starts_with(start)) {
        return Err(UserError::usage(Code::DataEncoding, format!("{name} is {what}, not text"), *hint));
    }
    let given = encoding.map(|word| known(name, word)).transpose()?;
    let marked = Encoding::for_bom(bytes);
    let body = marked.map_or(bytes, |(_, length)| &bytes[length..]);
    if let Some((mark, _)) = marked {
        if let Some(given) = given
            && given != mark
        {
            let message =
                format!("{name} begins with the byte-order mark of {}, not of {}", mark.name(), given.name());
            return Err(UserError::usage(
                Code::DataEncoding,
                message,
                "leave `encoding` out: the mark sets it",
            ));
        }
        let message = format!("{name} begins with a byte-order mark ({}), which is ignored", mark.name());
        remarks.push(DataNote::new(Code::ByteOrderMark, message, ""));
    }
    let encoding = marked.map(|(mark, _)| mark).or(given).unwrap_or(UTF_8);
    // In UTF-8, these would be ASCII characters with NUL between them.
    if encoding == UTF_8 && matches!(body, [0, second, ..] | [second, 0, ..] if *second != 0) {
        return Err(undecodable(name, body, encoding));
    }
    match encoding.decode_without_bom_handling_and_without_replacement(body) {
        Some(text) => Ok(text),
        None => Err(undecodable(name, body, encoding)),
    }
}

/// The first bytes of files that people pass instead of text: what they are, and what to do.
const MAGIC: [(&[u8], &str, &str); 4] = [
    (b"\x1f\x8b", "a gzip file", "decompress it with gunzip"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "decompress it with unzstd"),
    (b"PK\x03\x04", "a ZIP file or a spreadsheet", "unpack it, or save the spreadsheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet", "save it as CSV"),
];

fn known(name: &str, word: &str) -> Result<&'static Encoding, UserError> {
    Encoding::for_label(word.as_bytes()).filter(|found| found.name() != "replacement").ok_or_else(|| {
        UserError::usage(
            Code::DataEncoding,
            format!("`{word}` for {name} is not a known encoding"),
            "use `utf-8`, `windows-1252`, `latin1`, `utf-16`, or another name of the Encoding Standard",
        )
    })
}

fn undecodable(name: &str, body: &[u8], encoding: &'static Encoding) -> UserError {
    let (place, hint) = if encoding == UTF_8 {
        let valid = body.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
        let nul = memchr::memchr(0, body);
        let line = memchr::memchr_iter(b'\n', &body[..nul.unwrap_or(valid).min(valid)]).count() + 1;
        let hint = if nul.is_some() { "try `encoding: utf-16`" } else { "try `encoding: windows-1252`" };
        (format!("line {line} of {name}"), hint)
    } else {
        (name.to_owned(), "check `encoding`")
    };
    UserError::usage(Code::DataEncoding, format!("{place} is not {}", encoding.name()), hint)
}
