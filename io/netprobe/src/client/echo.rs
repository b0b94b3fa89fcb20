//! Messages back and forth: round-trip times, and the sweep of sizes.

use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};

use wavetank_driver::Clock;
use wavetank_measure::Histogram;
use wavetank_netbench::{DataKind, half_bandwidth_bytes, latency_doc, sweep_bytes};
use wavetank_record::{Number, RequestResponseDoc, SizePointDoc, SizesDoc};
use wavetank_units::{Nanos, UserError};

use super::NetClient;
use crate::error;
use crate::streams::{drain, fill};

/// Messages of a group of the round-trip test.
const GROUP: u32 = 256;
/// Rounds of each size. The best one counts, as in `NetPIPE`.
const ROUNDS: u32 = 5;
/// Most messages of a round.
const ROUND_MAX: u64 = 10_000;
/// Time of a sweep in addition to four times its intended duration, before it ends early.
const SWEEP_SLACK: Nanos = Nanos::from_secs(2);
/// Longest wait for a message.
const MESSAGE_WAIT: Nanos = Nanos::from_secs(10);

impl NetClient {
    /// Measures round-trip times of one byte for the duration.
    pub(super) fn measure_round_trips(&mut self, duration: Nanos) -> Result<RequestResponseDoc, UserError> {
        const WHAT: &str = "round-trip times";
        let test = self.expect(WHAT, 1, duration)?;
        let stream = self.open(DataKind::Echo, (test, 0))?;
        let mut echo = Echo::new(&stream, &self.stop);
        let mut histogram = Histogram::default();
        let failed = |error: io::Error| error::peer_gone(&self.server.to_string(), &error);
        let start = echo.clock.now();
        while echo.clock.now() < start.after(duration) && !self.is_stopped() {
            echo.begin(1, GROUP).map_err(failed)?;
            for _ in 1..GROUP {
                let sent = echo.clock.now();
                echo.exchange().map_err(failed)?;
                histogram.record(echo.clock.now().since(sent));
            }
        }
        drop(stream);
        self.collect_flows(WHAT, test)?;
        // The first message of a group is not timed, so the rate is that of the others.
        let busy = histogram.sum() as f64 / 1e9;
        Ok(RequestResponseDoc {
            per_s: Number(if busy > 0.0 { histogram.count() as f64 / busy } else { 0.0 }),
            duration_s: Number(busy),
            round_trip_us: latency_doc(&histogram),
        })
    }

    /// Measures messages of 1 B to 8 MiB, for about the duration. The sweep ends early where a
    /// single message takes too much of it.
    pub(super) fn measure_sizes(&mut self, duration: Nanos) -> Result<SizesDoc, UserError> {
        const WHAT: &str = "sizes";
        let test = self.expect(WHAT, 1, duration)?;
        let stream = self.open(DataKind::Echo, (test, 0))?;
        let failed = |error: io::Error| error::peer_gone(&self.server.to_string(), &error);
        let mut echo = Echo::new(&stream, &self.stop);
        // The first messages of a connection are slow, and would be those of the smallest size.
        echo.begin(1, GROUP).and_then(|()| echo.time(GROUP - 1)).map_err(failed)?;
        let sizes = sweep_bytes();
        let budget = duration.0.unsigned_abs() / sizes.len() as u64;
        let start = echo.clock.now();
        let mut points = Vec::new();
        for bytes in sizes {
            points.push(echo.measure(bytes, budget).map_err(failed)?);
            let last: &SizePointDoc = points.last().expect("it was just added");
            let is_slow = last.latency_us.0 * 1e3 * 2.0 > duration.0 as f64 / 4.0;
            let limit = start.after(Nanos(duration.0 * 4)).after(SWEEP_SLACK);
            if is_slow || echo.clock.now() > limit {
                break;
            }
        }
        drop(stream);
        self.collect_flows(WHAT, test)?;
        let throughputs: Vec<(u64, f64)> =
            points.iter().map(|point| (point.bytes, point.bits_per_s.0)).collect();
        Ok(SizesDoc {
            max_bits_per_s: Number(throughputs.iter().map(|point| point.1).fold(0.0, f64::max)),
            half_bytes: half_bandwidth_bytes(&throughputs).map(Number),
            points,
        })
    }
}

/// A connection to a peer that returns messages.
struct Echo<'a> {
    stream: &'a TcpStream,
    stop: &'a AtomicBool,
    clock: Clock,
    buffer: Vec<u8>,
}

impl<'a> Echo<'a> {
    fn new(stream: &'a TcpStream, stop: &'a AtomicBool) -> Self {
        let look_every = Some(std::time::Duration::from_millis(200));
        // Without these limits, only the check of the time would be less frequent.
        let _ = stream.set_read_timeout(look_every).and_then(|()| stream.set_write_timeout(look_every));
        Self { stream, stop, clock: Clock::starting_now(), buffer: Vec::new() }
    }

    /// Starts a group of messages and exchanges the first of them.
    fn begin(&mut self, bytes: u32, count: u32) -> io::Result<()> {
        self.buffer.resize(bytes as usize, 0);
        let head = [bytes.to_be_bytes(), count.to_be_bytes()].concat();
        let first = [head.as_slice(), &self.buffer].concat();
        self.send(&first)?;
        self.receive()
    }

    fn exchange(&mut self) -> io::Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let message = std::mem::take(&mut self.buffer);
        let sent = self.send(&message);
        self.buffer = message;
        sent?;
        self.receive()
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let (mut stream, until) = (self.stream, self.clock.now().after(MESSAGE_WAIT));
        drain(&mut stream, bytes, &|| self.clock.now() > until)
    }

    fn receive(&mut self) -> io::Result<()> {
        let (clock, until) = (self.clock, self.clock.now().after(MESSAGE_WAIT));
        let is_filled = fill(self.stream, &mut self.buffer, &|| clock.now() > until)?;
        if is_filled { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Measures messages of one size for about `budget` nanoseconds.
    fn measure(&mut self, bytes: u64, budget: u64) -> io::Result<SizePointDoc> {
        let size = u32::try_from(bytes).expect("a sweep has sizes up to 8 MiB");
        self.begin(size, 2)?;
        let trial = self.time(1)?;
        let each = (budget / u64::from(ROUNDS) / trial.max(1)).clamp(1, ROUND_MAX) as u32;
        let rounds = if trial > budget { 1 } else { ROUNDS };
        self.begin(size, rounds * each + 1)?;
        let mut best = u64::MAX;
        for _ in 0..rounds {
            best = best.min(self.time(each)? / u64::from(each));
        }
        let seconds = best.max(1) as f64 / 2e9;
        Ok(SizePointDoc {
            bytes,
            latency_us: Number(seconds * 1e6),
            bits_per_s: Number(bytes as f64 * 8.0 / seconds),
            count: u64::from(rounds * each),
        })
    }

    /// Returns the nanoseconds of `count` exchanges.
    fn time(&mut self, count: u32) -> io::Result<u64> {
        let start = self.clock.now();
        for _ in 0..count {
            self.exchange()?;
        }
        Ok(self.clock.now().since(start))
    }
}
