//! [`PlanFetch`]: fetches the text of a plan, piece by piece.

use std::sync::Arc;

use wavetank_link::CONTROLLER_LINE_BYTES_MAX;

use crate::controller::hash_of;
use crate::packet::{Packet, PlanName};

/// Bytes that are requested ahead of those that arrived.
const AHEAD_BYTES: usize = 4 << 20;

/// A plan of which pieces have arrived.
#[derive(Debug)]
pub(crate) struct PlanFetch {
    name: PlanName,
    data: Vec<u8>,
    /// Bytes that were requested.
    requested: usize,
    /// Whether a piece arrived since the last look.
    progressed: bool,
}

/// What a piece led to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fetched {
    /// The plan is complete, and has its hash.
    Plan(Arc<str>),
    /// More pieces are to come.
    Incomplete,
    /// The pieces are not those of the plan.
    Damaged,
}

impl PlanFetch {
    /// Starts to fetch a plan. `None` if it is longer than any plan.
    pub(crate) fn new(name: PlanName) -> Option<Self> {
        let fits = name.bytes <= CONTROLLER_LINE_BYTES_MAX;
        fits.then(|| Self { name, data: Vec::new(), requested: 0, progressed: true })
    }

    pub(crate) const fn name(&self) -> &PlanName {
        &self.name
    }

    /// Takes a piece. One that is not the next is dropped.
    pub(crate) fn add(&mut self, hash: &str, offset: usize, piece: &[u8]) -> Fetched {
        if hash != self.name.hash || offset != self.data.len() || piece.is_empty() {
            return Fetched::Incomplete;
        }
        self.data.extend_from_slice(piece);
        self.progressed = true;
        if self.data.len() < self.name.bytes {
            return Fetched::Incomplete;
        }
        match String::from_utf8(std::mem::take(&mut self.data)) {
            Ok(text) if text.len() == self.name.bytes && hash_of(&text) == self.name.hash => {
                Fetched::Plan(text.into())
            }
            _ => Fetched::Damaged,
        }
    }

    /// Requests again what was requested in vain since the last call.
    pub(crate) fn retry(&mut self) {
        if !std::mem::take(&mut self.progressed) {
            self.requested = self.data.len();
        }
    }

    /// Returns the next request, for at most `length` bytes.
    pub(crate) fn poll(&mut self, length: usize) -> Option<Packet> {
        let until = self.name.bytes.min(self.data.len() + AHEAD_BYTES);
        if self.requested >= until || length == 0 {
            return None;
        }
        let offset = self.requested;
        let length = length.min(self.name.bytes - offset);
        self.requested += length;
        Some(Packet::Want { hash: self.name.hash.clone(), offset, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetch(text: &str) -> PlanFetch {
        PlanFetch::new(PlanName { hash: hash_of(text), bytes: text.len() }).expect("it is short")
    }

    fn requests(fetch: &mut PlanFetch, length: usize) -> Vec<(usize, usize)> {
        let of = |packet| match packet {
            Packet::Want { offset, length, .. } => (offset, length),
            other => panic!("{other:?}"),
        };
        std::iter::from_fn(|| fetch.poll(length)).map(of).collect()
    }

    #[test]
    fn lost_pieces_are_requested_again() {
        let text = "abcdefgh";
        let hash = hash_of(text);
        let mut fetch = fetch(text);
        assert_eq!(requests(&mut fetch, 3), [(0, 3), (3, 3), (6, 2)]);
        assert_eq!(fetch.add(&hash, 0, b"abc"), Fetched::Incomplete);
        assert_eq!(fetch.add(&hash, 6, b"gh"), Fetched::Incomplete, "a piece is missing");
        assert_eq!(fetch.add("other", 3, b"xyz"), Fetched::Incomplete);
        fetch.retry();
        assert_eq!(requests(&mut fetch, 3), [], "there was progress");
        fetch.retry();
        assert_eq!(requests(&mut fetch, 4), [(3, 4), (7, 1)]);
        assert_eq!(fetch.add(&hash, 3, b"defg"), Fetched::Incomplete);
        assert_eq!(fetch.add(&hash, 7, b"h"), Fetched::Plan(text.into()));
    }

    #[test]
    fn the_hash_decides() {
        let hash = hash_of("abc");
        assert_eq!(fetch("abc").add(&hash, 0, b"abd"), Fetched::Damaged);
        assert_eq!(fetch("abc").add(&hash, 0, b"abcd"), Fetched::Damaged);
        let long = PlanName { hash, bytes: CONTROLLER_LINE_BYTES_MAX + 1 };
        assert!(PlanFetch::new(long).is_none());
    }

    #[test]
    fn requests_are_limited() {
        let bytes = 3 * AHEAD_BYTES;
        let name = PlanName { hash: "x".to_owned(), bytes };
        let mut fetch = PlanFetch::new(name).expect("it fits");
        let piece = 1 << 20;
        assert_eq!(requests(&mut fetch, piece).len(), AHEAD_BYTES / piece);
        fetch.add("x", 0, &vec![0; piece]);
        assert_eq!(requests(&mut fetch, piece), [(AHEAD_BYTES, piece)]);
    }
}
