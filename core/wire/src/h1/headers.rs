//! Iterates over the fields of a head.

use memchr::memchr;

use super::bytes::trim;

/// Iterates over the fields of a head that has been read, in order of arrival, as (name, value).
/// Values come without white space at either end; neither needs to be UTF-8.
#[derive(Clone, Debug)]
pub struct Headers<'a> {
    rest: &'a [u8],
}

impl<'a> Headers<'a> {
    /// Iterates over `fields`: field lines as received, up to their end or an empty line. A line
    /// without a colon ends the iteration.
    pub const fn new(fields: &'a [u8]) -> Self {
        Self { rest: fields }
    }

    /// Returns the value of the first field of that name, ignoring case.
    pub(crate) fn find(mut self, wanted: &str) -> Option<&'a [u8]> {
        self.find_map(|(name, value)| name.eq_ignore_ascii_case(wanted.as_bytes()).then_some(value))
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if matches!(self.rest, [] | [b'\r' | b'\n', ..]) {
            return None;
        }
        let end = memchr(b'\n', self.rest)?;
        let (line, rest) = (&self.rest[..end], &self.rest[end + 1..]);
        self.rest = rest;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let colon = memchr(b':', line)?;
        Some((&line[..colon], trim(&line[colon + 1..])))
    }
}
