//! [`PendingResponses`]: the responses that one connection waits for.

use std::collections::VecDeque;

use crate::answer::ScheduledResponse;

/// Responses that could not be sent immediately, in the order of their requests.
///
/// Most connections have no pending response, and then this takes the room of a pointer. A
/// connection that waits for a slow response has one. A server may have to hold a million of those,
/// so one response costs one small allocation. A queue is only allocated for a client that sends
/// further requests before it gets its response.
#[derive(Debug, Default)]
pub(crate) struct PendingResponses(Option<Box<Queue>>);

#[derive(Debug)]
struct Queue {
    first: ScheduledResponse,
    #[expect(clippy::box_collection, reason = "most are owed one answer, and pay for a pointer only")]
    more: Option<Box<VecDeque<ScheduledResponse>>>,
}

impl PendingResponses {
    /// Returns whether no response is pending.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the number of responses.
    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |queue| 1 + queue.more.as_ref().map_or(0, |more| more.len()))
    }

    /// Appends a response.
    pub(crate) fn push_back(&mut self, due: ScheduledResponse) {
        match &mut self.0 {
            None => self.0 = Some(Box::new(Queue { first: due, more: None })),
            Some(queue) => queue.more.get_or_insert_default().push_back(due),
        }
    }

    /// Returns the next response.
    pub(crate) fn front(&self) -> Option<&ScheduledResponse> {
        self.0.as_ref().map(|queue| &queue.first)
    }

    /// Returns the first response that satisfies `is_wanted`.
    pub(crate) fn find(
        &mut self,
        is_wanted: impl Fn(&ScheduledResponse) -> bool,
    ) -> Option<&mut ScheduledResponse> {
        let queue = self.0.as_mut()?;
        if is_wanted(&queue.first) {
            return Some(&mut queue.first);
        }
        queue.more.as_mut()?.iter_mut().find(|due| is_wanted(due))
    }

    /// Removes the next response, which was sent.
    pub(crate) fn pop_front(&mut self) -> Option<ScheduledResponse> {
        let queue = self.0.as_mut()?;
        match queue.more.as_mut().and_then(|more| more.pop_front()) {
            Some(next) => Some(std::mem::replace(&mut queue.first, next)),
            None => self.0.take().map(|queue| queue.first),
        }
    }
}

#[cfg(test)]
mod tests {
    use wavetank_units::Nanos;

    use super::*;
    use crate::answer::{Keep, Response};

    fn due(at: i64) -> ScheduledResponse {
        ScheduledResponse {
            at: Nanos(at),
            answer: Response::Home,
            head_only: false,
            keep: Keep::Silently,
            counted: true,
        }
    }

    /// Pushes the numbers of `steps`, pops for each -1, and compares with a queue.
    fn check(steps: &[i64]) {
        let (mut owed, mut queue) = (PendingResponses::default(), VecDeque::new());
        for &step in steps {
            if step < 0 {
                assert_eq!(owed.pop_front().map(|due| due.at.0), queue.pop_front(), "{steps:?}");
            } else {
                owed.push_back(due(step));
                queue.push_back(step);
            }
            for at in [2, 4, 9] {
                let found = owed.find(|due| due.at.0 == at).map(|due| due.at.0);
                assert_eq!(found, queue.contains(&at).then_some(at), "{steps:?}");
            }
            assert_eq!(owed.front().map(|due| due.at.0), queue.front().copied(), "{steps:?}");
            assert_eq!((owed.len(), owed.is_empty()), (queue.len(), queue.is_empty()), "{steps:?}");
        }
    }

    #[test]
    fn is_a_queue() {
        check(&[-1]);
        check(&[1, -1, -1, 2, -1]);
        check(&[1, 2, 3, -1, 4, -1, -1, -1, -1, 5]);
    }
}
