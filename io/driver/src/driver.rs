//! [`Driver`]: the interface of every socket engine.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_plan::Close;
use wavetank_units::Nanos;

use crate::{Clock, Errno, Features, HandshakeInfo, Waker};

/// The configuration of a driver.
#[derive(Clone, Copy, Debug)]
pub struct DriverConfig {
    /// The clock used for waiting.
    pub clock: Clock,
    /// Kernel features that may be used.
    pub features: Features,
    /// Expected maximum number of sockets: a hint for table sizes, not a limit.
    pub sockets: u32,
}

impl DriverConfig {
    /// Returns a configuration for a handful of sockets, with every feature of this kernel.
    pub fn small(clock: Clock) -> Self {
        Self { clock, features: Features::all(), sockets: 1_024 }
    }
}

/// The peer to connect to, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dial {
    /// The peer.
    pub to: SocketAddr,
    /// The local address. `None`: the kernel chooses it; port 0: the kernel chooses the port. An
    /// explicit port may be in `TIME_WAIT` towards `to`, or in use towards other peers, as long as
    /// this kind of driver used it.
    pub from: Option<SocketAddr>,
    /// This side sends as soon as it is connected. The last acknowledgement of the handshake may
    /// then travel with these bytes instead of ahead of them, which saves both ends a packet.
    pub speaks_at_once: bool,
    /// [`Driver::ends`] will be called once, as soon as the connection is open.
    pub asks_ends: bool,
    /// The TLS of this connection, if any. Drivers without TLS ignore it.
    pub tls: Option<DialTls>,
    /// A UDP socket is connected instead of a TCP connection. Each [`Event::Received`] has one
    /// datagram. Empty ones are not reported.
    ///
    /// Nothing is sent to connect. [`Event::Ended`] reports an error that came back over the
    /// network, such as `ECONNREFUSED` for a port that no program uses.
    pub datagrams: Option<Datagrams>,
}

impl Dial {
    /// Returns a dial to `to` without TLS, from an address that the kernel chooses.
    pub const fn plain(to: SocketAddr) -> Self {
        Self { to, from: None, speaks_at_once: false, asks_ends: false, tls: None, datagrams: None }
    }
}

/// What a send on a UDP socket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datagrams {
    /// One datagram.
    Whole,
    /// Datagrams of [`SEGMENT_BYTES`] each, the last of which may be shorter. The kernel cuts them
    /// (udp(7), `UDP_SEGMENT`).
    Segments,
}

/// The size of the datagrams of [`Datagrams::Segments`]: the largest for which QUIC need not know
/// the path (RFC 9000 §14).
pub const SEGMENT_BYTES: u16 = 1_200;

/// The TLS of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DialTls {
    /// Index into the server names of the TLS driver.
    pub name: u16,
    /// Key of the session cache that resumes it: the number of a virtual user, or one number for
    /// all.
    pub session: u32,
}

/// The local and the peer address of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnAddresses {
    /// The local address.
    pub own: SocketAddr,
    /// The peer's address.
    pub peer: SocketAddr,
}

/// One connection of one driver. Slots are reused; the generation distinguishes old connections
/// from new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnId {
    /// Index into the array of the owner.
    pub slot: u32,
    /// Number of uses of that slot.
    pub generation: u16,
}

/// A listening socket of one driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenerId(pub u32);

/// Something that happened on a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A peer connected to a listener.
    Accepted(ListenerId, ConnId),
    /// A connect succeeded.
    Connected(ConnId),
    /// The TLS handshake on a connection that was [`Event::Connected`] or [`Event::Accepted`] is
    /// complete.
    Secured(ConnId),
    /// A connect failed; the connection is gone.
    ConnectFailed(ConnId, Errno),
    /// This many bytes arrived. [`Driver::received`] returns them until the next call of
    /// [`Driver::next`].
    Received(ConnId, usize),
    /// All bytes of a send that was [`SendStatus::Pending`] are now with the kernel. Where
    /// [streams can be blocked](Driver::is_stream_blocked), one of them takes more.
    Flushed(ConnId),
    /// The peer will send no more, or the connection broke. The owner must still close it.
    Ended(ConnId, CloseReason),
    /// Another thread called [`Waker::wake`].
    Woken,
    /// Accepting failed, for example because no file was free. The driver tries again after a
    /// pause.
    AcceptFailed(ListenerId, Errno),
}

/// The way a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// FIN from the peer.
    Eof,
    /// FIN from the peer of a TLS connection without a `close_notify` before it. The received bytes
    /// may be cut short.
    Truncated,
    /// RST, or another error.
    Broken(Errno),
    /// TLS failed, in the handshake or later. [`Driver::tls_fault`] returns the reason.
    Tls,
    /// The stream of HTTP/2 that takes the place of a connection has ended.
    /// [`Driver::stream_end`] returns the reason.
    Stream,
}

/// Why a stream of HTTP/2 has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamEnd {
    /// The kind of end.
    pub kind: StreamEndKind,
    /// The exact reason.
    pub reason: String,
}

/// The kind of end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEndKind {
    /// The peer reset or refused the stream.
    Reset,
    /// The peer closed the connection in order.
    Closed,
    /// The peer broke the protocol, or does not support what the stream needs.
    Protocol,
}

/// Progress of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendStatus {
    /// The driver has taken all bytes, and the caller need not wait: the kernel has them, or limits
    /// of single streams hold them back.
    All,
    /// The rest is kept and sent when the peer reads. [`Event::Flushed`] follows.
    Pending,
}

/// Packets of QUIC connections. One datagram may carry several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCounts {
    /// Sent, including those that replace lost ones.
    pub sent: u64,
    /// Declared lost by QUIC's loss detection (RFC 9002 §6), probes of the path MTU excepted.
    pub lost: u64,
}

/// Sockets for one thread. The caller pulls events: [`wait`](Driver::wait) blocks, then
/// [`next`](Driver::next) returns what is ready. It returns one event at a time, so that the caller
/// bounds its work per turn.
pub trait Driver: Sized {
    /// Whether commands, above all sends, are executed by the next [`wait`](Driver::wait) instead
    /// of immediately.
    const SENDS_LATER: bool = false;

    /// Whether every event of [`next`](Driver::next) had happened when [`wait`](Driver::wait)
    /// returned, so that one instant holds for all of them.
    const REPORTED_BY_WAIT: bool = false;

    /// Whether connections carry streams. What is sent and received are then records of them, each
    /// with a header, which are no bytes of the peer.
    const HAS_RECORDS: bool = false;

    /// Makes a driver. Only the thread that makes it may use it.
    fn new(setup: &DriverConfig) -> Result<Self, Errno>;

    /// Starts connecting. [`Event::Connected`] or [`Event::ConnectFailed`] follows, unless this
    /// call returns an error. Either way, a local address in use is reported as `EADDRINUSE` or
    /// `EADDRNOTAVAIL`.
    fn connect(&mut self, dial: &Dial) -> Result<ConnId, Errno>;

    /// Starts TLS on a connection that was dialed without it. The connection must be
    /// [`Event::Connected`], and its earlier events must have been returned. [`Event::Secured`]
    /// follows, then plaintext. Bytes sent so far travel unencrypted, ahead of the handshake.
    ///
    /// # Errors
    /// `EPROTONOSUPPORT` if the driver has no TLS for `_tls`.
    fn secure(&mut self, _conn: ConnId, _tls: DialTls) -> Result<(), Errno> {
        Err(Errno(libc::EPROTONOSUPPORT))
    }

    /// Returns both addresses of a connection. Its dial must have [announced
    /// this](Dial::asks_ends), and it must be [`Event::Connected`].
    ///
    /// # Errors
    /// The kernel's error: `ENOTCONN` if the peer has already closed it, `EMFILE` if the query
    /// needs a file.
    fn ends(&mut self, _conn: ConnId) -> Result<ConnAddresses, Errno> {
        Err(Errno(libc::EOPNOTSUPP))
    }

    /// Returns for how long at least the data last received on a connection has been in the kernel.
    /// It may be up to two ticks of the kernel's timer longer (2 to 20 ms). `None`: unknown.
    fn last_received_age(&mut self, _conn: ConnId) -> Option<Nanos> {
        None
    }

    /// Listens on `at`, sharing the port with other threads of this process. Also returns the bound
    /// address.
    fn listen(&mut self, at: SocketAddr) -> Result<(ListenerId, SocketAddr), Errno>;

    /// Stops listening. New peers are refused, peers waiting to be accepted are reset, and other
    /// sockets may bind the ports. Peers that were accepted before may still be reported.
    fn stop_accepting(&mut self);

    /// Sends `bytes` after everything that is still pending on this connection. On an error none of
    /// them was sent, and no later bytes will be. Bytes that arrived before are still reported,
    /// then the end ([`Event::Ended`]).
    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno>;

    /// As [`send`](Driver::send), with shared bytes: pending ones need not be copied.
    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<SendStatus, Errno>;

    /// Whether the peer does not read what was sent before on this stream, so that no more of it
    /// should follow. [`Event::Flushed`] reports when that ends. It is only for drivers with
    /// [streams](Driver::HAS_RECORDS).
    fn is_stream_blocked(&self, _conn: ConnId, _stream: u64) -> bool {
        false
    }

    /// Returns the number of bytes the kernel has taken so far, on all connections.
    fn bytes_sent(&self) -> u64;

    /// Returns the packets of QUIC so far, on all connections.
    fn packets(&self) -> PacketCounts {
        PacketCounts::default()
    }

    /// Closes a connection. The id is invalid from now on, and no event of it follows. With FIN,
    /// bytes reported as sent are still delivered, unless the peer reads none of them for some
    /// time. That limit is one second if this side dialed, one minute if the peer did.
    fn close(&mut self, conn: ConnId, how: Close);

    /// Stops sending (FIN) while still receiving.
    fn shut_down_sending(&mut self, conn: ConnId);

    /// Returns the clock used by `wait`.
    fn clock(&self) -> Clock;

    /// Returns the present instant on that clock. A simulated driver has an instant of its own.
    #[inline]
    fn now(&self) -> Nanos {
        self.clock().now()
    }

    /// Waits until something is ready, or until `until`. Returns immediately if that instant has
    /// passed. Returns whether anything is ready.
    fn wait(&mut self, until: Nanos) -> Result<bool, Errno> {
        let now = self.now();
        self.wait_from(now, until)
    }

    /// As [`wait`](Driver::wait), for a caller that has just read the clock.
    fn wait_from(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno>;

    /// Returns the instant until which the last wait worked; if it slept, that is when the sleep
    /// started. `None`: this driver does no other work in its waits.
    fn worked_until(&self) -> Option<Nanos> {
        None
    }

    /// Returns the duration of the longest call that carried sends, in nanoseconds, since the last
    /// query. For drivers with [delayed sends](Driver::SENDS_LATER).
    fn take_longest_send(&mut self) -> u64 {
        0
    }

    /// Drops everything kept for this number of [`DialTls::session`]: a different user has it next.
    fn forget(&mut self, _session: u32) {}

    /// Sends immediately what was queued for the next wait. If that fails, the next wait returns
    /// the error.
    fn send_now(&mut self) {}

    /// Returns a connection on which sends reported as [`SendStatus::All`] were not sent because it
    /// had broken, and the number of these last sends. Call it after each wait, before the events,
    /// until it returns `None`. It is only for drivers with [delayed sends](Driver::SENDS_LATER).
    fn take_unsent(&mut self) -> Option<(ConnId, u32)> {
        None
    }

    /// Returns the next event, or `None` when nothing more is ready.
    fn next(&mut self) -> Option<Event>;

    /// Returns the bytes of the last [`Event::Received`].
    fn received(&self, len: usize) -> &[u8];

    /// Whether the bytes of the last [`Event::Received`], which were those of `conn`, are already
    /// known to be the last ones. [`Event::Ended`] follows.
    fn is_ending(&self, _conn: ConnId) -> bool {
        false
    }

    /// Returns a handle with which other threads end this driver's wait.
    fn waker(&self) -> Result<Waker, Errno>;

    /// Returns the number of stale completions dropped so far: those of connections closed in the
    /// meantime.
    fn stale(&self) -> u64;

    /// Returns the reason of the last [`CloseReason::Tls`].
    fn tls_fault(&self) -> Option<String> {
        None
    }

    /// Returns the reason of the last [`CloseReason::Stream`].
    fn stream_end(&self) -> Option<StreamEnd> {
        None
    }

    /// Whether `conn` is a stream on a connection that another stream has opened, so that its own
    /// connect and handshake took no time.
    fn is_on_earlier(&self, _conn: ConnId) -> bool {
        false
    }

    /// Returns the result of this connection's handshake; `None` before [`Event::Secured`] and
    /// without TLS.
    fn secured(&self, _conn: ConnId) -> Option<HandshakeInfo> {
        None
    }

    /// Returns the peer's certificate chain as DER, the peer's certificate first. Empty before
    /// [`Event::Secured`] and without TLS.
    fn peer_certificates(&self, _conn: ConnId) -> Vec<Vec<u8>> {
        Vec::new()
    }
}
