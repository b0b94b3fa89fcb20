//! [`RequestQueue`]: the requests of one connection, first those in flight, then those that wait
//! for it.

use std::collections::VecDeque;

use wavetank_units::Nanos;

use crate::request_flags::RequestFlags;
use crate::slab::Id;

/// A request on its way through a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueuedRequest {
    /// The exchange to which it belongs.
    pub(crate) exchange: Id,
    /// When it times out.
    pub(crate) deadline: Nanos,
    /// The scenario of the request.
    pub(crate) scenario: u16,
    /// The step of the request.
    pub(crate) step: u16,
    /// It was on a connection that was lost, and goes before all waiting requests.
    pub(crate) again: bool,
    /// The target: index into the plan's targets.
    pub(crate) target: u16,
    /// The properties of the request and its response.
    pub(crate) flags: RequestFlags,
}

/// The requests of one connection; see the module documentation.
///
/// Nearly every connection has at most one request, which is stored inline. A million idle
/// connections therefore have no queue in memory.
#[derive(Default)]
pub(crate) struct RequestQueue {
    first: Option<QueuedRequest>,
    /// The requests after the first one.
    #[expect(
        clippy::box_collection,
        reason = "a slot pays for the pointer, not for the queue it seldom has"
    )]
    more: Option<Box<VecDeque<QueuedRequest>>>,
    /// The number of requests in flight.
    sent: u32,
    /// The number of those, the last ones, that the kernel refused because the connection is at its
    /// end.
    refused: u32,
}

impl RequestQueue {
    /// The number of requests in flight.
    #[inline]
    pub(crate) fn sent(&self) -> usize {
        self.sent as usize
    }

    /// Returns the request with the next response.
    #[inline]
    pub(crate) fn first_sent(&self) -> Option<QueuedRequest> {
        if self.sent > self.refused { self.first } else { None }
    }

    /// Marks one more of the requests in flight, the last ones, as not sent after all. No response
    /// belongs to it.
    pub(crate) fn refuse(&mut self) {
        self.refused = self.sent.min(self.refused + 1);
    }

    /// Whether a request was refused on this connection.
    #[inline]
    pub(crate) fn is_refused(&self) -> bool {
        self.refused > 0
    }

    /// Takes the first request of a closed connection. Also returns whether the kernel refused it,
    /// so that the peer has seen nothing of it.
    pub(crate) fn pop_cut(&mut self) -> Option<(QueuedRequest, bool)> {
        let is_refused = self.sent <= self.refused;
        let cut = self.pop_sent()?;
        self.refused = self.refused.min(self.sent);
        Some((cut, is_refused))
    }

    /// Removes the first request, which was answered or will never be.
    #[inline]
    pub(crate) fn pop_sent(&mut self) -> Option<QueuedRequest> {
        self.sent = self.sent.checked_sub(1)?;
        if self.more.is_none() { self.first.take() } else { self.pop_first() }
    }

    /// Removes the last request in flight.
    pub(crate) fn pop_last_sent(&mut self) -> Option<QueuedRequest> {
        match self.sent.checked_sub(2) {
            None => self.pop_sent(),
            Some(place) => {
                self.sent -= 1;
                self.more.as_mut()?.remove(place as usize)
            }
        }
    }

    /// Returns the request that the next message answers: the first one that awaits an answer.
    pub(crate) fn first_awaiting(&self) -> Option<QueuedRequest> {
        let place = self.place_of(false)?;
        match place.checked_sub(1) {
            None => self.first,
            Some(behind) => self.more.as_ref()?.get(behind).copied(),
        }
    }

    /// Removes the first request in flight that awaits an answer.
    pub(crate) fn take_awaiting(&mut self) -> Option<QueuedRequest> {
        self.take_sent(self.place_of(false)?)
    }

    /// Removes the first request in flight that awaits no answer.
    pub(crate) fn take_one_way(&mut self) -> Option<QueuedRequest> {
        self.take_sent(self.place_of(true)?)
    }

    /// Returns the place of the first request that the kernel did not refuse, of this kind.
    fn place_of(&self, is_one_way: bool) -> Option<usize> {
        let more = self.more.iter().flat_map(|more| more.iter());
        let mut sent = self.first.iter().chain(more).take((self.sent - self.refused) as usize);
        sent.position(|request| request.flags.is_one_way() == is_one_way)
    }

    fn take_sent(&mut self, place: usize) -> Option<QueuedRequest> {
        let Some(behind) = place.checked_sub(1) else { return self.pop_sent() };
        self.sent -= 1;
        self.more.as_mut()?.remove(behind)
    }

    /// Adds one more request in flight, after the others.
    #[inline]
    pub(crate) fn push_sent(&mut self, request: QueuedRequest) {
        self.sent += 1;
        if self.first.is_none() {
            self.first = Some(request);
        } else {
            self.insert(self.sent() - 1, request);
        }
    }

    /// Adds a waiting request; a retried one goes before all others.
    #[inline]
    pub(crate) fn wait(&mut self, request: QueuedRequest) {
        if self.first.is_none() {
            self.first = Some(request);
            return;
        }
        let place = if request.again { self.sent() } else { self.len() };
        self.insert(place, request);
    }

    /// Returns the first waiting request.
    #[inline]
    pub(crate) fn first_waiting(&self) -> Option<QueuedRequest> {
        match self.sent.checked_sub(1) {
            None => self.first,
            Some(behind) => self.more.as_ref()?.get(behind as usize).copied(),
        }
    }

    /// Removes the first waiting request.
    #[inline]
    pub(crate) fn take_waiting(&mut self) -> Option<QueuedRequest> {
        // After most responses no other request is waiting or in flight. On a new connection one
        // request waits.
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

    /// Returns the earliest deadline. The requests are few, and not necessarily in order of
    /// deadline.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Nanos> {
        let first = self.first.as_ref()?.deadline;
        Some(self.more.as_ref().map_or(first, |more| first.min(earliest(more))))
    }

    /// Whether there are no requests at all.
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
    fn insert(&mut self, place: usize, request: QueuedRequest) {
        if place > 0 {
            self.more.get_or_insert_default().insert(place - 1, request);
        } else if let Some(second) = self.first.replace(request) {
            self.more.get_or_insert_default().push_front(second);
        }
    }
}

#[cold]
fn earliest(queue: &VecDeque<QueuedRequest>) -> Nanos {
    queue.iter().map(|request| request.deadline).fold(Nanos::MAX, Nanos::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slab::Slab;

    /// Compares it with two plain queues, with sequences of calls that a small generator derives
    /// from `seed`.
    fn check(seed: u64) {
        let mut slab = Slab::new();
        let mut queue = RequestQueue::default();
        let (mut sent, mut waiting) = (VecDeque::new(), VecDeque::new());
        let mut state = seed;
        for round in 0..2_000 {
            // Knuth's MMIX generator; the upper bits are good.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let again = state >> 40 & 1 == 1;
            let deadline = Nanos((state >> 45 & 0xff).cast_signed());
            let request = QueuedRequest {
                exchange: slab.insert(()),
                deadline,
                scenario: 0,
                step: round,
                again,
                target: 0,
                flags: RequestFlags::default(),
            };
            match state >> 60 {
                0..=3 => {
                    queue.push_sent(request);
                    sent.push_back(request);
                }
                4..=7 => {
                    queue.wait(request);
                    if again { waiting.push_front(request) } else { waiting.push_back(request) }
                }
                8..=11 => assert_eq!(queue.pop_sent(), sent.pop_front(), "seed {seed}, round {round}"),
                _ => assert_eq!(queue.take_waiting(), waiting.pop_front(), "seed {seed}, round {round}"),
            }
            assert_eq!((queue.sent(), queue.len()), (sent.len(), sent.len() + waiting.len()));
            assert_eq!(queue.first_sent(), sent.front().copied());
            assert_eq!(queue.first_waiting(), waiting.front().copied());
            let earliest = sent.iter().chain(&waiting).map(|request| request.deadline).min();
            assert_eq!(queue.deadline(), earliest, "seed {seed}, round {round}");
        }
    }

    #[test]
    fn no_answer_belongs_to_what_was_refused() {
        let (mut slab, mut queue) = (Slab::new(), RequestQueue::default());
        let sent: Vec<_> = (0..3)
            .map(|step| QueuedRequest {
                exchange: slab.insert(()),
                deadline: Nanos::ZERO,
                scenario: 0,
                step,
                again: false,
                flags: RequestFlags::default(),
                target: 0,
            })
            .inspect(|&request| queue.push_sent(request))
            .collect();
        queue.refuse();
        queue.refuse();
        assert_eq!(queue.first_sent(), Some(sent[0]));
        assert_eq!(queue.pop_sent(), Some(sent[0]));
        assert_eq!((queue.first_sent(), queue.is_refused()), (None, true));
        let unsent = |request: &QueuedRequest| (*request, true);
        let cut: Vec<_> = std::iter::from_fn(|| queue.pop_cut()).collect();
        assert_eq!(cut, sent[1..].iter().map(unsent).collect::<Vec<_>>());
        assert!(!queue.is_refused());
    }

    #[test]
    fn answers_pass_messages_that_await_none() {
        let (mut slab, mut queue) = (Slab::new(), RequestQueue::default());
        let mut send = |queue: &mut RequestQueue, flags| {
            let (exchange, deadline) = (slab.insert(()), Nanos::ZERO);
            let sent =
                QueuedRequest { exchange, deadline, scenario: 0, step: 0, again: false, flags, target: 0 };
            queue.push_sent(sent);
            sent
        };
        let kinds = [RequestFlags::one_way(), RequestFlags::default()];
        let [a, b, c, d] = [0, 1, 0, 1].map(|kind: usize| send(&mut queue, kinds[kind]));
        assert_eq!(queue.first_awaiting(), Some(b));
        assert_eq!(queue.take_awaiting(), Some(b));
        assert_eq!(queue.first_awaiting(), Some(d));
        queue.refuse();
        assert_eq!((queue.first_awaiting(), queue.take_awaiting()), (None, None), "it was refused");
        assert_eq!([(); 3].map(|()| queue.take_one_way()), [Some(a), Some(c), None]);
        assert_eq!((queue.pop_cut(), queue.sent()), (Some((d, true)), 0));
    }

    #[test]
    fn two_queues_in_one() {
        (1..=20).for_each(check);
    }
}
