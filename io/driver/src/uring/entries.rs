//! An io\_uring instance, and what is queued on it, as this driver uses them.

use std::io;

use io_uring::{IoUring, opcode, squeue, types};

use crate::Errno;

/// The one group of buffers of each ring.
pub(super) const GROUP: u16 = 0;

/// `IORING_RECVSEND_POLL_FIRST`: nothing is expected to be there yet.
const POLL_FIRST: u16 = 1 << 0;
/// `IORING_RECV_MULTISHOT`.
const MULTISHOT: u16 = 1 << 1;

/// An io\_uring instance with the flags that this driver is built on.
pub(super) fn set_up(submissions: u32, completions: u32) -> Result<IoUring, Errno> {
    let mut builder = IoUring::builder();
    builder
        .dontfork()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .setup_submit_all()
        .setup_clamp()
        .setup_cqsize(completions);
    let made = match builder.clone().setup_no_sqarray().build(submissions) {
        // Before 6.6 there is always an array between the queue and its entries.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => builder.build(submissions),
        other => other,
    };
    made.map_err(|error| errno(&error))
}

/// Receive into buffers of the group, again and again. `later`: nothing is there yet.
pub(super) fn receive_on(socket: types::Fixed, later: bool) -> squeue::Entry {
    let how = MULTISHOT | if later { POLL_FIRST } else { 0 };
    opcode::Recv::new(socket, std::ptr::null_mut(), 0)
        .ioprio(how)
        .buf_group(GROUP)
        .build()
        .flags(squeue::Flags::BUFFER_SELECT)
}

/// The number in an error of a system call.
pub(super) fn errno(error: &io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}
