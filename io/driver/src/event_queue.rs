//! [`EventQueue`]: events that a filter over a driver has ready, with their bytes.

use std::collections::VecDeque;
use std::ops::Range;

use crate::driver::{ConnId, Event};

/// Events in order, and the bytes that belong to them.
#[derive(Debug, Default)]
pub struct EventQueue {
    events: VecDeque<(Event, Range<usize>)>,
    /// Bytes of the events in the queue and of the last one that was returned.
    bytes: Vec<u8>,
    current: Range<usize>,
}

/// The memory for bytes that is kept.
const KEPT_BYTES: usize = 1 << 20;

impl EventQueue {
    /// Whether no event is in the queue.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Adds an event without bytes.
    pub fn push(&mut self, event: Event) {
        self.events.push_back((event, 0..0));
    }

    /// Adds received bytes. Those of one connection that arrive together are one event.
    pub fn push_received(&mut self, conn: ConnId, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let end = self.bytes.len();
        if let Some((Event::Received(last, len), range)) = self.events.back_mut()
            && (*last, range.end) == (conn, start)
        {
            range.end = end;
            *len = range.len();
        } else {
            self.push_from(conn, start);
        }
    }

    /// All bytes, to append some before [`Self::push_from`].
    pub fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Adds an event for the bytes from `start` on, if there are any.
    pub fn push_from(&mut self, conn: ConnId, start: usize) {
        let range = start..self.bytes.len();
        if !range.is_empty() {
            self.events.push_back((Event::Received(conn, range.len()), range));
        }
    }

    /// Takes the first event. Its bytes are [`current`](Self::current) until the next call.
    pub fn pop(&mut self) -> Option<Event> {
        let Some((event, range)) = self.events.pop_front() else {
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_BYTES);
            self.current = 0..0;
            return None;
        };
        self.current = range;
        Some(event)
    }

    /// The bytes of the last event.
    pub fn current(&self) -> &[u8] {
        &self.bytes[self.current.clone()]
    }

    /// Whether an end of `conn` is in the queue, and no more bytes of it.
    pub fn is_ending(&self, conn: ConnId) -> bool {
        let mut is_ending = false;
        for (event, _) in &self.events {
            match event {
                Event::Received(from, _) if *from == conn => return false,
                Event::Ended(ended, _) if *ended == conn => is_ending = true,
                _ => {}
            }
        }
        is_ending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::CloseReason;

    #[test]
    fn bytes_of_one_connection_are_joined() {
        let [a, b] = [0, 1].map(|slot| ConnId { slot, generation: 0 });
        let mut queue = EventQueue::default();
        for (conn, bytes) in [(a, "he"), (a, "ad"), (b, "x"), (a, "y")] {
            queue.push_received(conn, bytes.as_bytes());
        }
        queue.push(Event::Flushed(a));
        queue.push(Event::Ended(a, CloseReason::Eof));
        let mut heard = Vec::new();
        while let Some(event) = queue.pop() {
            assert_eq!(queue.is_ending(a), (3..5).contains(&(heard.len() + 1)), "{event:?}");
            assert!(!queue.is_ending(b));
            heard.push((event, String::from_utf8(queue.current().to_vec()).expect("text")));
        }
        let expected = [
            (Event::Received(a, 4), "head"),
            (Event::Received(b, 1), "x"),
            (Event::Received(a, 1), "y"),
            (Event::Flushed(a), ""),
            (Event::Ended(a, CloseReason::Eof), ""),
        ];
        assert_eq!(heard, expected.map(|(event, text)| (event, text.to_owned())));
    }
}
