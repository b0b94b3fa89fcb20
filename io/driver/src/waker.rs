//! [`Waker`]: ends another thread's wait.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use crate::Errno;

/// Wakes a driver from another thread; the driver reports `Event::Woken`.
#[derive(Clone, Debug)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    pub(crate) fn new() -> Result<Self, Errno> {
        // SAFETY: no pointers are passed.
        let fd = Errno::check(unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) })?;
        // SAFETY: `fd` was just returned by the kernel and has no other owner.
        Ok(Self(Arc::new(unsafe { OwnedFd::from_raw_fd(fd) })))
    }

    /// Sends it through `post` to a thread with another table of files.
    pub(crate) fn send(&self, post: &OwnedFd) -> Result<(), Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut message = SendAncillaryBuffer::new(&mut space);
        let files = [self.0.as_fd()];
        message.push(SendAncillaryMessage::ScmRights(&files));
        sendmsg(post, &[IoSlice::new(b"w")], &mut message, SendFlags::empty())
            .map(drop)
            .map_err(|errno| Errno(errno.raw_os_error()))
    }

    /// Receives the waker sent into the other end of `post`.
    pub(crate) fn receive(post: &OwnedFd) -> Result<Self, Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut message = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0_u8];
        recvmsg(post, &mut [IoSliceMut::new(&mut byte)], &mut message, RecvFlags::CMSG_CLOEXEC)
            .map_err(|errno| Errno(errno.raw_os_error()))?;
        let files = message.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut files) => files.next(),
            _ => None,
        });
        // The kernel drops a file that does not fit into this table.
        files.map(|file| Self(Arc::new(file))).ok_or(Errno(libc::EMFILE))
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.0
    }

    /// Wakes the driver. Calls made before the driver has noticed the first one are merged with it.
    pub fn wake(&self) {
        let one = 1_u64.to_ne_bytes();
        // SAFETY: `one` is readable for its length. EAGAIN means that wake-ups are pending, which
        // is just as good.
        unsafe { libc::write(self.0.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Clears the wake-up. Returns whether there was one.
    pub(crate) fn acknowledge(&self) -> bool {
        let mut count = [0_u8; 8];
        // SAFETY: `count` is writable for its length.
        unsafe { libc::read(self.0.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) > 0 }
    }
}
