//! The rate of new connections.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use wavetank_driver::Clock;
use wavetank_measure::Histogram;
use wavetank_netbench::{DataHeader, DataKind, latency_doc};
use wavetank_record::{ConnectDoc, Number};
use wavetank_units::{Nanos, UserError};

use super::{CONNECT_WAIT, NetClient};
use crate::error;

/// Threads that open connections.
const THREADS: u32 = 4;
/// Failures of a thread in a row before it gives up.
const FAILED_MAX: u64 = 20;

/// What a thread has measured.
#[derive(Default)]
struct Opened {
    connect: Histogram,
    done: u64,
    failed: u64,
    nanos: u64,
    last_error: Option<std::io::Error>,
}

impl NetClient {
    /// Opens connections for the duration. Each sends a request and receives a byte.
    pub(super) fn measure_connects(&mut self, duration: Nanos) -> Result<ConnectDoc, UserError> {
        const WHAT: &str = "new connections";
        let test = self.expect(WHAT, 0, duration)?;
        let header = |stream| {
            let header = DataHeader { kind: DataKind::Connect, session: self.session, test, stream };
            header.encode(&self.key)
        };
        let (server, stop) = (self.server, self.stop.as_ref());
        let all: Vec<Opened> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|number| {
                    let header = header(number);
                    scope.spawn(move || open_for(server, &header, duration, stop))
                })
                .collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        self.collect_flows(WHAT, test)?;
        let done: u64 = all.iter().map(|one| one.done).sum();
        let nanos = all.iter().map(|one| one.nanos).max().unwrap_or_default();
        if done == 0 {
            let error = all.into_iter().find_map(|one| one.last_error);
            let reason = error.map_or_else(|| "no thread".to_owned(), |error| error::reason(&error));
            return Err(error::test_failed(WHAT, &server.to_string(), &reason));
        }
        let mut connect = Histogram::default();
        for one in &all {
            connect.merge(&one.connect);
        }
        Ok(ConnectDoc {
            per_s: Number(done as f64 * 1e9 / nanos.max(1) as f64),
            threads: THREADS,
            duration_s: Number(nanos as f64 / 1e9),
            failed: all.iter().map(|one| one.failed).sum(),
            connect_us: latency_doc(&connect),
        })
    }
}

fn open_for(server: SocketAddr, header: &[u8], duration: Nanos, stop: &AtomicBool) -> Opened {
    let (clock, mut opened, mut in_a_row) = (Clock::starting_now(), Opened::default(), 0);
    while clock.now() < duration && in_a_row < FAILED_MAX && !stop.load(Ordering::Relaxed) {
        match open_one(server, header, clock, &mut opened.connect) {
            Ok(()) => (opened.done, in_a_row) = (opened.done + 1, 0),
            Err(error) => {
                opened.failed += 1;
                in_a_row += 1;
                opened.last_error = Some(error);
            }
        }
    }
    opened.nanos = clock.now().since(Nanos::ZERO);
    opened
}

fn open_one(server: SocketAddr, header: &[u8], clock: Clock, connect: &mut Histogram) -> std::io::Result<()> {
    let start = clock.now();
    let stream = TcpStream::connect_timeout(&server, CONNECT_WAIT)?;
    connect.record(clock.now().since(start));
    stream.set_read_timeout(Some(CONNECT_WAIT))?;
    (&stream).write_all(header)?;
    (&stream).read_exact(&mut [0])?;
    // A reset in place of TIME-WAIT: thousands of connections per second would use up all ports.
    set_socket_linger(&stream, Some(Duration::ZERO))?;
    Ok(())
}
