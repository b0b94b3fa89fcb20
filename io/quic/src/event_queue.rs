//! [`EventQueue`]: events that are ready to be returned, with their records.

use std::collections::VecDeque;
use std::ops::Range;

use wavetank_driver::{ConnId, Event};

/// Events in order, and the records that belong to them.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    events: VecDeque<(Event, Range<usize>)>,
    /// Records of the events in the queue and of the last one that was returned.
    pub(crate) records: Vec<u8>,
    current: Range<usize>,
}

/// The memory for records that is kept.
const KEPT_BYTES: usize = 1 << 20;

impl EventQueue {
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.events.push_back((event, 0..0));
    }

    /// Adds an event for the records from `start` on, if there are any.
    pub(crate) fn push_records(&mut self, conn: ConnId, start: usize) {
        let range = start..self.records.len();
        if !range.is_empty() {
            self.events.push_back((Event::Received(conn, range.len()), range));
        }
    }

    /// Takes the first event. Its records are [`current`](Self::current) until the next call.
    pub(crate) fn pop(&mut self) -> Option<Event> {
        let Some((event, range)) = self.events.pop_front() else {
            self.records.clear();
            self.records.shrink_to(KEPT_BYTES);
            self.current = 0..0;
            return None;
        };
        self.current = range;
        Some(event)
    }

    /// The records of the last event.
    pub(crate) fn current(&self) -> &[u8] {
        &self.records[self.current.clone()]
    }

    /// Whether an end of `conn` is in the queue.
    pub(crate) fn has_end_of(&self, conn: ConnId) -> bool {
        self.events.iter().any(|(event, _)| matches!(event, Event::Ended(ended, _) if *ended == conn))
    }
}
