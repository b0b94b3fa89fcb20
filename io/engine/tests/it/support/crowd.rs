//! A server that holds thousands of connections.
//!
//! It responds to every request except those for `/never`. Its responses for `/last` announce a
//! close. It ends connections on request.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use wavetank_driver::{Clock, Driver, DriverConfig, Epoll, Errno, Event, StartReporter, Waker, spawn};
use wavetank_plan::{Close, FileTables};
use wavetank_units::Nanos;

/// The response to every request.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// The response to the last request.
const LAST_ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

/// The server; see the module documentation. Each of its threads has its own file table. Dropping
/// it ends them.
pub(crate) struct Crowd {
    pub(crate) address: SocketAddr,
    threads: Vec<(SyncSender<Ending>, Waker)>,
    counts: Arc<Counts>,
}

/// The number of connections to end, oldest first, and how.
type Ending = (usize, Close);

#[derive(Default)]
struct Counts {
    accepted: Mutex<u64>,
    /// Signals that one more connection was accepted.
    more: Condvar,
    /// Connections ended by their peers.
    ended: AtomicU64,
}

impl Crowd {
    /// Starts a server with `threads` threads, each with room for `sockets` connections created in
    /// advance.
    pub(crate) fn start(threads: usize, sockets: u32) -> Self {
        let mut address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let counts = Arc::<Counts>::default();
        let mut all = Vec::new();
        for _ in 0..threads {
            let (report, hears) = sync_channel(16);
            let (at, counts) = (address, Arc::clone(&counts));
            let life = move |start| live(start, at, sockets, &hears, &counts);
            let files = if threads > 1 { FileTables::PerThread } else { FileTables::Shared };
            let started = spawn("crowd".to_owned(), files, life, |_| {});
            let started = started.unwrap_or_else(|fault| panic!("a thread with files of its own: {fault:?}"));
            address = started.value;
            all.push((report, started.waker));
        }
        Self { address, threads: all, counts }
    }

    /// Ends the first `count` connections of its first thread.
    pub(crate) fn end(&self, count: usize, how: Close) {
        self.threads[0].0.send((count, how)).expect("the thread lives");
        self.threads[0].1.wake();
    }

    /// Returns the number of accepted connections, and how many of them their peers have ended,
    /// once at least `accepted` were accepted.
    ///
    /// To a client, a connection is open as soon as the kernel has it. This may be before it is
    /// taken from the listener's queue.
    ///
    /// # Panics
    /// If they have not arrived within a minute.
    pub(crate) fn counts_from(&self, accepted: u64) -> (u64, u64) {
        let count = self.counts.accepted.lock().expect("no thread of it panicked");
        let (count, waited) = self
            .counts
            .more
            .wait_timeout_while(count, Duration::from_mins(1), |count| *count < accepted)
            .expect("no thread of it panicked");
        assert!(!waited.timed_out(), "{} of {accepted} connections came", *count);
        (*count, self.counts.ended.load(Ordering::Relaxed))
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for (report, waker) in self.threads.drain(..) {
            drop(report);
            waker.wake();
        }
    }
}

fn live(
    start: StartReporter<SocketAddr, Errno>,
    at: SocketAddr,
    sockets: u32,
    hears: &Receiver<Ending>,
    counts: &Counts,
) {
    let clock = Clock::starting_now();
    let mut driver = Epoll::new(&DriverConfig { sockets, ..DriverConfig::small(clock) }).expect("a driver");
    let (_, bound) = driver.listen(at).expect("a port");
    let mut open = Vec::with_capacity(sockets as usize);
    if !start.done(driver.waker().expect("a waker"), bound) {
        return;
    }
    loop {
        driver.wait(clock.now().after(Nanos::SECOND)).expect("waiting works");
        while let Some(event) = driver.next() {
            match event {
                Event::Accepted(_, conn) => {
                    open.push(conn);
                    *counts.accepted.lock().expect("no other thread panicked") += 1;
                    counts.more.notify_all();
                }
                Event::Received(_, len) if driver.received(len).starts_with(b"GET /never") => {}
                Event::Received(conn, len) if driver.received(len).starts_with(b"GET /last") => {
                    let _ = driver.send(conn, LAST_ANSWER);
                    driver.close(conn, Close::Fin);
                }
                Event::Received(conn, _) => drop(driver.send(conn, ANSWER)),
                Event::Ended(conn, _) => {
                    driver.close(conn, Close::Fin);
                    counts.ended.fetch_add(1, Ordering::Relaxed);
                }
                Event::Woken => match hears.try_recv() {
                    Ok((count, how)) => {
                        open.drain(..count.min(open.len())).for_each(|conn| driver.close(conn, how));
                    }
                    Err(TryRecvError::Disconnected) => return,
                    Err(TryRecvError::Empty) => {}
                },
                other => panic!("{other:?}"),
            }
        }
    }
}
