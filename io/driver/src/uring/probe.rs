//! [`probe_uring`]: tests whether io\_uring is usable on this host as the driver needs it.
//!
//! It tries the operations and ignores the kernel's version: hosts forbid io\_uring by sysctl or by
//! a filter of system calls, and distributions backport features.

use io_uring::{IoUring, Probe, cqueue, opcode, types};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};

use super::buffers::Buffers;
use super::sqe::{errno, recv_multishot, set_up};
use crate::Errno;

/// The optional features that are available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UringFacts {
    /// Direct descriptors can be bound and given options (6.11).
    pub bind_op: bool,
}

/// The first required feature that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UringMissing {
    /// The reason: `EPERM` if it is forbidden, `ENOSYS` if it was left out, `EINVAL` if the kernel
    /// is too old.
    pub errno: Errno,
    /// The call or the feature that failed, e.g. `io_uring_setup`.
    pub what: &'static str,
}

/// The operations that the driver requires, with their names.
const NEEDED: [(u8, &str); 9] = [
    (opcode::Socket::CODE, "IORING_OP_SOCKET"),
    (opcode::Connect::CODE, "IORING_OP_CONNECT"),
    (opcode::Accept::CODE, "IORING_OP_ACCEPT"),
    (opcode::Send::CODE, "IORING_OP_SEND"),
    (opcode::Recv::CODE, "IORING_OP_RECV"),
    (opcode::PollAdd::CODE, "IORING_OP_POLL_ADD"),
    (opcode::AsyncCancel::CODE, "IORING_OP_ASYNC_CANCEL"),
    (opcode::Shutdown::CODE, "IORING_OP_SHUTDOWN"),
    (opcode::Close::CODE, "IORING_OP_CLOSE"),
];

/// Tries the operations of the driver on sockets made for this test.
pub fn probe_uring() -> Result<UringFacts, UringMissing> {
    let fails = |what| move |errno: Errno| UringMissing { errno, what };
    let uring = set_up(8, 8).map_err(fails("io_uring_setup"))?;
    let facts = uring.params();
    if !(facts.is_feature_ext_arg() && facts.is_feature_nodrop() && facts.is_feature_skip_cqe_on_success()) {
        return Err(fails("io_uring features")(Errno(libc::EINVAL)));
    }
    let mut known = Probe::new();
    let asked = uring.submitter().register_probe(&mut known);
    asked.map_err(|error| fails("IORING_REGISTER_PROBE")(errno(&error)))?;
    for (code, name) in NEEDED {
        if !known.is_supported(code) {
            return Err(fails(name)(Errno(libc::EINVAL)));
        }
    }
    let table = uring.submitter().register_files_sparse(1);
    table.map_err(|error| fails("IORING_REGISTER_FILES2")(errno(&error)))?;
    receives(uring)?;
    // Options on direct descriptors (6.7) came before binding them.
    Ok(UringFacts { bind_op: known.is_supported(opcode::Bind::CODE) })
}

/// Tries a multishot receive into provided buffers.
fn receives(uring: IoUring) -> Result<(), UringMissing> {
    let fails = |what| move |errno: Errno| UringMissing { errno, what };
    let from_rustix = |errno: rustix::io::Errno| Errno(errno.raw_os_error());
    let buffers = Buffers::new().map_err(fails("mmap"))?;
    buffers.register(&uring).map_err(fails("IORING_REGISTER_PBUF_RING"))?;
    // Shadowed, so that it is dropped before the buffers that it receives into.
    let mut uring = uring;
    let (near, far) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(|errno| fails("socketpair")(from_rustix(errno)))?;
    uring
        .submitter()
        .register_files_update(0, &[std::os::fd::AsRawFd::as_raw_fd(&near)])
        .map_err(|error| fails("IORING_REGISTER_FILES_UPDATE")(errno(&error)))?;
    rustix::net::send(&far, b"x", SendFlags::NOSIGNAL).map_err(|errno| fails("send")(from_rustix(errno)))?;
    let entry = recv_multishot(types::Fixed(0), false);
    // SAFETY: the receive is into the registered buffers, which outlive the ring.
    unsafe { uring.submission().push(&entry) }.expect("the queue is empty");
    uring.submit_and_wait(1).map_err(|error| fails("io_uring_enter")(errno(&error)))?;
    let came = uring.completion().next();
    let result = match came {
        Some(entry) if entry.result() == 1 && cqueue::more(entry.flags()) => Ok(()),
        Some(entry) => Err(Errno(if entry.result() < 0 { -entry.result() } else { libc::EINVAL })),
        None => Err(Errno(libc::EINVAL)),
    };
    drop(uring);
    result.map_err(fails("multishot receive"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_this_kernel_has() {
        let made = set_up(8, 8).map(drop);
        match probe_uring() {
            Ok(_) => assert_eq!(made, Ok(())),
            Err(missing) if missing.what == "io_uring_setup" => assert_eq!(made, Err(missing.errno)),
            Err(missing) => assert!(made.is_ok() && missing.errno.0 > 0, "{missing:?}"),
        }
    }
}
