//! Scanning of JSON bytes without building a tree.
//!
//! Values other than the match are only skipped: strings, and brackets in pairs. The match itself
//! is checked in full. The scan reads to the end of the document, because the last of two equal
//! names counts, and because a document that is cut off is none.

use memchr::memchr2;

use super::error::ExtractError;
use crate::value::{JsonType, Values};

/// Maximum nesting depth of arrays and objects, as in `serde_json`.
const DEPTH_MAX: u32 = 127;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// Into an object.
    Name(Box<str>),
    /// Into an array.
    Index(usize),
}

/// Adds the value at `path`. Returns false if there is none.
pub(super) fn find(json: &[u8], path: &[Segment], finds: &mut Values) -> Result<bool, ExtractError> {
    let mut walk = Walk { json, at: 0 };
    for (depth, segment) in path.iter().enumerate() {
        let found = match segment {
            Segment::Name(name) => walk.enter_object(name.as_bytes())?,
            // The brackets of an inner array were counted when its container was scanned.
            Segment::Index(index) => walk.enter_array(*index, depth == 0)?,
        };
        if depth == 0 {
            walk.expect_end()?;
        }
        let Some(at) = found else { return Ok(false) };
        walk.at = at;
    }
    walk.take(finds)?;
    if path.is_empty() {
        walk.expect_end()?;
    }
    Ok(true)
}

/// Adds the elements of a JSON array, up to `count_max`, and returns their number. `each` uses it
/// for a value that is a list.
pub fn json_items(array: &[u8], count_max: usize, finds: &mut Values) -> Result<usize, ExtractError> {
    let mut walk = Walk { json: array, at: 0 };
    let mut count = 0;
    if walk.space() != Some(b'[') {
        return Err(ExtractError::NotJson);
    }
    walk.at += 1;
    let mut more = walk.space() != Some(b']');
    while more && count < count_max {
        walk.take(finds)?;
        count += 1;
        more = walk.goes_on(b']')?;
    }
    Ok(count)
}

struct Walk<'j> {
    json: &'j [u8],
    at: usize,
}

impl<'j> Walk<'j> {
    /// Skips white space and returns the next byte.
    fn space(&mut self) -> Option<u8> {
        while let Some(byte) = self.json.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    fn expect(&mut self, wanted: u8) -> Result<(), ExtractError> {
        if self.space() != Some(wanted) {
            return Err(ExtractError::NotJson);
        }
        self.at += 1;
        Ok(())
    }

    /// After an element: whether a comma follows, or `end`.
    fn goes_on(&mut self, end: u8) -> Result<bool, ExtractError> {
        match self.space() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(ExtractError::NotJson),
        }
    }

    /// Fails if anything follows the document.
    fn expect_end(&mut self) -> Result<(), ExtractError> {
        self.space().map_or(Ok(()), |_| Err(ExtractError::NotJson))
    }

    /// Moves behind an opening bracket. Returns false if another value is here, which is skipped.
    fn open(&mut self, bracket: u8) -> Result<bool, ExtractError> {
        match self.space() {
            Some(byte) if byte == bracket => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if begins_value(byte) => self.skip().map(|()| false),
            _ => Err(ExtractError::NotJson),
        }
    }

    /// Reads an object. Returns the position of the last value of `name`; `None` if this is not an
    /// object or has no such name.
    fn enter_object(&mut self, name: &[u8]) -> Result<Option<usize>, ExtractError> {
        if !self.open(b'{')? {
            return Ok(None);
        }
        if self.space() == Some(b'}') {
            self.at += 1;
            return Ok(None);
        }
        let mut found = None;
        loop {
            self.expect(b'"')?;
            let (key, escaped) = self.string()?;
            self.expect(b':')?;
            if (!escaped && key == name) || (escaped && is_escaped(key, name)) {
                found = Some(self.at);
            }
            self.skip()?;
            if !self.goes_on(b'}')? {
                return Ok(found);
            }
        }
    }

    /// Reads an array, up to its end if `whole`. Returns the position of the element at `index`;
    /// `None` if this is not an array or is too short.
    fn enter_array(&mut self, index: usize, whole: bool) -> Result<Option<usize>, ExtractError> {
        if !self.open(b'[')? {
            return Ok(None);
        }
        if self.space() == Some(b']') {
            self.at += 1;
            return Ok(None);
        }
        let (mut found, mut at) = (None, 0);
        loop {
            if at == index {
                found = Some(self.at);
                if !whole {
                    return Ok(found);
                }
            }
            self.skip()?;
            if !self.goes_on(b']')? {
                return Ok(found);
            }
            at += 1;
        }
    }

    /// Returns the inside of a string, and whether it has escapes. The first quote has been read
    /// already.
    fn string(&mut self) -> Result<(&'j [u8], bool), ExtractError> {
        let (start, mut escaped) = (self.at, false);
        loop {
            let rest = self.json.get(self.at..).unwrap_or_default();
            let Some(next) = memchr2(b'"', b'\\', rest) else { return Err(ExtractError::NotJson) };
            self.at += next + 1;
            if rest[next] == b'"' {
                return Ok((&self.json[start..self.at - 1], escaped));
            }
            escaped = true;
            self.at += 1;
        }
    }

    /// Skips one value.
    fn skip(&mut self) -> Result<(), ExtractError> {
        let (mut depth, mut objects) = (0_u32, 0_u128);
        self.space();
        loop {
            let Some(byte) = self.json.get(self.at) else { return Err(ExtractError::NotJson) };
            match byte {
                b'"' => {
                    self.at += 1;
                    self.string()?;
                }
                b'{' | b'[' => {
                    if depth == DEPTH_MAX {
                        return Err(ExtractError::NotJson);
                    }
                    objects = objects << 1 | u128::from(*byte == b'{');
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    if depth == 0 || (objects & 1 == 1) != (*byte == b'}') {
                        return Err(ExtractError::NotJson);
                    }
                    objects >>= 1;
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                _ => self.word()?,
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Skips a number or literal.
    fn word(&mut self) -> Result<(), ExtractError> {
        let is_end = |byte: &u8| {
            matches!(byte, b',' | b':' | b']' | b'}' | b'"' | b'[' | b'{') || byte.is_ascii_whitespace()
        };
        let rest = &self.json[self.at..];
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        self.at += length;
        if length == 0 { Err(ExtractError::NotJson) } else { Ok(()) }
    }

    /// Adds the current value and skips it.
    fn take(&mut self, finds: &mut Values) -> Result<(), ExtractError> {
        let first = self.space().ok_or(ExtractError::NotJson)?;
        let start = self.at;
        if first == b'"' {
            self.at += 1;
            let (inside, escaped) = self.string()?;
            if !escaped {
                let clean = !inside.iter().any(|byte| *byte < 0x20);
                return if clean {
                    fits(finds.push(JsonType::Text, inside))
                } else {
                    Err(ExtractError::NotJson)
                };
            }
            let mut broken = false;
            let added = finds.push_with(JsonType::Text, |out| {
                broken = unescape(inside, |bytes| out.extend_from_slice(bytes)).is_none();
                !broken
            });
            return if broken { Err(ExtractError::NotJson) } else { fits(added) };
        }
        self.skip()?;
        let text = &self.json[start..self.at];
        let kind = match text {
            b"true" | b"false" => JsonType::Bool,
            b"null" => JsonType::Null,
            [b'{' | b'[', ..] => JsonType::Json,
            number if is_number(number) => JsonType::Number,
            _ => return Err(ExtractError::NotJson),
        };
        fits(finds.push(kind, text))
    }
}

const fn begins_value(byte: u8) -> bool {
    matches!(byte, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
}

fn fits(added: bool) -> Result<(), ExtractError> {
    if added { Ok(()) } else { Err(ExtractError::TooLarge) }
}

/// Whether `text` is a JSON number (RFC 8259 §6).
fn is_number(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(text);
    if whole == 0 || (whole > 1 && text[0] == b'0') {
        return false;
    }
    let mut rest = &text[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent =
            exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
        let length = digits(exponent);
        return length > 0 && length == exponent.len();
    }
    rest.is_empty()
}

/// Whether `raw` equals `plain` once its escapes are resolved.
fn is_escaped(raw: &[u8], mut plain: &[u8]) -> bool {
    let mut same = true;
    let whole = unescape(raw, |bytes| match plain.strip_prefix(bytes) {
        Some(rest) => plain = rest,
        None => same = false,
    });
    whole.is_some() && same && plain.is_empty()
}

/// Passes the pieces of a string's plain text to `write`. Returns `None` if an escape is invalid.
fn unescape(raw: &[u8], mut write: impl FnMut(&[u8])) -> Option<()> {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        if rest[..at].iter().any(|byte| *byte < 0x20) {
            return None;
        }
        write(&rest[..at]);
        let [letter, behind @ ..] = &rest[at + 1..] else { return None };
        rest = behind;
        let plain = match letter {
            b'"' | b'\\' | b'/' => char::from(*letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = hex4(&mut rest)?;
                if (0xd800..0xdc00).contains(&first) {
                    rest = rest.strip_prefix(b"\\u")?;
                    let second = hex4(&mut rest)?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                    char::from_u32(0x10000 + (first - 0xd800) * 0x400 + second)?
                } else {
                    char::from_u32(first)?
                }
            }
            _ => return None,
        };
        write(plain.encode_utf8(&mut [0; 4]).as_bytes());
    }
    if rest.iter().any(|byte| *byte < 0x20) {
        return None;
    }
    write(rest);
    Some(())
}

fn hex4(rest: &mut &[u8]) -> Option<u32> {
    let (digits, behind) = rest.split_at_checked(4)?;
    *rest = behind;
    digits.iter().try_fold(0, |sum, digit| Some(sum * 16 + char::from(*digit).to_digit(16)?))
}
