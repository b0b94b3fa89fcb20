//! [`ThroughputMeter`]: bytes of a stream by intervals.

use wavetank_units::Nanos;

/// Most intervals of a stream. Bytes received later belong to the last one.
const INTERVALS_MAX: usize = 1_000;

/// Adds up the bytes of a stream, by intervals from its first byte on.
#[derive(Clone, Debug)]
pub struct ThroughputMeter {
    interval: Nanos,
    /// When the first byte came, and the last one.
    span: Option<(Nanos, Nanos)>,
    bytes: u64,
    intervals: Vec<u64>,
}

impl ThroughputMeter {
    /// A meter with intervals of this length.
    pub const fn new(interval: Nanos) -> Self {
        Self { interval, span: None, bytes: 0, intervals: Vec::new() }
    }

    /// Returns the length of intervals for a measurement of `duration`: a tenth of it, from 50 ms
    /// to 1 s.
    pub fn interval_of(duration: Nanos) -> Nanos {
        Nanos((duration.0 / 10).clamp(50_000_000, 1_000_000_000))
    }

    /// Adds bytes received at `now`.
    pub fn add(&mut self, now: Nanos, bytes: u64) {
        let (first, _) = *self.span.get_or_insert((now, now));
        self.span = Some((first, now));
        self.bytes += bytes;
        let at = (now.since(first) / self.interval.0.max(1).unsigned_abs()) as usize;
        let at = at.min(INTERVALS_MAX - 1);
        if self.intervals.len() <= at {
            self.intervals.resize(at + 1, 0);
        }
        self.intervals[at] += bytes;
    }

    /// Returns all bytes.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the time from the first to the last byte, ns.
    pub fn nanos(&self) -> u64 {
        self.span.map_or(0, |(first, last)| last.since(first))
    }

    /// Returns the bytes of each interval.
    pub fn into_intervals(self) -> Vec<u64> {
        self.intervals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_belong_to_the_interval_they_came_in() {
        let mut meter = ThroughputMeter::new(Nanos::from_millis(100));
        for (ms, bytes) in [(1_000, 10), (1_099, 20), (1_100, 40), (1_350, 80)] {
            meter.add(Nanos::from_millis(ms), bytes);
        }
        assert_eq!((meter.bytes(), meter.nanos()), (150, 350_000_000));
        assert_eq!(meter.into_intervals(), [30, 40, 0, 80]);
    }

    #[test]
    fn the_number_of_intervals_is_limited() {
        let mut meter = ThroughputMeter::new(Nanos::from_millis(50));
        meter.add(Nanos::ZERO, 1);
        meter.add(Nanos::from_secs(10_000), 2);
        assert_eq!(meter.into_intervals().len(), INTERVALS_MAX);
        for (seconds, expected) in [(1, 100), (30, 1_000)] {
            let interval = ThroughputMeter::interval_of(Nanos::from_secs(seconds));
            assert_eq!(interval, Nanos::from_millis(expected));
        }
    }
}
