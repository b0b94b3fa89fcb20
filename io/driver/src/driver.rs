//! [`Driver`]: what every socket engine offers.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_plan::{Close, Nanos};

use crate::{Clock, Errno, Waker};

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
    /// A connect failed; the connection is gone.
    ConnectFailed(ConnId, Errno),
    /// This many bytes came; [`Driver::received`] has them until the next call of [`Driver::next`].
    Received(ConnId, usize),
    /// A send that was [`Sent::Pending`] has left for the kernel whole.
    Flushed(ConnId),
    /// The peer will send no more, or the connection broke. It must still be closed.
    Ended(ConnId, Ended),
    /// Somebody rang the [`Waker`].
    Woken,
    /// Accepting failed, e.g. for want of files; the driver tries again after a pause.
    AcceptFailed(ListenerId, Errno),
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// FIN from the peer.
    Eof,
    /// RST, or another error.
    Broken(Errno),
}

/// How far a send came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// All bytes are with the kernel.
    All,
    /// The rest is kept and follows when the peer reads; [`Event::Flushed`] tells.
    Pending,
}

/// Sockets for one thread. Events are pulled: [`wait`](Driver::wait) blocks, [`next`](Driver::next) then
/// yields what is ready, one event at a time, so that the caller bounds its work per turn.
pub trait Driver: Sized {
    /// A new driver on `clock`.
    fn new(clock: Clock) -> Result<Self, Errno>;

    /// Start connecting to `to`, from `from` if given (port 0: the kernel picks the port).
    /// [`Event::Connected`] or [`Event::ConnectFailed`] follows, unless an error is returned at once.
    fn connect(&mut self, to: SocketAddr, from: Option<SocketAddr>) -> Result<ConnId, Errno>;

    /// Listen on `at`, sharing the port with other threads of this process. Returns the bound address too.
    fn listen(&mut self, at: SocketAddr) -> Result<(ListenerId, SocketAddr), Errno>;

    /// Send `bytes` after whatever is still pending on this connection. An error is the connection's end,
    /// which must still be closed.
    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<Sent, Errno>;

    /// The same with bytes that are shared, so that what is kept need not be copied.
    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<Sent, Errno>;

    /// Bytes the kernel has taken so far, on all connections.
    fn bytes_sent(&self) -> u64;

    /// Close. The id is dead at once; nothing more is heard of it.
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

    /// The next thing that happened, or `None` when nothing is ready any more.
    fn next(&mut self) -> Option<Event>;

    /// The bytes of the last [`Event::Received`].
    fn received(&self, len: usize) -> &[u8];

    /// A handle by which other threads end this driver's wait.
    fn waker(&self) -> Result<Waker, Errno>;

    /// Stale completions dropped so far: about connections closed in the meantime.
    fn stale(&self) -> u64;
}
