//! [`RequestQueue`]: the requests of one connection, those under way and behind them those that wait for it.

use std::collections::VecDeque;

use wavetank_plan::Nanos;

use crate::request_flags::RequestFlags;
use crate::slab::Id;

/// A request on its way through a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueuedRequest {
    /// The exchange it belongs to.
    pub(crate) exchange: Id,
    /// When it times out.
    pub(crate) deadline: Nanos,
    /// Which request.
    pub(crate) scenario: u16,
    /// Which request.
    pub(crate) step: u16,
    /// It was on a connection that was lost, and is older than all that wait.
    pub(crate) again: bool,
    /// Where it goes: index into the plan's targets.
    pub(crate) target: u16,
    /// What is to be known of it and its answer.
    pub(crate) manner: RequestFlags,
}

/// See the module's description. Nearly every connection has one at most: that one lies here, and a million idle
/// connections hold no queue.
#[derive(Default)]
pub(crate) struct RequestQueue {
    first: Option<QueuedRequest>,
    /// Behind the first.
    #[expect(
        clippy::box_collection,
        reason = "a seat pays for the pointer, not for the queue it seldom has"
    )]
    more: Option<Box<VecDeque<QueuedRequest>>>,
    /// So many of them are under way.
    sent: u32,
    /// So many of those, the last ones, the kernel did not take: the connection is at its end.
    refused: u32,
}

impl RequestQueue {
    /// How many are under way.
    #[inline]
    pub(crate) fn sent(&self) -> usize {
        self.sent as usize
    }

    /// The one whose answer comes next.
    #[inline]
    pub(crate) fn first_sent(&self) -> Option<QueuedRequest> {
        if self.sent > self.refused { self.first } else { None }
    }

    /// One more of those under way, the last ones, was not sent after all: no answer is its.
    pub(crate) fn refuse(&mut self) {
        self.refused = self.sent.min(self.refused + 1);
    }

    /// Whether that happened on this connection.
    #[inline]
    pub(crate) fn is_refused(&self) -> bool {
        self.refused > 0
    }

    /// The first of them, on a connection that is closed.
    pub(crate) fn pop_cut(&mut self) -> Option<QueuedRequest> {
        self.refused = 0;
        self.pop_sent()
    }

    /// It is answered, or will not be.
    #[inline]
    pub(crate) fn pop_sent(&mut self) -> Option<QueuedRequest> {
        self.sent = self.sent.checked_sub(1)?;
        if self.more.is_none() { self.first.take() } else { self.pop_first() }
    }

    /// One more is under way, behind the others.
    #[inline]
    pub(crate) fn push_sent(&mut self, flight: QueuedRequest) {
        self.sent += 1;
        if self.first.is_none() {
            self.first = Some(flight);
        } else {
            self.insert(self.sent() - 1, flight);
        }
    }

    /// One waits; one that is tried again, ahead of those that wait.
    #[inline]
    pub(crate) fn wait(&mut self, flight: QueuedRequest) {
        if self.first.is_none() {
            self.first = Some(flight);
            return;
        }
        let place = if flight.again { self.sent() } else { self.len() };
        self.insert(place, flight);
    }

    /// The first of those that wait.
    #[inline]
    pub(crate) fn first_waiting(&self) -> Option<QueuedRequest> {
        match self.sent.checked_sub(1) {
            None => self.first,
            Some(behind) => self.more.as_ref()?.get(behind as usize).copied(),
        }
    }

    /// It waits no longer.
    #[inline]
    pub(crate) fn take_waiting(&mut self) -> Option<QueuedRequest> {
        // After most answers nobody waits, and nobody else is under way; on a new connection one waits.
        if self.first.is_none() {
            None
        } else if self.sent == 0 && self.more.is_none() {
            self.first.take()
        } else {
            self.pop_waiting()
        }
    }

    #[cold]
    fn pop_waiting(&mut self) -> Option<QueuedRequest> {
        match self.sent.checked_sub(1) {
            None => self.pop_first(),
            Some(behind) => self.more.as_mut()?.remove(behind as usize),
        }
    }

    /// When the first of them times out. They are few, and need not be in the order of that.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        let first = self.first.as_ref()?.deadline;
        Some(self.more.as_ref().map_or(first, |more| first.min(earliest(more))))
    }

    /// Whether there are none at all.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none() && self.sent == 0
    }

    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.as_ref().map_or(0, |more| more.len())
    }

    #[cold]
    fn pop_first(&mut self) -> Option<QueuedRequest> {
        let next = self.more.as_mut().and_then(|more| more.pop_front());
        std::mem::replace(&mut self.first, next)
    }

    #[cold]
    fn insert(&mut self, place: usize, flight: QueuedRequest) {
        if place > 0 {
            self.more.get_or_insert_default().insert(place - 1, flight);
        } else if let Some(second) = self.first.replace(flight) {
            self.more.get_or_insert_default().push_front(second);
        }
    }
}

#[cold]
fn earliest(flights: &VecDeque<QueuedRequest>) -> Nanos {
    flights.iter().map(|flight| flight.deadline).fold(Nanos::MAX, Nanos::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slab::Slab;

    /// Against two plain queues, through every mixture of calls that a small generator makes of `seed`.
    fn check(seed: u64) {
        let mut slab = Slab::new();
        let mut flights = RequestQueue::default();
        let (mut sent, mut waiting) = (VecDeque::new(), VecDeque::new());
        let mut state = seed;
        for round in 0..2_000 {
            // Knuth's MMIX generator; the upper bits are good.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let again = state >> 40 & 1 == 1;
            let deadline = Nanos((state >> 45 & 0xff).cast_signed());
            let flight = QueuedRequest {
                exchange: slab.insert(()),
                deadline,
                scenario: 0,
                step: round,
                again,
                target: 0,
                manner: RequestFlags::default(),
            };
            match state >> 60 {
                0..=3 => {
                    flights.push_sent(flight);
                    sent.push_back(flight);
                }
                4..=7 => {
                    flights.wait(flight);
                    if again { waiting.push_front(flight) } else { waiting.push_back(flight) }
                }
                8..=11 => assert_eq!(flights.pop_sent(), sent.pop_front(), "seed {seed}, round {round}"),
                _ => assert_eq!(flights.take_waiting(), waiting.pop_front(), "seed {seed}, round {round}"),
            }
            assert_eq!((flights.sent(), flights.len()), (sent.len(), sent.len() + waiting.len()));
            assert_eq!(flights.first_sent(), sent.front().copied());
            assert_eq!(flights.first_waiting(), waiting.front().copied());
            let earliest = sent.iter().chain(&waiting).map(|flight| flight.deadline).min();
            assert_eq!(flights.deadline(), earliest, "seed {seed}, round {round}");
        }
    }

    #[test]
    fn no_answer_belongs_to_what_was_refused() {
        let (mut slab, mut flights) = (Slab::new(), RequestQueue::default());
        let sent: Vec<_> = (0..3)
            .map(|step| QueuedRequest {
                exchange: slab.insert(()),
                deadline: Nanos::ZERO,
                scenario: 0,
                step,
                again: false,
                manner: RequestFlags::default(),
                target: 0,
            })
            .inspect(|&flight| flights.push_sent(flight))
            .collect();
        flights.refuse();
        flights.refuse();
        assert_eq!(flights.first_sent(), Some(sent[0]));
        assert_eq!(flights.pop_sent(), Some(sent[0]));
        assert_eq!((flights.first_sent(), flights.is_refused()), (None, true));
        let cut: Vec<_> = std::iter::from_fn(|| flights.pop_cut()).collect();
        assert_eq!(cut, sent[1..]);
        assert!(!flights.is_refused());
    }

    #[test]
    fn two_queues_in_one() {
        (1..=20).for_each(check);
    }
}
