//! Scans a head line by line, whether it arrives whole or in pieces.
//!
//! A line is judged only when its end has arrived, so the result does not depend on how the head
//! was cut. Only the first bytes of the start line are judged early. A peer that speaks another
//! protocol is then detected immediately instead of by a timeout.

use std::borrow::Cow;

use memchr::memchr;

use super::bytes::{is_token, text_end, trim};
use super::error::Reason;
use super::framing::HeadFacts;
use super::limits::Packed;

/// The first line of a head.
pub(crate) trait StartLine: Copy {
    /// Whether a user agent reads the head. It must accept a field that continues in a line with
    /// white space at its start, and read the line end as blanks (RFC 9112 §5.2). It also accepts
    /// printable names of fields that are no tokens, as curl and browsers do. A server refuses
    /// both.
    const LENIENT: bool;

    /// Checks whether a line may begin with these bytes. `begun` holds at least one byte, possibly
    /// beyond the line. [`Self::parse`] must return the same reason for every line that this
    /// refuses.
    fn check_begun(begun: &[u8]) -> Result<(), Reason>;

    /// Parses the line, given without its line end.
    fn parse(line: &[u8]) -> Result<Self, Reason>;
}

/// The result of scanning the bytes of a head that have arrived.
pub(crate) enum Advance {
    /// More bytes are needed.
    More,
    /// The head is whole and has this length.
    Whole(usize),
    /// The line end in this range belongs to a field that continues in the next line. The scan
    /// must be repeated after [`unfold`].
    Folded { value_end: usize, next: usize },
}

/// The progress of the scan of one head, and its results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeadScanner<L> {
    /// The start line, once it was read.
    pub(crate) start: Option<L>,
    /// The offset of the field lines.
    pub(crate) fields_at: usize,
    /// The facts from the fields.
    pub(crate) facts: HeadFacts,
    /// The start of the first line that was not read yet.
    at: usize,
    /// Everything before this offset was searched for the end of that line.
    searched: usize,
    fields: u16,
}

impl<L: StartLine> HeadScanner<L> {
    pub(crate) fn new() -> Self {
        Self { start: None, fields_at: 0, facts: HeadFacts::default(), at: 0, searched: 0, fields: 0 }
    }

    /// Continues with the head. `bytes` holds all of it that has arrived, possibly followed by
    /// more.
    #[inline]
    pub(crate) fn advance(&mut self, bytes: &[u8], limits: &Packed) -> Result<Advance, Reason> {
        // A resumed scan searches only the new bytes for the end of the line it stopped in. A peer
        // that sends byte by byte must not cause its line to be read again each time.
        if self.searched > 0 && memchr(b'\n', &bytes[self.searched..]).is_none() {
            if self.start.is_none() {
                L::check_begun(bytes)?;
            }
            return self.wait(bytes, limits);
        }
        if self.start.is_none() && !self.read_start(bytes, limits)? {
            return self.wait(bytes, limits);
        }
        loop {
            match field_line::<L>(bytes, self.at) {
                HeaderLine::Field { name_end, value_end, next } => {
                    check_length(next, limits)?;
                    if L::LENIENT {
                        match bytes.get(next) {
                            Some(b' ' | b'\t') => return Ok(Advance::Folded { value_end, next }),
                            Some(_) => {}
                            None => return self.wait_for_fold(bytes, limits),
                        }
                    }
                    if self.fields >= limits.headers_max {
                        return Err(Reason::TooManyFields);
                    }
                    self.fields += 1;
                    let value = trim(&bytes[name_end + 1..value_end]);
                    self.facts.observe_field(&bytes[self.at..name_end], value)?;
                    self.at = next;
                }
                HeaderLine::Empty { next } => {
                    check_length(next, limits)?;
                    return Ok(Advance::Whole(next));
                }
                HeaderLine::Incomplete => return self.wait(bytes, limits),
                HeaderLine::Bad(reason) => return self.refuse(bytes, reason, limits),
            }
        }
    }

    /// Reads the start line if it is complete.
    #[inline]
    fn read_start(&mut self, bytes: &[u8], limits: &Packed) -> Result<bool, Reason> {
        if bytes.is_empty() {
            return Ok(false);
        }
        L::check_begun(bytes)?;
        let Some(end) = memchr(b'\n', bytes) else { return Ok(false) };
        check_length(end + 1, limits)?;
        let line = &bytes[..end];
        self.start = Some(L::parse(line.strip_suffix(b"\r").unwrap_or(line))?);
        self.at = end + 1;
        self.fields_at = end + 1;
        Ok(true)
    }

    /// Asks for more bytes, unless there are too many already.
    #[cold]
    fn wait(&mut self, bytes: &[u8], limits: &Packed) -> Result<Advance, Reason> {
        self.searched = bytes.len();
        check_length(bytes.len(), limits)?;
        Ok(Advance::More)
    }

    /// Asks for the byte after a field, which decides whether the field continues. The line end
    /// counts as not searched, so that the field is judged when that byte arrives.
    #[cold]
    fn wait_for_fold(&mut self, bytes: &[u8], limits: &Packed) -> Result<Advance, Reason> {
        let more = self.wait(bytes, limits);
        self.searched = bytes.len() - 1;
        more
    }

    /// A bad line is judged when it is complete. The limit is checked first, as if the head had
    /// arrived in pieces.
    #[cold]
    fn refuse(&mut self, bytes: &[u8], reason: Reason, limits: &Packed) -> Result<Advance, Reason> {
        match memchr(b'\n', &bytes[self.at..]) {
            None => self.wait(bytes, limits),
            Some(end) => {
                check_length(self.at + end + 1, limits)?;
                Err(reason)
            }
        }
    }
}

#[inline]
const fn check_length(length: usize, limits: &Packed) -> Result<(), Reason> {
    if length > limits.head_bytes_max as usize { Err(Reason::HeadTooLarge) } else { Ok(()) }
}

/// One line after the start line.
enum HeaderLine {
    /// A field; `value_end` is where its text ends, `next` where the next line begins.
    Field { name_end: usize, value_end: usize, next: usize },
    /// The empty line that ends the head.
    Empty { next: usize },
    /// Valid so far, but the end has not arrived.
    Incomplete,
    /// Invalid, if its end has arrived.
    Bad(Reason),
}

/// Reads the line that begins at `start`.
#[inline]
fn field_line<L: StartLine>(bytes: &[u8], start: usize) -> HeaderLine {
    let mut at = start;
    while let Some(&byte) = bytes.get(at)
        && is_token(byte)
    {
        at += 1;
    }
    match bytes.get(at) {
        Some(b':') if at > start => {}
        Some(byte) if L::LENIENT && !matches!(byte, b'\r' | b'\n') => match odd_name(bytes, start, at) {
            Ok(name_end) => at = name_end,
            Err(line) => return line,
        },
        Some(_) => return no_colon(bytes, start, at),
        None => return HeaderLine::Incomplete,
    }
    let value_end = text_end(bytes, at + 1);
    match line_end(bytes, value_end) {
        Ok(Some(next)) => HeaderLine::Field { name_end: at, value_end, next },
        Ok(None) => HeaderLine::Incomplete,
        Err(reason) => HeaderLine::Bad(reason),
    }
}

/// Returns where a name ends that is no token, but printable. `at` is its first odd byte.
#[cold]
fn odd_name(bytes: &[u8], start: usize, at: usize) -> Result<usize, HeaderLine> {
    let is_text = |byte: u8| byte >= b' ' && byte != 0x7f || byte == b'\t';
    let Some(length) = bytes[at..].iter().position(|&byte| byte == b':' || !is_text(byte)) else {
        return Err(HeaderLine::Incomplete);
    };
    let is_blank = |at: usize| matches!(bytes[at], b' ' | b'\t');
    let end = at + length;
    Err(if is_blank(start) {
        HeaderLine::Bad(Reason::FoldedLine)
    } else if bytes[end] != b':' {
        no_colon(bytes, start, end)
    } else if end > start && is_blank(end - 1) {
        HeaderLine::Bad(Reason::SpaceBeforeColon)
    } else {
        return Ok(end);
    })
}

/// Returns where the next line begins if this one ends at `at`, with CRLF or with a bare LF.
#[inline]
fn line_end(bytes: &[u8], at: usize) -> Result<Option<usize>, Reason> {
    match bytes.get(at..).unwrap_or_default() {
        [b'\r', b'\n', ..] => Ok(Some(at + 2)),
        [b'\n', ..] => Ok(Some(at + 1)),
        [b'\r', _, ..] => Err(Reason::BareCr),
        [] | [b'\r'] => Ok(None),
        _ => Err(Reason::ControlByte),
    }
}

/// The line does not begin with a name and a colon: it is empty or invalid.
fn no_colon(bytes: &[u8], start: usize, at: usize) -> HeaderLine {
    if at == start && matches!(bytes[at], b'\r' | b'\n') {
        return match line_end(bytes, at) {
            Ok(Some(next)) => HeaderLine::Empty { next },
            Ok(None) => HeaderLine::Incomplete,
            Err(reason) => HeaderLine::Bad(reason),
        };
    }
    HeaderLine::Bad(match bytes[at] {
        b' ' | b'\t' if at == start => Reason::FoldedLine,
        b' ' | b'\t' => {
            // Space before the colon is a known smuggling trick. A line without any colon is just
            // not a field.
            let line = &bytes[at..text_end(bytes, at)];
            if trim(line).first() == Some(&b':') { Reason::SpaceBeforeColon } else { Reason::BadFieldName }
        }
        b'\r' if bytes.get(at + 1).is_some_and(|&next| next != b'\n') => Reason::BareCr,
        b'\r' | b'\n' => Reason::MissingColon,
        byte if byte < b' ' || byte == 0x7f => Reason::ControlByte,
        _ => Reason::BadFieldName,
    })
}

/// A head that has arrived in pieces so far.
#[derive(Debug)]
pub(crate) struct Partial<L> {
    bytes: Vec<u8>,
    scan: HeadScanner<L>,
}

/// The result of feeding bytes to a head.
pub(crate) enum ScanStatus<'a, L> {
    /// All of the input was consumed and more is needed.
    More,
    /// The head is whole: its bytes, the results of the scan, and how much of this input it
    /// consumed.
    Whole { head: Cow<'a, [u8]>, scan: HeadScanner<L>, consumed: usize },
}

/// Feeds `input` to a head; `partial` holds its earlier pieces.
///
/// The usual head arrives whole and is never copied. Only a head that was cut by a read is
/// gathered, in separate memory that is freed with it.
#[inline]
pub(crate) fn feed<'a, L: StartLine>(
    partial: &mut Option<Box<Partial<L>>>,
    input: &'a [u8],
    limits: &Packed,
) -> Result<ScanStatus<'a, L>, Reason> {
    if partial.is_some() {
        return gather(partial, input, limits);
    }
    let mut scan = HeadScanner::new();
    match scan.advance(input, limits)? {
        Advance::Whole(end) => {
            Ok(ScanStatus::Whole { head: Cow::Borrowed(&input[..end]), scan, consumed: end })
        }
        Advance::More => {
            *partial = Some(Box::new(Partial { bytes: input.to_vec(), scan }));
            Ok(ScanStatus::More)
        }
        // The line end is overwritten, which needs a copy.
        Advance::Folded { .. } => {
            *partial = Some(Box::new(Partial { bytes: Vec::new(), scan }));
            gather(partial, input, limits)
        }
    }
}

#[cold]
fn gather<'a, L: StartLine>(
    partial: &mut Option<Box<Partial<L>>>,
    input: &[u8],
    limits: &Packed,
) -> Result<ScanStatus<'a, L>, Reason> {
    let mut held = partial.take().expect("feed calls this only with a partial head");
    let before = held.bytes.len();
    // One byte more than allowed is enough to detect that there is too much.
    let room = (limits.head_bytes_max as usize + 1).saturating_sub(before);
    held.bytes.extend_from_slice(&input[..input.len().min(room)]);
    loop {
        match held.scan.advance(&held.bytes, limits)? {
            Advance::Folded { value_end, next } => unfold(&mut held.bytes, value_end, next),
            Advance::More => {
                *partial = Some(held);
                return Ok(ScanStatus::More);
            }
            Advance::Whole(end) => {
                held.bytes.truncate(end);
                let head = Cow::Owned(held.bytes);
                return Ok(ScanStatus::Whole { head, scan: held.scan, consumed: end - before });
            }
        }
    }
}

/// Overwrites the line end from `value_end` to `next` with blanks, and those of all valid lines
/// after it that belong to the same field.
fn unfold(bytes: &mut [u8], mut value_end: usize, mut next: usize) {
    while matches!(bytes.get(next), Some(b' ' | b'\t')) {
        bytes[value_end..next].fill(b' ');
        value_end = text_end(bytes, next);
        let Ok(Some(after)) = line_end(bytes, value_end) else { return };
        next = after;
    }
}
