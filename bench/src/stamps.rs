//! [`StampServer`]: a target that records the arrival time of each request, independently of all
//! code under test.

use std::io::{ErrorKind, Read, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};

use crate::cpus;
use crate::stopwatch::Stopwatch;

/// Most bytes to keep of an incomplete request head.
const HEAD_BYTES_MAX: usize = 8_192;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";

/// A thread on the target's CPU that spins over its connections, so that its timestamps do not wait
/// for a wake-up.
pub(crate) struct StampServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<Duration>>>,
}

impl StampServer {
    pub(crate) fn start(cpu: usize) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?;
        listener.set_nonblocking(true).context("the listener")?;
        let address = listener.local_addr().context("the listener")?;
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            cpus::pin(cpu)?;
            serve(&listener, &flag)
        });
        Ok(Self { address, stop, thread })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Stops it and returns the times of all arrivals, in order.
    pub(crate) fn into_stamps(self) -> Result<Vec<Duration>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow!("the stamping target panicked"))?
    }
}

fn serve(listener: &TcpListener, stop: &AtomicBool) -> Result<Vec<Duration>> {
    let watch = Stopwatch::start();
    let mut stamps = Vec::new();
    let mut connections: Vec<(TcpStream, Vec<u8>)> = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        if let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(true).context("a connection")?;
            stream.set_nodelay(true).context("a connection")?;
            connections.push((stream, Vec::new()));
        }
        connections.retain_mut(|(stream, head)| turn(stream, head, watch, &mut stamps));
        std::hint::spin_loop();
    }
    Ok(stamps)
}

/// Serves one connection. Returns whether it stays open.
fn turn(stream: &mut TcpStream, head: &mut Vec<u8>, watch: Stopwatch, stamps: &mut Vec<Duration>) -> bool {
    let mut buffer = [0; 2_048];
    let read = match stream.read(&mut buffer) {
        Ok(0) => return false,
        Ok(read) => read,
        Err(error) => return error.kind() == ErrorKind::WouldBlock,
    };
    let now = watch.elapsed();
    head.extend_from_slice(&buffer[..read]);
    while let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") {
        stamps.push(now);
        head.drain(..end + 4);
        if stream.write_all(ANSWER).is_err() {
            return false;
        }
    }
    head.len() <= HEAD_BYTES_MAX
}

/// Returns how late each arrival was against an even schedule of `period`. The schedule starts such
/// that the relatively earliest arrival is punctual, so that the latency of the network does not
/// count.
pub(crate) fn against_schedule(stamps: &[Duration], period: Duration) -> Vec<Duration> {
    let off = |(index, stamp): (usize, &Duration)| {
        stamp.as_nanos() as i128 - period.as_nanos() as i128 * index as i128
    };
    let offsets: Vec<i128> = stamps.iter().enumerate().map(off).collect();
    let soonest = offsets.iter().copied().min().unwrap_or(0);
    let late = |offset: i128| Duration::from_nanos(u64::try_from(offset - soonest).unwrap_or(u64::MAX));
    offsets.into_iter().map(late).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_held_against_the_schedule() {
        let micros = |list: &[u64]| list.iter().copied().map(Duration::from_micros).collect::<Vec<_>>();
        let late = against_schedule(&micros(&[1_007, 1_205, 1_455, 1_605]), Duration::from_micros(200));
        assert_eq!(late, micros(&[2, 0, 50, 0]));
        assert!(against_schedule(&[], Duration::from_micros(200)).is_empty());
    }

    #[test]
    fn every_request_is_answered_and_stamped() {
        let cpu = rustix::thread::sched_getcpu();
        let server = StampServer::start(cpu).expect("starts");
        let mut stream = TcpStream::connect(server.address).expect("accepts");
        for part in ["GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HT", "TP/1.1\r\nHost: a\r\n\r\n"] {
            stream.write_all(part.as_bytes()).expect("writes");
        }
        let mut answers = vec![0; ANSWER.len() * 2];
        stream.read_exact(&mut answers).expect("two answers");
        assert_eq!(answers, ANSWER.repeat(2));
        let stamps = server.into_stamps().expect("stamps");
        assert!(stamps.len() == 2 && stamps[0] <= stamps[1], "{stamps:?}");
    }
}
