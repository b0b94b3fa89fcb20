//! [`DatagramListener`]: a UDP socket that receives from any peer.

use std::cell::Cell;
use std::io::{Error, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd as _;

use wavetank_units::Nanos;

use crate::driver::SEGMENT_BYTES;
use crate::reply_socket::{ReceivedDatagram, ReplySocket};
use crate::{Errno, Waker, socket};

/// The size of its buffers in the kernel, if that allows it: datagrams of some thousand clients.
const BUFFER_BYTES: libc::c_int = 4 << 20;

/// A UDP socket that receives from any peer.
#[derive(Debug)]
pub struct DatagramListener {
    socket: ReplySocket,
    waker: Waker,
    /// The kernel cuts what is sent.
    cuts: Cell<bool>,
}

/// What a wait has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// There are datagrams to receive.
    pub readable: bool,
    /// Another thread called [`Waker::wake`].
    pub woken: bool,
}

impl DatagramListener {
    /// Binds a socket to `at`.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn bind(at: SocketAddr) -> Result<Self, Errno> {
        let socket = ReplySocket::bind(at).map_err(errno)?;
        socket.socket().set_nonblocking(true).map_err(errno)?;
        let size = BUFFER_BYTES;
        for option in [libc::SO_RCVBUF, libc::SO_SNDBUF] {
            // SAFETY: the value is readable for its length. A smaller buffer is no failure.
            unsafe {
                libc::setsockopt(
                    socket.socket().as_raw_fd(),
                    libc::SOL_SOCKET,
                    option,
                    (&raw const size).cast(),
                    size_of_val(&size) as libc::socklen_t,
                )
            };
        }
        Ok(Self { socket, waker: Waker::new()?, cuts: Cell::new(false) })
    }

    /// Prepares for [`send_segments`](Self::send_segments). Afterwards no other datagram may be
    /// longer than [`SEGMENT_BYTES`].
    pub fn cut_into_segments(&self) {
        self.cuts.set(socket::cut_into(self.socket.socket(), SEGMENT_BYTES).is_ok());
    }

    /// Returns the address that it is bound to.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn address(&self) -> Result<SocketAddr, Errno> {
        self.socket.socket().local_addr().map_err(errno)
    }

    /// Returns a handle with which other threads end a wait.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Waits until datagrams can be received, until a wake-up, or for `timeout`.
    ///
    /// # Errors
    /// The kernel's error. A signal is none.
    pub fn wait(&self, timeout: Nanos) -> Result<Readiness, Errno> {
        let wanted = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut files = [wanted(self.socket.socket().as_raw_fd()), wanted(self.waker.fd().as_raw_fd())];
        let nanos = timeout.0.max(0);
        let timeout = libc::timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 };
        // SAFETY: `files` is writable for its length, `timeout` is readable, and no mask is given.
        let ready = unsafe { libc::ppoll(files.as_mut_ptr(), 2, &raw const timeout, std::ptr::null()) };
        if ready < 0 {
            let error = Error::last_os_error();
            if error.kind() != ErrorKind::Interrupted {
                return Err(errno(error));
            }
            return Ok(Readiness { readable: false, woken: false });
        }
        let woken = files[1].revents != 0 && self.waker.acknowledge();
        Ok(Readiness { readable: files[0].revents != 0, woken })
    }

    /// Receives a datagram. `None`: there is none now.
    ///
    /// # Errors
    /// The kernel's error. Errors of datagrams that were sent earlier are not reported.
    pub fn receive(&self, buffer: &mut [u8]) -> Result<Option<ReceivedDatagram>, Errno> {
        match self.socket.receive(buffer) {
            Ok(received) => Ok(Some(received)),
            Err(error) if is_passing(&error) => Ok(None),
            Err(error) => Err(errno(error)),
        }
    }

    /// Sends a datagram, from the address `local` if it is given. One that the kernel does not take
    /// now is lost, like one on the way.
    pub fn send(&self, bytes: &[u8], to: SocketAddr, local: Option<IpAddr>) {
        let _ = self.socket.send(bytes, to, local);
    }

    /// Sends datagrams of [`SEGMENT_BYTES`] each, the last of which may be shorter.
    pub fn send_segments(&self, bytes: &[u8], to: SocketAddr, local: Option<IpAddr>) {
        if self.cuts.get() && bytes.len() > SEGMENT_BYTES.into() {
            match self.socket.send(bytes, to, local) {
                // A network card that computes no checksums cannot cut, before Linux 6.11. A packet
                // must not be longer than what the path takes.
                Err(error) if matches!(error.raw_os_error(), Some(libc::EIO | libc::EINVAL)) => {
                    self.cuts.set(socket::cut_into(self.socket.socket(), 0).is_err());
                }
                _ => return,
            }
        }
        for datagram in bytes.chunks(SEGMENT_BYTES.into()) {
            self.send(datagram, to, local);
        }
    }
}

fn is_passing(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock
            | ErrorKind::Interrupted
            | ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
    )
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to map_err")]
fn errno(error: Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}
