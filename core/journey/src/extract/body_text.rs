//! [`BodyText`]: the body of a response as UTF-8, whatever its charset is.

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};
use memchr::{memchr, memmem};

use super::answer::ResponseView;

/// Number of bytes in which a page or document declares its charset (HTML §13.2.3.2).
const DECLARATION_BYTES_MAX: usize = 1024;

/// The body of a response as checks and extractions read it.
#[derive(Debug)]
pub(super) enum BodyText {
    /// The bytes as received, after a byte-order mark of this length.
    Received(usize),
    /// The bytes were in another charset.
    Decoded(String),
}

impl BodyText {
    /// Reads the body of `answer`. Its charset is the one of a byte-order mark, of `Content-Type`,
    /// or of the declaration at its start, in this order (WHATWG Encoding §6, RFC 7303 §3). Without
    /// any, the bytes stay as they are.
    pub(super) fn new(answer: &ResponseView<'_>) -> Self {
        let media_type = answer.headers("content-type").next().unwrap_or_default();
        if let Some((encoding, length)) = Encoding::for_bom(answer.body)
            && (encoding == UTF_8 || is_text(media_type))
        {
            return Self::decoded(encoding, answer.body, length);
        }
        let named = charset(media_type).and_then(Encoding::for_label);
        let encoding = named.or_else(|| declared(answer, media_type)).unwrap_or(UTF_8);
        Self::decoded(encoding, answer.body, 0)
    }

    fn decoded(encoding: &'static Encoding, body: &[u8], bom: usize) -> Self {
        let same = || encoding.is_ascii_compatible() && body.is_ascii();
        if encoding == UTF_8 || encoding == REPLACEMENT || same() {
            return Self::Received(bom);
        }
        Self::Decoded(encoding.decode_without_bom_handling(&body[bom..]).0.into_owned())
    }

    /// Returns the text of `body`, the body that was read.
    pub(super) fn of<'t>(&'t self, body: &'t [u8]) -> &'t [u8] {
        match self {
            Self::Received(bom) => &body[*bom..],
            Self::Decoded(text) => text.as_bytes(),
        }
    }
}

/// Whether a body of this media type is text. The first two bytes of another one may look like the
/// byte-order mark of UTF-16.
fn is_text(media_type: &[u8]) -> bool {
    let name = media_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    let ends = |end: &str| name.len() >= end.len() && starts_with(&name[name.len() - end.len()..], end);
    starts_with(name, "text/") || ["json", "xml", "javascript", "csv"].iter().any(|end| ends(end))
}

/// Whether the body is parsed like a page in a browser: the head declares HTML, or the body starts
/// like HTML.
pub(super) fn is_html(answer: &ResponseView<'_>) -> bool {
    let media_type = answer.headers("content-type").next().unwrap_or_default();
    if starts_with(media_type, "text/html") {
        return true;
    }
    let start = answer.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(answer.body).trim_ascii_start();
    !starts_with(media_type, "application/xhtml+xml")
        && (starts_with(start, "<!doctype html") || starts_with(start, "<html"))
}

/// Returns the `charset` of a media type.
fn charset(media_type: &[u8]) -> Option<&[u8]> {
    let mut parameters = media_type.split(|byte| *byte == b';').skip(1).map(<[u8]>::trim_ascii);
    let value = parameters.find_map(|one| {
        let at = one.iter().position(|byte| *byte == b'=')?;
        one[..at].trim_ascii().eq_ignore_ascii_case(b"charset").then(|| one[at + 1..].trim_ascii())
    })?;
    let inside = |quote: &[u8]| value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
    Some(inside(b"\"").or_else(|| inside(b"'")).unwrap_or(value))
}

/// Returns the charset that a page or an XML document declares at its start.
fn declared(answer: &ResponseView<'_>, media_type: &[u8]) -> Option<&'static Encoding> {
    let start = &answer.body[..answer.body.len().min(DECLARATION_BYTES_MAX)];
    let label = if is_html(answer) {
        of_page(start)?
    } else if starts_with(start, "<?xml") {
        of_xml(start)?
    } else if starts_with(media_type, "application/xhtml+xml") {
        of_page(start)?
    } else {
        return None;
    };
    let encoding = Encoding::for_label(label)?;
    // The declaration was read as ASCII.
    Some(if encoding == UTF_16BE || encoding == UTF_16LE { UTF_8 } else { encoding })
}

/// Returns the `encoding` of an XML declaration.
fn of_xml(start: &[u8]) -> Option<&[u8]> {
    let declaration = &start[..memmem::find(start, b"?>")?];
    attributes(&declaration[b"<?xml".len()..]).find(|(name, _)| *name == b"encoding").map(|(_, value)| value)
}

/// Returns the charset of the first `<meta>` of a page that has one.
fn of_page(start: &[u8]) -> Option<&[u8]> {
    let mut rest = start;
    while let Some(at) = memchr(b'<', rest) {
        rest = &rest[at..];
        if rest.starts_with(b"<!--") {
            rest = &rest[memmem::find(rest, b"-->")?..];
            continue;
        }
        let inside = &rest[1..];
        rest = inside;
        if starts_with(inside, "meta")
            && inside.get(4).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/')
        {
            let tag = &inside[4..memchr(b'>', inside)?];
            let value = |wanted: &str| {
                let mut found =
                    attributes(tag).filter(|(name, _)| name.eq_ignore_ascii_case(wanted.as_bytes()));
                found.next().map(|(_, value)| value)
            };
            let named = || {
                let equivalent = value("http-equiv")?.eq_ignore_ascii_case(b"content-type");
                equivalent.then(|| value("content").and_then(charset)).flatten()
            };
            if let Some(label) = value("charset").or_else(named) {
                return Some(label);
            }
        }
    }
    None
}

/// Iterates over the attributes of a tag: name and value, without quotes.
fn attributes(tag: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = tag;
    std::iter::from_fn(move || {
        rest = trim_start(rest);
        let end = rest.iter().position(|byte| *byte == b'=' || byte.is_ascii_whitespace());
        let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
        if name.is_empty() && behind.is_empty() {
            return None;
        }
        let Some(value) = behind.trim_ascii_start().strip_prefix(b"=") else {
            rest = behind;
            return Some((name, &b""[..]));
        };
        let value = value.trim_ascii_start();
        let (value, behind) = match value {
            [quote @ (b'"' | b'\''), inside @ ..] => {
                let end = memchr(*quote, inside).unwrap_or(inside.len());
                (&inside[..end], inside.get(end + 1..).unwrap_or_default())
            }
            _ => value.split_at(value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len())),
        };
        rest = behind;
        Some((name, value))
    })
}

fn trim_start(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != b'/');
    &text[start.unwrap_or(text.len())..]
}

fn starts_with(text: &[u8], start: &str) -> bool {
    text.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start.as_bytes()))
}
