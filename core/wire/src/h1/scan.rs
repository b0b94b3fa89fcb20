//! Scans a head line by line, whether it arrives whole or in pieces.
//!
//! A line is judged only when its end has arrived, so the result does not depend on how the head
//! was cut. Only the first bytes of the start line are judged early. A peer that speaks another
//! protocol is then detected immediately instead of by a timeout.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use super::bytes::{is_token, text_end, trim};
use super::error::Reason;
use super::framing::HeadFacts;
use super::limits::Packed;

/// The first line of a head.
pub(crate) trait StartLine: Copy {
    /// Whether a folded field line after this line counts as blanks.
    const UNFOLDS: bool = false;

    /// Checks whether a line may begin with these bytes. `begun` holds at least one byte, possibly
    /// beyond the line. [`Self::parse`] must return the same reason for every line that this
    /// refuses.
    fn check_begun(begun: &[u8]) -> Result<(), Reason>;

    /// Parses the line, given without its line end.
    fn parse(line: &[u8]) -> Result<Self, Reason>;
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
    /// The last field goes on in the next line.
    is_folded: bool,
}

impl<L: StartLine> HeadScanner<L> {
    pub(crate) fn new() -> Self {
        Self {
            start: None,
            fields_at: 0,
            facts: HeadFacts::default(),
            at: 0,
            searched: 0,
            fields: 0,
            is_folded: false,
        }
    }

    /// Continues with the head. `bytes` holds all of it that has arrived, possibly followed by
    /// more. Returns the head's length once its empty line is found.
    #[inline]
    pub(crate) fn advance(&mut self, bytes: &[u8], limits: &Packed) -> Result<Option<usize>, Reason> {
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
            match field_line(bytes, self.at) {
                HeaderLine::Field { name_end, value_end, next } => {
                    check_length(next, limits)?;
                    // Only the next byte shows that the field is over.
                    if L::UNFOLDS {
                        match bytes.get(next) {
                            Some(b' ' | b'\t') => {
                                self.is_folded = true;
                                return Err(Reason::FoldedLine);
                            }
                            Some(_) => {}
                            None => {
                                // Any byte will do, not only a line end.
                                self.searched = 0;
                                return Ok(None);
                            }
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
                    return Ok(Some(next));
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
    fn wait(&mut self, bytes: &[u8], limits: &Packed) -> Result<Option<usize>, Reason> {
        self.searched = bytes.len();
        check_length(bytes.len(), limits)?;
        Ok(None)
    }

    /// A bad line is judged when it is complete. The limit is checked first, as if the head had
    /// arrived in pieces.
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
    /// Valid so far, but the end has not arrived.
    Incomplete,
    /// Invalid, if its end has arrived.
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
    let end = match scan.advance(input, limits) {
        Err(Reason::FoldedLine) if scan.is_folded => {
            return unfold(partial, Box::new(Partial { bytes: input.to_vec(), scan }), limits);
        }
        end => end?,
    };
    let Some(end) = end else {
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
    let mut held = partial.take().expect("feed calls this only with a partial head");
    let before = held.bytes.len();
    // One byte more than allowed is enough to detect that there is too much.
    let room = (limits.head_bytes_max as usize + 1).saturating_sub(before);
    held.bytes.extend_from_slice(&input[..input.len().min(room)]);
    let end = match held.scan.advance(&held.bytes, limits) {
        Err(Reason::FoldedLine) if held.scan.is_folded => {
            return Ok(match unfold(partial, held, limits)? {
                ScanStatus::Whole { head, scan, consumed } => {
                    ScanStatus::Whole { head, scan, consumed: consumed - before }
                }
                ScanStatus::More => ScanStatus::More,
            });
        }
        end => end?,
    };
    let Some(end) = end else {
        *partial = Some(held);
        return Ok(ScanStatus::More);
    };
    held.bytes.truncate(end);
    Ok(ScanStatus::Whole { head: Cow::Owned(held.bytes), scan: held.scan, consumed: end - before })
}

/// Continues with a head that has a folded line, and waits until all of it has arrived. Its line
/// ends before blanks become blanks (RFC 9112 §5.2), which keeps its length.
#[cold]
fn unfold<'a, L: StartLine>(
    partial: &mut Option<Box<Partial<L>>>,
    mut held: Box<Partial<L>>,
    limits: &Packed,
) -> Result<ScanStatus<'a, L>, Reason> {
    let fields_at = held.scan.fields_at;
    let Some(end) = head_end(&held.bytes, fields_at) else {
        held.scan.wait(&held.bytes, limits)?;
        *partial = Some(held);
        return Ok(ScanStatus::More);
    };
    held.bytes.truncate(end);
    for at in fields_at..end - 1 {
        if held.bytes[at] == b'\n' && matches!(held.bytes[at + 1], b' ' | b'\t') {
            held.bytes[at] = b' ';
            if held.bytes[at - 1] == b'\r' {
                held.bytes[at - 1] = b' ';
            }
        }
    }
    let mut scan = HeadScanner::new();
    let whole = scan.advance(&held.bytes, limits)?;
    debug_assert_eq!(whole, Some(end), "the head is whole");
    Ok(ScanStatus::Whole { head: Cow::Owned(held.bytes), scan, consumed: end })
}

/// Returns where the empty line after the field lines ends.
fn head_end(bytes: &[u8], fields_at: usize) -> Option<usize> {
    let ends = memchr_iter(b'\n', &bytes[fields_at..]).map(|at| fields_at + at + 1);
    ends.filter_map(|next| match bytes[next..] {
        [b'\r', b'\n', ..] => Some(next + 2),
        [b'\n', ..] => Some(next + 1),
        _ => None,
    })
    .next()
}
