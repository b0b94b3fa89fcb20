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
    /// Our own address; `None`: the kernel chooses, port 0: it chooses the port. A port that is named may be in
    /// `TIME_WAIT` towards `to`, or in use towards other peers, as long as this driver's kind used it.
    pub from: Option<SocketAddr>,
    /// We send as soon as it is connected: the handshake's last acknowledgement may go with that instead of ahead
    /// of it, which spares both ends a packet.
    pub speaks_at_once: bool,
    /// [`Driver::ends`] will be asked for, once, as soon as it is connected.
    pub asks_ends: bool,
    /// Whose TLS this is; drivers without TLS take no notice.
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
    /// Whose session cache resumes it: a user's number, or one number for all.
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

/// One connection of one driver. Slots are used again; the generation tells old from new.
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
    /// Somebody rang the [`Waker`].
    Woken,
    /// Accepting failed, e.g. for want of files; the driver tries again after a pause.
    AcceptFailed(ListenerId, Errno),
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// FIN from the peer.
    Eof,
    /// FIN from the peer of a TLS connection that has not said in TLS that this is the end: what came may
    /// be cut short.
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
    /// The rest is kept and follows when the peer reads; [`Event::Flushed`] tells.
    Pending,
}

/// Sockets for one thread. Events are pulled: [`wait`](Driver::wait) blocks, [`next`](Driver::next) then
/// yields what is ready, one event at a time, so that the caller bounds its work per turn.
pub trait Driver: Sized {
    /// Whether what is commanded is done with the next [`wait`](Driver::wait) instead of at once: sends above all.
    const SENDS_LATER: bool = false;

    /// Whether all that [`next`](Driver::next) tells was there when [`wait`](Driver::wait) returned, so that one
    /// instant serves for all of it.
    const TOLD_BY_WAIT: bool = false;

    /// A new driver, to be used by the thread that makes it and no other.
    fn new(setup: &DriverConfig) -> Result<Self, Errno>;

    /// Start connecting. [`Event::Connected`] or [`Event::ConnectFailed`] follows, unless an error is
    /// returned at once. An own address that is taken is told either way as `EADDRINUSE` or
    /// `EADDRNOTAVAIL`.
    fn connect(&mut self, dial: &Dial) -> Result<ConnId, Errno>;

    /// Begin TLS on a connection that was dialed without, is [`Event::Connected`], and has told all that came before
    /// it: [`Event::Secured`] follows, then plaintext. What was sent so far went in the clear, ahead of the handshake.
    ///
    /// # Errors
    /// `EPROTONOSUPPORT` where there is no TLS for that.
    fn secure(&mut self, _conn: ConnId, _tls: DialTls) -> Result<(), Errno> {
        Err(Errno(libc::EPROTONOSUPPORT))
    }

    /// The ends of a connection whose dial [asked for them](Dial::asks_ends) and that is [`Event::Connected`].
    ///
    /// # Errors
    /// What the kernel says: `ENOTCONN` where the peer is gone already, `EMFILE` where asking needs a file.
    fn ends(&mut self, _conn: ConnId) -> Result<ConnAddresses, Errno> {
        Err(Errno(libc::EOPNOTSUPP))
    }

    /// Listen on `at`, sharing the port with other threads of this process. Returns the bound address too.
    fn listen(&mut self, at: SocketAddr) -> Result<(ListenerId, SocketAddr), Errno>;

    /// Listen no more: who dials from here on is refused, who waits to be accepted is reset, and the ports are free for
    /// whoever asks for them next. A peer that was accepted before may still be told of.
    fn stop_accepting(&mut self);

    /// Send `bytes` after whatever is still pending on this connection. An error: nothing of them was taken, and
    /// nothing more will be; what came before that is told, and then the end ([`Event::Ended`]).
    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno>;

    /// The same with bytes that are shared, so that what is kept need not be copied.
    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<SendStatus, Errno>;

    /// Bytes the kernel has taken so far, on all connections.
    fn bytes_sent(&self) -> u64;

    /// Close. The id is dead at once; nothing more is heard of it. By FIN, what was told to be with the kernel goes
    /// ahead, unless the peer takes none of it for long: a second where we dialed, a minute where it did.
    fn close(&mut self, conn: ConnId, how: Close);

    /// Stop sending (FIN) while still receiving.
    fn shut_down_sending(&mut self, conn: ConnId);

    /// The clock that `wait` goes by.
    fn clock(&self) -> Clock;

    /// Wait until something is ready, or until `until`; returns at once if it is past. Returns whether
    /// anything is ready.
    fn wait(&mut self, until: Nanos) -> Result<bool, Errno> {
        let now = self.clock().now();
        self.wait_from(now, until)
    }

    /// The same where the caller has just read the clock.
    fn wait_from(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno>;

    /// Until when the last wait worked: before it went to sleep, if it did. `None`: this driver does no work
    /// in its waits but theirs.
    fn worked_until(&self) -> Option<Nanos> {
        None
    }

    /// How long the longest call took that carried sends, since this was asked last; for drivers whose
    /// [sends leave later](Driver::SENDS_LATER).
    fn take_longest_send(&mut self) -> u64 {
        0
    }

    /// Whoever has this number of [`DialTls::session`] next is somebody else: nothing is kept for him.
    fn forget(&mut self, _session: u32) {}

    /// Let leave at once what was handed over for the next wait. Should that fail, the next wait tells.
    fn send_now(&mut self) {}

    /// Of sends that were told to be [`SendStatus::All`] and took nothing after all, because the connection had broken: on
    /// which connection, and how many of the last ones. To be asked behind each wait, before its events, until there
    /// are no more; and only of drivers whose [sends leave later](Driver::SENDS_LATER).
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

    /// What the handshake of this connection came to; `None` before [`Event::Secured`] and without TLS.
    fn secured(&self, _conn: ConnId) -> Option<HandshakeInfo> {
        None
    }

    /// The peer's certificate chain as DER, its own first; empty before [`Event::Secured`], and without TLS.
    fn peer_certificates(&self, _conn: ConnId) -> Vec<Vec<u8>> {
        Vec::new()
    }
}
