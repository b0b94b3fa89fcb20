//! Scanning a head line by line, whether it arrives whole or in pieces.
//!
//! A line is judged when its end has arrived, never before, so that what is said about a head does
//! not depend on how it was cut. Only the first bytes of the start line are judged early: a peer that
//! speaks something else altogether is told at once instead of by a timeout.

use std::borrow::Cow;

use memchr::memchr;

use super::bytes::{is_token, text_end, trim};
use super::error::Reason;
use super::framing::HeadFacts;
use super::limits::Packed;

/// The first line of a head.
pub(crate) trait StartLine: Copy {
    /// Whether a line may begin like this. `begun` holds at least one byte, perhaps beyond the line.
    /// [`Self::parse`] must give the same reason for every line that this refuses.
    fn check_begun(begun: &[u8]) -> Result<(), Reason>;

    /// Reads the line, given without its end.
    fn parse(line: &[u8]) -> Result<Self, Reason>;
}

/// How far the scan of one head has come, and what it has found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeadScanner<L> {
    /// The start line, once it is read.
    pub(crate) start: Option<L>,
    /// Where the field lines begin.
    pub(crate) fields_at: usize,
    /// What the fields said.
    pub(crate) facts: HeadFacts,
    /// Where the first line that is not yet read begins.
    at: usize,
    /// Everything before this was searched for the end of that line.
    searched: usize,
    fields: u16,
}

impl<L: StartLine> HeadScanner<L> {
    pub(crate) fn new() -> Self {
        Self { start: None, fields_at: 0, facts: HeadFacts::default(), at: 0, searched: 0, fields: 0 }
    }

    /// Goes on with the head, `bytes` being all of it that has arrived and perhaps more.
    /// Returns the head's length once its empty line is found.
    #[inline]
    pub(crate) fn advance(&mut self, bytes: &[u8], limits: &Packed) -> Result<Option<usize>, Reason> {
        // A resumed scan looks for the end of the line it stopped in among the new bytes only:
        // a peer that sends byte by byte must not make us read its line again each time.
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
            match field_line(bytes, self.at) {
                HeaderLine::Field { name_end, value_end, next } => {
                    check_length(next, limits)?;
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
                    return Ok(Some(next));
                }
                HeaderLine::Incomplete => return self.wait(bytes, limits),
                HeaderLine::Bad(reason) => return self.refuse(bytes, reason, limits),
            }
        }
    }

    /// Reads the start line if all of it is there.
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

    /// More is needed, unless there is too much already.
    #[cold]
    fn wait(&mut self, bytes: &[u8], limits: &Packed) -> Result<Option<usize>, Reason> {
        self.searched = bytes.len();
        check_length(bytes.len(), limits)?;
        Ok(None)
    }

    /// A bad line is judged when it is complete, and the limit first, as if it had come in pieces.
    #[cold]
    fn refuse(&mut self, bytes: &[u8], reason: Reason, limits: &Packed) -> Result<Option<usize>, Reason> {
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
    /// Nothing wrong so far, but the end has not come.
    Incomplete,
    /// Wrong, if its end has come.
    Bad(Reason),
}

/// Reads the line that begins at `start`.
#[inline]
fn field_line(bytes: &[u8], start: usize) -> HeaderLine {
    let mut at = start;
    while let Some(&byte) = bytes.get(at)
        && is_token(byte)
    {
        at += 1;
    }
    match bytes.get(at) {
        Some(b':') if at > start => {}
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

/// Where the next line begins if this one ends at `at`, with CRLF or with a bare LF.
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

/// The line does not begin with a name and a colon: it is the empty line, or wrong.
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
            // Space before the colon is the famous trick; without any colon it is just not a field.
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

/// What came of feeding bytes to a head.
pub(crate) enum ScanStatus<'a, L> {
    /// All of the input was taken and more is needed.
    More,
    /// The head is whole: its bytes, what the scan found, and how much of this input it took.
    Whole { head: Cow<'a, [u8]>, scan: HeadScanner<L>, consumed: usize },
}

/// Feeds `input` to a head of which `partial` holds the earlier pieces. The usual head comes whole and
/// is never copied; only a head cut by a read is gathered, in memory of its own that is freed with it.
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
    let Some(end) = scan.advance(input, limits)? else {
        *partial = Some(Box::new(Partial { bytes: input.to_vec(), scan }));
        return Ok(ScanStatus::More);
    };
    Ok(ScanStatus::Whole { head: Cow::Borrowed(&input[..end]), scan, consumed: end })
}

#[cold]
fn gather<'a, L: StartLine>(
    partial: &mut Option<Box<Partial<L>>>,
    input: &[u8],
    limits: &Packed,
) -> Result<ScanStatus<'a, L>, Reason> {
    let mut held = partial.take().expect("feed calls this only with a head begun");
    let before = held.bytes.len();
    // One byte more than allowed is enough to find out that there is too much.
    let room = (limits.head_bytes_max as usize + 1).saturating_sub(before);
    held.bytes.extend_from_slice(&input[..input.len().min(room)]);
    let Some(end) = held.scan.advance(&held.bytes, limits)? else {
        *partial = Some(held);
        return Ok(ScanStatus::More);
    };
    held.bytes.truncate(end);
    Ok(ScanStatus::Whole { head: Cow::Owned(held.bytes), scan: held.scan, consumed: end - before })
}
