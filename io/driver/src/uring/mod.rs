//! [`Uring`]: the driver on io\_uring.
//!
//! Sockets are in tables of the rings instead of the process's table of files. Several rings can
//! therefore hold more sockets than one process may have files. Sends are queued and leave with the
//! next wait, in the same call that waits. Receives stay armed, and their completions contain the
//! received bytes. [`Slots`] records what connections wait for, without any kernel calls.

mod accept;
mod addresses;
mod addresses_of_conn;
mod buffers;
mod close;
mod closing_conn;
mod connect;
mod eventfd;
mod events;
mod listeners;
mod probe;
mod ring;
mod send;
mod send_batch;
mod slots;
mod sqe;
mod teardown_watch;
mod wait;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use wavetank_plan::{Close, RINGS_PER_THREAD_MAX, SOCKETS_PER_RING_MAX};
use wavetank_units::Nanos;

use crate::driver::{ConnAddresses, ConnId, Dial, Driver, DriverConfig, Event, ListenerId, SendStatus};
use crate::send_buffer::SendBuffer;
use crate::sockets::ahead;
use crate::{Clock, Errno, Feature, Waker, socket};

use addresses::Addresses;
use closing_conn::ClosingConn;
use listeners::Listeners;
use ring::{Completion, Ring, SUBMISSIONS};
use send_batch::SendBatch;
use slots::Slots;
use teardown_watch::TeardownWatch;

pub use probe::{UringFacts, UringMissing, probe_uring};

/// Maximum number of connections with a receive that stays armed. An armed receive costs the kernel
/// 0.9 KB, a watch for readability a quarter of that.
const HOT_MAX: u32 = 4_096;
/// Minimum number of sockets of one ring: making a ring costs more than a table that is larger than
/// needed.
const SOCKETS_MIN: u32 = 1_024;
/// Rings of one driver: their eventfds and descriptors are files. The plan assumes the same number.
const RINGS_MAX: usize = RINGS_PER_THREAD_MAX as usize;
/// Up to this number of sockets, each operation is cancelled and waited for, which takes
/// milliseconds. A ring that is left to the kernel takes 40 ms, independent of the number of
/// sockets.
const FEW: usize = 1_024;

/// See the module's description.
pub struct Uring {
    /// The memory that the kernel reads or writes is in here or below. `Drop` ends all operations
    /// in flight before any of it is freed.
    rings: Vec<Ring>,
    /// Taken by `Drop`.
    witness: Option<TeardownWatch>,
    /// The ring that last had room for a socket.
    roomy: usize,
    slots: Slots,
    /// Send state, by slot.
    flows: Vec<Flow>,
    outgoing: SendBatch,
    addresses: Addresses,
    /// Connections with a piece of a long send to queue.
    pieces: VecDeque<ConnId>,
    /// The connection of a send in a separate call, and its result.
    at_once: Option<(ConnId, Option<i32>)>,
    /// Connections to revisit once the batch is submitted: they were closed or shut down while the
    /// batch held their sends.
    unsettled: Vec<ConnId>,
    /// Closed connections with unsent bytes, ordered by their next check.
    leaving: VecDeque<ClosingConn>,
    /// See [`Driver::take_unsent`]. Entries that the owner does not take are dropped with the next
    /// wait.
    unsent: Vec<(ConnId, u32)>,
    /// Number of entries of `unsent` when the last wait ended.
    unsent_offered: usize,
    /// Connections that need a new receive or watch.
    thirsty: Vec<ConnId>,
    /// Completions that were not reported to the owner yet.
    ready: Vec<Completion>,
    /// Next entry of `ready` to report.
    at: usize,
    /// The buffer that the owner is reading: its ring and number.
    lent: Option<(usize, u16)>,
    /// The length of the last receive.
    received_len: usize,
    listeners: Listeners,
    clock: Clock,
    waker: Waker,
    waker_watched: bool,
    /// Signalled on completions if there are several rings.
    eventfd: Option<OwnedFd>,
    /// Sockets can be bound and given options in their slots.
    bind_op: bool,
    /// Sockets, by slot and with their generation, that were made outside and are still in the
    /// process's table of files, because their addresses will be queried.
    outside: BTreeMap<u32, (u16, OwnedFd)>,
    /// Operations were cancelled that must complete before their sockets close.
    ends_awaited: bool,
    bytes_sent: u64,
    /// The instant until which the last wait worked.
    worked_until: Nanos,
    /// Duration of the longest call that carried sends, in nanoseconds.
    longest_send: u64,
    /// Number of receives that found no free buffer.
    starved: u64,
    /// Why queueing or submitting failed. Every later wait returns it: queued entries may never be
    /// submitted, so this driver cannot continue.
    failed: Option<Errno>,
}

/// The send state of one connection.
#[derive(Default)]
struct Flow {
    /// Bytes that the kernel has not taken, if any.
    unsent: Option<Box<SendBuffer>>,
    /// The last batch with a send of this connection.
    batch: u32,
    /// The owner waits for [`Event::Flushed`].
    owed: bool,
    /// Some of these bytes were already reported as sent.
    promised: bool,
    /// Nagle's delay is on. The first send waits for nothing. Later sends must not wait either, but
    /// most connections that send once never send again.
    delayed: bool,
    /// The errno of a failed send, packed; 0: no send has failed.
    broke: u8,
}

impl Driver for Uring {
    const SENDS_LATER: bool = true;
    const REPORTED_BY_WAIT: bool = true;

    fn new(setup: &DriverConfig) -> Result<Self, Errno> {
        let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let files =
            files.map_or(SOCKETS_PER_RING_MAX, |files| u32::try_from(files).unwrap_or(SOCKETS_PER_RING_MAX));
        let wanted =
            setup.sockets.max(SOCKETS_MIN).checked_next_power_of_two().unwrap_or(SOCKETS_PER_RING_MAX);
        // The table holds one file in addition to the sockets.
        let per_ring = wanted.min(files.saturating_sub(1)).clamp(1, SOCKETS_PER_RING_MAX);
        let mut this = Self {
            rings: Vec::new(),
            witness: Some(TeardownWatch::new()?),
            roomy: 0,
            slots: Slots::new(per_ring, HOT_MAX).with_room(ahead(setup.sockets)),
            flows: Vec::with_capacity(ahead(setup.sockets)),
            outgoing: SendBatch::new(),
            addresses: Addresses::new(SUBMISSIONS as usize),
            pieces: VecDeque::new(),
            at_once: None,
            unsettled: Vec::new(),
            leaving: VecDeque::new(),
            unsent: Vec::new(),
            unsent_offered: 0,
            thirsty: Vec::new(),
            ready: Vec::new(),
            at: 0,
            lent: None,
            received_len: 0,
            listeners: Listeners::new(),
            clock: setup.clock,
            waker: Waker::new()?,
            waker_watched: false,
            eventfd: None,
            bind_op: false,
            outside: BTreeMap::new(),
            ends_awaited: false,
            bytes_sent: 0,
            worked_until: Nanos::ZERO,
            longest_send: 0,
            starved: 0,
            failed: None,
        };
        this.add_ring()?;
        this.bind_op = setup.features.has(Feature::BindOp) && this.rings[0].can_bind();
        Ok(this)
    }

    fn connect(&mut self, dial: &Dial) -> Result<ConnId, Errno> {
        self.dial(dial)
    }

    fn listen(&mut self, at: SocketAddr) -> Result<(ListenerId, SocketAddr), Errno> {
        self.listeners.add(at)
    }

    fn stop_accepting(&mut self) {
        self.listeners.shut_down();
    }

    #[inline]
    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno> {
        self.queue_send(conn, bytes, |outgoing| outgoing.copy(conn, bytes), || Arc::from(bytes))
    }

    #[inline]
    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<SendStatus, Errno> {
        self.queue_send(conn, bytes, |outgoing| outgoing.share(conn, bytes), || Arc::clone(bytes))
    }

    fn ends(&mut self, conn: ConnId) -> Result<ConnAddresses, Errno> {
        self.query_addresses(conn)
    }

    fn last_received_age(&mut self, conn: ConnId) -> Option<Nanos> {
        self.with_file(conn, socket::last_received_age).ok()?
    }

    fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }

    fn close(&mut self, conn: ConnId, how: Close) {
        self.close_connection(conn, how);
    }

    fn shut_down_sending(&mut self, conn: ConnId) {
        self.shut_down(conn);
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn wait_from(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno> {
        if self.unsent_offered > 0 {
            self.unsent.drain(..std::mem::take(&mut self.unsent_offered));
        }
        let ready = self.wait_for_any(now, until);
        self.unsent_offered = self.unsent.len();
        ready
    }

    fn worked_until(&self) -> Option<Nanos> {
        Some(self.worked_until)
    }

    fn take_longest_send(&mut self) -> u64 {
        std::mem::take(&mut self.longest_send)
    }

    fn send_now(&mut self) {
        // If this fails, the next wait returns the error.
        let _ = self.submit();
    }

    #[inline]
    fn take_unsent(&mut self) -> Option<(ConnId, u32)> {
        let unsent = self.unsent.pop();
        self.unsent_offered = self.unsent_offered.min(self.unsent.len());
        unsent
    }

    #[inline]
    fn next(&mut self) -> Option<Event> {
        self.next_event()
    }

    #[inline]
    fn received(&self, len: usize) -> &[u8] {
        let (ring, buffer) = self.lent.expect("bytes were received and nothing was asked since");
        self.rings[ring].buffers.bytes(buffer, len)
    }

    #[inline]
    fn is_ending(&self, conn: ConnId) -> bool {
        self.knows_end(conn)
    }

    fn waker(&self) -> Result<Waker, Errno> {
        Ok(self.waker.clone())
    }

    fn stale(&self) -> u64 {
        self.slots.stale
    }
}

impl Uring {
    /// Returns the number of receives so far that found no free buffer. They are repeated. Many of
    /// them mean that there are too few buffers for the data of one turn.
    pub const fn no_buffer_count(&self) -> u64 {
        self.starved
    }

    /// Returns this unused driver with at most `max` connections with an armed receive.
    #[must_use]
    pub fn with_hot_max(mut self, max: u32) -> Self {
        self.slots = Slots::new(self.slots.per_ring(), max);
        self.rings.iter().for_each(|_| self.slots.add_ring());
        self
    }

    /// Returns the number of rings.
    pub const fn rings(&self) -> usize {
        self.rings.len()
    }

    /// Returns a ring with room for another socket; makes one if necessary.
    fn ring_with_room(&mut self) -> Result<usize, Errno> {
        if let Some(errno) = self.failed {
            return Err(errno);
        }
        if self.slots.has_room(self.roomy) {
            return Ok(self.roomy);
        }
        self.roomy = match (0..self.rings.len()).find(|&ring| self.slots.has_room(ring)) {
            Some(ring) => ring,
            None => self.add_ring()?,
        };
        Ok(self.roomy)
    }

    fn add_ring(&mut self) -> Result<usize, Errno> {
        if self.rings.len() == RINGS_MAX {
            return Err(Errno(libc::EMFILE));
        }
        let witness = self.witness.as_ref().expect("it is taken when there will be no more rings");
        let ring = Ring::new(self.slots.per_ring(), witness.end())?;
        if self.rings.len() == 1 {
            // A wait in the kernel is for one ring only, so several rings share an eventfd.
            let eventfd = eventfd::eventfd()?;
            self.rings[0].register_eventfd(eventfd.as_fd())?;
            self.eventfd = Some(eventfd);
        }
        if let Some(eventfd) = &self.eventfd {
            ring.register_eventfd(eventfd.as_fd())?;
        }
        self.rings.push(ring);
        self.slots.add_ring();
        Ok(self.rings.len() - 1)
    }

    /// Returns the send state of `slot`, which has a connection.
    #[inline]
    fn flow(&mut self, slot: u32) -> &mut Flow {
        &mut self.flows[slot as usize]
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // Queued sends leave now; other drivers would have sent them immediately.
        let _ = self.submit();
        // New peers are refused from now on, even if the rest takes long.
        self.listeners.shut_down();
        if self.slots.len() <= FEW {
            self.rings.iter_mut().for_each(Ring::quiesce);
            return;
        }
        let buffers: Vec<_> = self.rings.drain(..).map(Ring::close).collect();
        let witness = self.witness.take().expect("only `drop` takes it");
        if !witness.wait_all_closed(self.clock) {
            // The kernel may still write to the buffers, so they are leaked instead of being reused
            // for something else.
            std::mem::forget(buffers);
        }
    }
}
