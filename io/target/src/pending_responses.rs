//! [`PendingResponses`]: the answers that one connection waits for.

use std::collections::VecDeque;

use crate::answer::ScheduledResponse;

/// Answers that could not be given at once, in the order of their requests.
///
/// Most connections of most servers are owed nothing, and then it takes the room of a pointer. A connection that waits
/// for a slow answer is owed one: a million of those are what a server may have to hold, so one costs one small piece of
/// memory. A queue is only made for those who ask on before they are answered.
#[derive(Debug, Default)]
pub(crate) struct PendingResponses(Option<Box<Queue>>);

#[derive(Debug)]
struct Queue {
    first: ScheduledResponse,
    #[expect(clippy::box_collection, reason = "most are owed one answer, and pay for a pointer only")]
    more: Option<Box<VecDeque<ScheduledResponse>>>,
}

impl PendingResponses {
    /// Whether nothing is owed.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// How many answers.
    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |queue| 1 + queue.more.as_ref().map_or(0, |more| more.len()))
    }

    /// One more, behind all others.
    pub(crate) fn push_back(&mut self, due: ScheduledResponse) {
        match &mut self.0 {
            None => self.0 = Some(Box::new(Queue { first: due, more: None })),
            Some(queue) => queue.more.get_or_insert_default().push_back(due),
        }
    }

    /// The next one.
    pub(crate) fn front(&self) -> Option<&ScheduledResponse> {
        self.0.as_ref().map(|queue| &queue.first)
    }

    /// The same, to be made what it is given as.
    pub(crate) fn front_mut(&mut self) -> Option<&mut ScheduledResponse> {
        self.0.as_mut().map(|queue| &mut queue.first)
    }

    /// The first one that is as is wanted.
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

    /// The next one was given.
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
    use wavetank_plan::Nanos;

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

    /// Push the numbers of `steps`, pop where it says -1, and compare with a queue.
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
            let fronts = [owed.front().map(|due| due.at.0), owed.front_mut().map(|due| due.at.0)];
            assert_eq!(fronts, [queue.front().copied(); 2], "{steps:?}");
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
