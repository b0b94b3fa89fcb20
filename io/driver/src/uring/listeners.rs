//! [`Listeners`]: the sockets that accept peers.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use wavetank_units::Nanos;

use crate::driver::ListenerId;
use crate::{Errno, socket};

/// Listening sockets, and what is armed on them.
pub(super) struct Listeners {
    pub(super) list: Vec<Listener>,
    /// Some listener has fewer armed accepts than it should have.
    pub(super) short: bool,
    /// When failed listeners are tried again; [`Nanos::MAX`] if none has failed.
    pub(super) resume_at: Nanos,
    /// Accepting has ended permanently.
    pub(super) shut: bool,
}

pub(super) struct Listener {
    pub(super) fd: OwnedFd,
    pub(super) armed: u32,
    pub(super) paused: bool,
}

impl Listeners {
    pub(super) const fn new() -> Self {
        Self { list: Vec::new(), short: false, resume_at: Nanos::MAX, shut: false }
    }

    pub(super) fn add(&mut self, at: SocketAddr) -> Result<(ListenerId, SocketAddr), Errno> {
        let (fd, bound) = socket::listening(at)?;
        // A non-blocking listener would end every accept immediately.
        rustix::io::ioctl_fionbio(&fd, false).map_err(|errno| Errno(errno.raw_os_error()))?;
        let id = ListenerId(u32::try_from(self.list.len()).expect("a handful of listeners"));
        self.list.push(Listener { fd, armed: 0, paused: false });
        self.short = true;
        Ok((id, bound))
    }

    /// Stops accepting: waiting peers are reset, new ones are refused, and other sockets may listen
    /// on the port. Closing a listener is not enough, because armed accepts hold it; shutting it
    /// down ends them.
    pub(super) fn shut_down(&mut self) {
        self.shut = true;
        self.resume_at = Nanos::MAX;
        for listener in &self.list {
            let _ = rustix::net::shutdown(&listener.fd, rustix::net::Shutdown::Both);
        }
    }
}
