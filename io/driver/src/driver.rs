//! [`Driver`]: what every socket engine offers.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_plan::{Close, Nanos};

use crate::{Clock, Errno, Features, HandshakeInfo, Waker};

/// What a driver is made with.
#[derive(Clone, Copy, Debug)]
pub struct DriverConfig {
    /// The clock that waiting goes by.
    pub clock: Clock,
    /// What of the kernel may be used.
    pub features: Features,
    /// Sockets that are expected at most; a hint for sizing tables, not a limit.
    pub sockets: u32,
}

impl DriverConfig {
    /// For a handful of sockets, with everything this kernel has.
    pub fn small(clock: Clock) -> Self {
        Self { clock, features: Features::all(), sockets: 1_024 }
    }
}

/// Whom to connect to, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dial {
    /// The peer.
    pub to: SocketAddr,
    /// Source address; `None`: the kernel chooses it, port 0: the kernel chooses the port. An
    /// explicit port may be in `TIME_WAIT` towards `to`, or in use towards other peers, if this
    /// kind of driver used it.
    pub from: Option<SocketAddr>,
    /// We send as soon as it is connected. The last acknowledgement of the handshake may travel
    /// with that data, which saves both ends a packet.
    pub speaks_at_once: bool,
    /// [`Driver::ends`] will be asked for, once, as soon as it is connected.
    pub asks_ends: bool,
    /// TLS of this connection; drivers without TLS ignore it.
    pub tls: Option<DialTls>,
}

impl Dial {
    /// To `to`, from wherever the kernel likes, in the clear.
    pub const fn plain(to: SocketAddr) -> Self {
        Self { to, from: None, speaks_at_once: false, asks_ends: false, tls: None }
    }
}

/// The TLS of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DialTls {
    /// Index into the server names that the TLS driver was made with.
    pub name: u16,
    /// Session cache to resume from: the number of a user, or one number for all.
    pub session: u32,
}

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnAddresses {
    /// Ours.
    pub own: SocketAddr,
    /// The peer's.
    pub peer: SocketAddr,
}

/// One connection of one driver. Slots are reused; the generation distinguishes old from new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnId {
    /// Index into the owner's array.
    pub slot: u32,
    /// Counts the uses of that slot.
    pub generation: u16,
}

/// A listening socket of one driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenerId(pub u32);

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A peer connected to a listener.
    Accepted(ListenerId, ConnId),
    /// A connect succeeded.
    Connected(ConnId),
    /// The TLS handshake on a connection that was [`Event::Connected`] or [`Event::Accepted`] is complete.
    Secured(ConnId),
    /// A connect failed; the connection is gone.
    ConnectFailed(ConnId, Errno),
    /// This many bytes came; [`Driver::received`] has them until the next call of [`Driver::next`].
    Received(ConnId, usize),
    /// A send that was [`SendStatus::Pending`] has left for the kernel whole.
    Flushed(ConnId),
    /// The peer will send no more, or the connection broke. It must still be closed.
    Ended(ConnId, CloseReason),
    /// The [`Waker`] was called.
    Woken,
    /// Accepting failed, e.g. for want of files; the driver tries again after a pause.
    AcceptFailed(ListenerId, Errno),
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// FIN from the peer.
    Eof,
    /// FIN from the peer of a TLS connection without a TLS end message: the data may be truncated.
    Truncated,
    /// RST, or another error.
    Broken(Errno),
    /// TLS failed, in the handshake or later: [`Driver::tls_fault`] says how.
    Tls,
}

/// How far a send came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendStatus {
    /// All bytes are with the kernel.
    All,
    /// The rest is kept and follows when the peer reads; [`Event::Flushed`] reports it.
    Pending,
}

/// Sockets of one thread. Events are pulled: [`wait`](Driver::wait) blocks, then
/// [`next`](Driver::next) yields what is ready, one event at a time, so that the caller limits its
/// work per turn.
pub trait Driver: Sized {
    /// Whether commands, above all sends, are executed by the next [`wait`](Driver::wait) instead
    /// of immediately.
    const SENDS_LATER: bool = false;

    /// Whether all events of [`next`](Driver::next) were present when [`wait`](Driver::wait)
    /// returned, so that one instant applies to all of them.
    const TOLD_BY_WAIT: bool = false;

    /// A new driver, to be used by the thread that makes it and no other.
    fn new(setup: &DriverConfig) -> Result<Self, Errno>;

    /// Starts connecting. [`Event::Connected`] or [`Event::ConnectFailed`] follows, unless an error
    /// is returned directly. A source address in use is reported either way as `EADDRINUSE` or
    /// `EADDRNOTAVAIL`.
    fn connect(&mut self, dial: &Dial) -> Result<ConnId, Errno>;

    /// Starts TLS on a connection that was dialed without it, is [`Event::Connected`], and has
    /// reported all data before it. [`Event::Secured`] follows, then plaintext. Data sent so far
    /// went unencrypted, ahead of the handshake.
    ///
    /// # Errors
    /// `EPROTONOSUPPORT` where there is no TLS for that.
    fn secure(&mut self, _conn: ConnId, _tls: DialTls) -> Result<(), Errno> {
        Err(Errno(libc::EPROTONOSUPPORT))
    }

    /// Returns the addresses of a connection with a dial that [asked for them](Dial::asks_ends) and that
    /// is [`Event::Connected`].
    ///
    /// # Errors
    /// The kernel's error: `ENOTCONN` if the peer is gone already, `EMFILE` if the query needs a
    /// file.
    fn ends(&mut self, _conn: ConnId) -> Result<ConnAddresses, Errno> {
        Err(Errno(libc::EOPNOTSUPP))
    }

    /// Listens on `at`, sharing the port with other threads of this process. Also returns the bound
    /// address.
    fn listen(&mut self, at: SocketAddr) -> Result<(ListenerId, SocketAddr), Errno>;

    /// Stops listening. New connections are refused, those waiting to be accepted are reset, and
    /// the ports are free for other programs. A peer that was accepted before may still be
    /// reported.
    fn stop_accepting(&mut self);

    /// Sends `bytes` after all pending data of this connection. On an error none of them was taken,
    /// and no more will be. Data received before that is reported, and then the end
    /// ([`Event::Ended`]).
    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno>;

    /// The same with bytes that are shared, so that what is kept need not be copied.
    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<SendStatus, Errno>;

    /// Bytes the kernel has taken so far, on all connections.
    fn bytes_sent(&self) -> u64;

    /// Closes the connection. The id is invalid immediately, and no more events follow. With FIN,
    /// data handed to the kernel is sent first, unless the peer takes none of it for long: a second
    /// where we dialed, a minute where it did.
    fn close(&mut self, conn: ConnId, how: Close);

    /// Stop sending (FIN) while still receiving.
    fn shut_down_sending(&mut self, conn: ConnId);

    /// The clock that `wait` goes by.
    fn clock(&self) -> Clock;

    /// Waits until an event is ready or until `until`; returns directly if that is past. Returns
    /// whether an event is ready.
    fn wait(&mut self, until: Nanos) -> Result<bool, Errno> {
        let now = self.clock().now();
        self.wait_from(now, until)
    }

    /// The same where the caller has just read the clock.
    fn wait_from(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno>;

    /// Returns until when the last wait worked, which is before it went to sleep. `None`: this
    /// driver does no work of its own in its waits.
    fn worked_until(&self) -> Option<Nanos> {
        None
    }

    /// Returns the duration of the longest call that carried sends since the last query, for
    /// drivers with [later sends](Driver::SENDS_LATER).
    fn take_longest_send(&mut self) -> u64 {
        0
    }

    /// The next use of this number of [`DialTls::session`] belongs to another user, so its state is
    /// dropped.
    fn forget(&mut self, _session: u32) {}

    /// Sends data prepared for the next wait immediately. If that fails, the next wait reports it.
    fn send_now(&mut self) {}

    /// Returns sends that were reported as [`SendStatus::All`] and took nothing, because the
    /// connection had broken: the connection, and how many of its last sends. Call it after each
    /// wait, before its events, until it returns `None`; only for drivers with [later
    /// sends](Driver::SENDS_LATER).
    fn take_unsent(&mut self) -> Option<(ConnId, u32)> {
        None
    }

    /// The next thing that happened, or `None` when nothing is ready any more.
    fn next(&mut self) -> Option<Event>;

    /// The bytes of the last [`Event::Received`].
    fn received(&self, len: usize) -> &[u8];

    /// A handle by which other threads end this driver's wait.
    fn waker(&self) -> Result<Waker, Errno>;

    /// Stale completions dropped so far: about connections closed in the meantime.
    fn stale(&self) -> u64;

    /// What was wrong at the last [`CloseReason::Tls`].
    fn tls_fault(&self) -> Option<String> {
        None
    }

    /// Returns the result of the handshake of this connection; `None` before [`Event::Secured`] and
    /// without TLS.
    fn secured(&self, _conn: ConnId) -> Option<HandshakeInfo> {
        None
    }

    /// Returns the peer's certificate chain as DER, its own first; empty before [`Event::Secured`],
    /// and without TLS.
    fn peer_certificates(&self, _conn: ConnId) -> Vec<Vec<u8>> {
        Vec::new()
    }
}
