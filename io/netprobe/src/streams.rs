//! Loops over data connections: both ends send, receive and echo in the same way.

use std::io::{ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use wavetank_driver::{Clock, tcp_retransmits, thread_cpu_ns};
use wavetank_netbench::{FlowResult, ThroughputMeter};
use wavetank_units::Nanos;

use crate::control::is_wait;
use crate::error::reason;

/// Bytes of a read or write of a stream, as in iperf3.
const CHUNK_BYTES: usize = 128 << 10;
/// How often a blocked stream looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Time after the duration of a stream before it is given up.
pub(crate) const GRACE: Nanos = Nanos::from_secs(5);

/// A stream, its duration, and whether its session has ended.
pub(crate) struct DataStream<'a> {
    pub(crate) stream: &'a TcpStream,
    pub(crate) number: u32,
    pub(crate) duration: Nanos,
    pub(crate) stop: &'a AtomicBool,
}

impl DataStream<'_> {
    /// Sends as much as possible for the duration, then ends the stream.
    pub(crate) fn send(&self) -> FlowResult {
        let mut result = FlowResult { stream: self.number, ..FlowResult::default() };
        let (clock, cpu) = (Clock::starting_now(), thread_cpu_ns());
        if let Err(error) = self.send_until_end(clock, &mut result.bytes) {
            result.error = reason(&error);
        }
        result.nanos = clock.now().since(Nanos::ZERO);
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
        result.cpu_ns = thread_cpu_ns() - cpu;
        result.retransmits = tcp_retransmits(self.stream.as_fd());
        result
    }

    fn send_until_end(&self, clock: Clock, bytes: &mut u64) -> Result<()> {
        self.stream.set_write_timeout(Some(LOOK_EVERY))?;
        let chunk = vec![0x5a; CHUNK_BYTES];
        let give_up = self.duration.after(GRACE);
        let mut stream = self.stream;
        while clock.now() < self.duration && !self.stop.load(Ordering::Relaxed) {
            match stream.write(&chunk) {
                Ok(length) => *bytes += length as u64,
                Err(error) if is_wait(&error) && clock.now() < give_up => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Receives until the sender ends the stream.
    pub(crate) fn receive(&self) -> FlowResult {
        let mut result = FlowResult { stream: self.number, received: true, ..FlowResult::default() };
        let (clock, cpu) = (Clock::starting_now(), thread_cpu_ns());
        let mut meter = ThroughputMeter::new(ThroughputMeter::interval_of(self.duration));
        if let Err(error) = self.receive_until_end(clock, &mut meter) {
            result.error = reason(&error);
        }
        result.cpu_ns = thread_cpu_ns() - cpu;
        (result.bytes, result.nanos) = (meter.bytes(), meter.nanos());
        result.intervals = meter.into_intervals();
        result
    }

    fn receive_until_end(&self, clock: Clock, meter: &mut ThroughputMeter) -> Result<()> {
        self.stream.set_read_timeout(Some(LOOK_EVERY))?;
        let mut chunk = vec![0; CHUNK_BYTES];
        let give_up = self.duration.after(GRACE);
        let mut stream = self.stream;
        loop {
            match stream.read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(length) => meter.add(clock.now(), length as u64),
                Err(error) if is_wait(&error) => {}
                Err(error) => return Err(error),
            }
            if self.stop.load(Ordering::Relaxed) || clock.now() > give_up {
                return Err(ErrorKind::TimedOut.into());
            }
        }
    }
}

/// Largest message of an echo, bytes.
pub(crate) const ECHO_BYTES_MAX: u32 = 8 << 20;

/// Returns messages of a peer until it closes the connection, `stop` is set, or `until`. Before a
/// group of messages, the peer sends their size and number, 4 bytes each.
pub(crate) fn echo(mut stream: &TcpStream, stop: &AtomicBool, clock: Clock, until: Nanos) -> Result<()> {
    stream.set_read_timeout(Some(LOOK_EVERY))?;
    stream.set_write_timeout(Some(LOOK_EVERY))?;
    let mut buffer = Vec::new();
    let is_over = || stop.load(Ordering::Relaxed) || clock.now() > until;
    loop {
        let mut head = [0; 8];
        if !fill(stream, &mut head, &is_over)? {
            return Ok(());
        }
        let number = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (size, count) = (number(0), number(4));
        if size == 0 || size > ECHO_BYTES_MAX {
            return Err(ErrorKind::InvalidData.into());
        }
        buffer.resize(size as usize, 0);
        for _ in 0..count {
            if !fill(stream, &mut buffer, &is_over)? {
                return Ok(());
            }
            drain(&mut stream, &buffer, &is_over)?;
        }
    }
}

/// Fills `buffer`; `false` if the peer has closed the connection before its first byte.
pub(crate) fn fill(mut stream: &TcpStream, buffer: &mut [u8], is_over: &dyn Fn() -> bool) -> Result<bool> {
    let mut filled = 0;
    while filled < buffer.len() {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) if filled == 0 => return Ok(false),
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => filled += length,
            Err(error) if is_wait(&error) && !is_over() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Sends all of `bytes`.
pub(crate) fn drain(stream: &mut &TcpStream, mut bytes: &[u8], is_over: &dyn Fn() -> bool) -> Result<()> {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(length) => bytes = &bytes[length..],
            Err(error) if is_wait(&error) && !is_over() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
