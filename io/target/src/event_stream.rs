//! [`EventStream`]: a response that sends server-sent events at a rate.

use wavetank_units::{Nanos, quantity};

use crate::truth::Counts;

/// The highest rate of one stream, in events per second.
const RATE_MAX: f64 = 100_000.0;
/// A stream that is late sends at most this many bytes together.
const OUT_BYTES_MAX: usize = 16 << 10;
const MALFORMED: &str =
    "/events takes rate, from 0.001 to 100000 a second, and count: /events?rate=10&count=100\n";

/// When a stream sends how many events. It is small, because every connection may keep one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventSchedule {
    interval_us: u32,
    /// The id of the last event; 0: there is none.
    last: u32,
    /// The id of the last event that the client has seen.
    seen: u32,
}

impl EventSchedule {
    /// Reads it from a query such as `rate=10&count=100`. One event a second is the default.
    ///
    /// # Errors
    /// The valid form, if it is another one.
    pub(crate) fn from_query(query: &[u8]) -> Result<Self, &'static str> {
        let mut schedule = Self { interval_us: 1_000_000, last: 0, seen: 0 };
        let query = str::from_utf8(query).map_err(|_| MALFORMED)?;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("rate", rate)) => {
                    let rate = rate.parse().ok().filter(|rate| (0.001..=RATE_MAX).contains(rate));
                    schedule.interval_us = (1e6 / rate.ok_or(MALFORMED)?) as u32;
                }
                Some(("count", count)) => {
                    let count = quantity::parse_count_positive(count).map_err(|_| MALFORMED)?;
                    schedule.last = u32::try_from(count).map_err(|_| MALFORMED)?;
                }
                _ => return Err(MALFORMED),
            }
        }
        Ok(schedule)
    }

    /// Continues after the event with the id in `field`, if it is one.
    pub(crate) fn continue_after(&mut self, field: &[u8]) {
        let id = str::from_utf8(field).ok().and_then(|id| id.trim().parse().ok());
        self.seen = id.unwrap_or(0);
    }
}

/// What surrounds the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Chunks of HTTP/1.1.
    Chunks,
    /// Nothing: HTTP/2 has frames of its own.
    None,
}

/// See the module's description.
#[derive(Debug)]
pub(crate) struct EventStream {
    schedule: EventSchedule,
    /// When the next event is due.
    next: Nanos,
}

impl EventStream {
    /// Starts a stream.
    pub(crate) const fn new(schedule: EventSchedule, now: Nanos) -> Self {
        Self { schedule, next: now }
    }

    /// Writes the events that are due. Returns when the next one is due; `None`: the stream has
    /// ended.
    pub(crate) fn write(
        &mut self,
        now: Nanos,
        out: &mut Vec<u8>,
        counts: &Counts,
        framing: Framing,
    ) -> Option<Nanos> {
        let before = out.len();
        let EventSchedule { interval_us, last, seen } = &mut self.schedule;
        let interval = Nanos::from_micros(i64::from(*interval_us));
        loop {
            if *last > 0 && seen >= last {
                if framing == Framing::Chunks {
                    out.extend_from_slice(b"0\r\n\r\n");
                }
                return None;
            }
            if self.next > now || out.len() - before >= OUT_BYTES_MAX {
                return Some(self.next);
            }
            *seen = seen.wrapping_add(1);
            self.next = self.next.after(interval);
            let event = format!("id: {seen}\nevent: tick\ndata: {{\"n\":{seen}}}\n\n");
            match framing {
                Framing::Chunks => {
                    out.extend_from_slice(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes());
                }
                Framing::None => out.extend_from_slice(event.as_bytes()),
            }
            counts.messages_sent.add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: Option<(u32, u32)>) {
        let read = EventSchedule::from_query(query.as_bytes());
        assert_eq!(read.ok().map(|read| (read.interval_us, read.last)), expected, "{query}");
    }

    #[test]
    fn a_schedule_is_read_from_the_query() {
        check("", Some((1_000_000, 0)));
        check("rate=10&count=3", Some((100_000, 3)));
        check("count=1k", Some((1_000_000, 1_000)));
        check("rate=0.5", Some((2_000_000, 0)));
        for bad in ["rate=0", "rate=-1", "rate=nan", "rate=1e9", "count=0", "count=x", "speed=1", "rate"] {
            check(bad, None);
        }
    }
}
