//! [`HeadCache`]: skips parsing a response head that equals the previous one, which is common under
//! load.

use super::error::ParseError;
use super::response_reader::{Progress, ResponseEnd, ResponseReader, ResponseSink};

/// A longer head is parsed each time.
const HEAD_BYTES_MAX: usize = 2_048;

/// Remembers the head of the last response that arrived whole, byte for byte, and the result of
/// parsing it.
///
/// Equal bytes have equal meaning, so a response that begins with them need not be parsed again.
/// Servers change only the date, once a second. One cache serves any number of readers with the
/// same limits.
#[derive(Clone, Debug, Default)]
pub struct HeadCache {
    head: Vec<u8>,
    read_as: Option<(bool, ResponseEnd)>,
    /// The head sets cookies, so a response like it must always be parsed for the cookies.
    sets_cookies: bool,
}

impl HeadCache {
    /// Creates an empty cache.
    pub const fn new() -> Self {
        Self { head: Vec::new(), read_as: None, sets_cookies: false }
    }

    /// Returns the result for the whole response at the start of `input`, if its head is the
    /// remembered one.
    #[inline]
    fn recall(&self, input: &[u8], head_request: bool) -> Option<Progress> {
        let (of_head_request, answer) = self.read_as?;
        let consumed = self.head.len() + answer.body_bytes as usize;
        (of_head_request == head_request && input.len() >= consumed && input.starts_with(&self.head))
            .then_some(Progress { consumed, answer: Some(answer) })
    }

    /// Remembers `answer`, which was read from all of `input`, if `input` is just a head and a
    /// body. An interim response before it, or framing inside the body, prevents this.
    fn learn(&mut self, input: &[u8], head_request: bool, answer: ResponseEnd) {
        let head_bytes = answer.head_bytes as usize;
        if head_bytes > HEAD_BYTES_MAX || input.len() as u64 != head_bytes as u64 + answer.body_bytes {
            return;
        }
        self.head.clear();
        self.head.extend_from_slice(&input[..head_bytes]);
        self.read_as = Some((head_request, answer));
        self.sets_cookies = sets_cookies(&self.head);
    }
}

impl ResponseReader {
    /// Like [`ResponseReader::read`] without keeping anything, and faster if responses are alike.
    #[inline]
    pub fn read_cached(&mut self, input: &[u8], last: &mut HeadCache) -> Result<Progress, ParseError> {
        if !self.is_fresh() {
            return self.read(input, &mut ());
        }
        let head_request = self.answers_head();
        if let Some(progress) = last.recall(input, head_request) {
            self.skip();
            return Ok(progress);
        }
        let progress = self.read(input, &mut ())?;
        if let Some(answer) = progress.answer {
            last.learn(&input[..progress.consumed], head_request, answer);
        }
        Ok(progress)
    }
}

impl ResponseReader {
    /// Like [`read_cached`](Self::read_cached), but passes responses that set cookies to `sink`.
    /// The sink may see all or nothing of any other response.
    #[inline]
    pub fn read_cookies<S: ResponseSink>(
        &mut self,
        input: &[u8],
        last: &mut HeadCache,
        sink: &mut S,
    ) -> Result<Progress, ParseError> {
        if !self.is_fresh() {
            return self.read(input, sink);
        }
        let head_request = self.answers_head();
        if !last.sets_cookies
            && let Some(progress) = last.recall(input, head_request)
        {
            self.skip();
            return Ok(progress);
        }
        let progress = self.read(input, sink)?;
        if let Some(answer) = progress.answer {
            last.learn(&input[..progress.consumed], head_request, answer);
        }
        Ok(progress)
    }
}

/// Whether a head has a `Set-Cookie` field.
fn sets_cookies(head: &[u8]) -> bool {
    const NAME: &[u8] = b"\nset-cookie:";
    head.windows(NAME.len()).any(|window| window.eq_ignore_ascii_case(NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `inputs` one after the other, with and without a cache; the results must be equal.
    /// Each input is a response of its own, possibly followed by more bytes.
    fn check(inputs: &[(&[u8], bool)]) {
        let mut last = HeadCache::new();
        for (input, head_request) in inputs {
            let (mut plain, mut alike) = (ResponseReader::default(), ResponseReader::default());
            plain.expect(*head_request);
            alike.expect(*head_request);
            let expect = plain.read(input, &mut ());
            assert_eq!(alike.read_cached(input, &mut last), expect, "{}", input.escape_ascii());
            assert_eq!((alike.is_idle(), alike.has_begun()), (plain.is_idle(), plain.has_begun()));
            assert_eq!(alike.eof(), plain.eof(), "{}", input.escape_ascii());
        }
    }

    #[test]
    fn memory_changes_no_outcome() {
        let five: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        check(&[(five, false), (five, false), (five, true), (five, false)]);
        check(&[(five, false), (&five[..five.len() - 1], false), (&five[..20], false), (five, false)]);
        check(&[(five, false), (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP", false)]);
        check(&[(five, false), (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello!", false)]);
        check(&[(five, false), (b"HTTP/1.1 500 No\r\nContent-Length: 5\r\n\r\nhello", false), (five, false)]);
        let chunked: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
        check(&[(chunked, false), (chunked, false), (&chunked[..chunked.len() - 5], false)]);
        let interim: &[u8] = b"HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        check(&[(interim, false), (interim, false), (&interim[18..], false), (interim, false)]);
        let close: &[u8] = b"HTTP/1.0 200 OK\r\n\r\nuntil";
        check(&[(close, false), (close, false), (b"HTTP/1.0 200 OK\r\n\r\n", true), (close, false)]);
        check(&[(b"HTTP/1.1 204 x\r\n\r\n", false), (b"HTTP/1.1 204 x\r\n\r\n", true), (b"", false)]);
    }

    #[test]
    fn what_was_read_before_is_recalled() {
        let answer: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        let mut last = HeadCache::new();
        let mut reader = ResponseReader::default();
        assert_eq!(last.recall(answer, false), None);
        reader.expect(false);
        let read = reader.read_cached(answer, &mut last).unwrap();
        assert_eq!(last.recall(answer, false), Some(read));
    }

    #[test]
    fn answers_that_set_cookies_are_always_shown() {
        struct Heads(usize);
        impl ResponseSink for Heads {
            fn head(&mut self, _head: &crate::h1::ResponseHead<'_>) {
                self.0 += 1;
            }
        }
        let check = |answer: &[u8], shown: usize| {
            let (mut last, mut reader, mut heads) = (HeadCache::new(), ResponseReader::default(), Heads(0));
            for _ in 0..3 {
                reader.expect(false);
                let progress = reader.read_cookies(answer, &mut last, &mut heads).unwrap();
                assert!(progress.answer.is_some(), "{}", answer.escape_ascii());
            }
            assert_eq!(heads.0, shown, "{}", answer.escape_ascii());
        };
        check(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 1);
        check(b"HTTP/1.1 200 OK\r\nset-Cookie: a=b\r\nContent-Length: 2\r\n\r\nok", 3);
        check(b"HTTP/1.1 200 OK\r\nX: set-cookie\r\nContent-Length: 2\r\n\r\nok", 1);
    }
}
