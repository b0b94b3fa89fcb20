//! io\_uring instances, and queue entries, as this driver uses them.

use std::io;

use io_uring::{IoUring, opcode, squeue, types};

use super::addresses::Address;
use crate::Errno;
use crate::driver::SEGMENT_BYTES;
use crate::token::Token;

/// The only group of buffers of each ring.
pub(super) const GROUP: u16 = 0;

/// `IORING_RECVSEND_POLL_FIRST`: no bytes are expected to be there yet.
const POLL_FIRST: u16 = 1 << 0;
/// `IORING_RECV_MULTISHOT`.
const MULTISHOT: u16 = 1 << 1;

/// Makes an io\_uring instance with the flags that this driver requires.
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
        // Before 6.6 there is always an index array between the queue and its entries.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => builder.build(submissions),
        other => other,
    };
    made.map_err(|error| errno(&error))
}

/// Receives repeatedly into buffers of the group. `later`: no bytes are there yet.
pub(super) fn recv_multishot(socket: types::Fixed, later: bool) -> squeue::Entry {
    let how = MULTISHOT | if later { POLL_FIRST } else { 0 };
    opcode::Recv::new(socket, std::ptr::null_mut(), 0)
        .ioprio(how)
        .buf_group(GROUP)
        .build()
        .flags(squeue::Flags::BUFFER_SELECT)
}

/// Receives once, into a buffer of the group, what is there now.
pub(super) fn recv_once(socket: types::Fixed) -> squeue::Entry {
    opcode::Recv::new(socket, std::ptr::null_mut(), 0)
        .flags(libc::MSG_DONTWAIT)
        .buf_group(GROUP)
        .build()
        .flags(squeue::Flags::BUFFER_SELECT)
}

/// Sends `bytes`, or as many as the kernel takes immediately. The call that submits it makes the
/// attempt in any case. With `MSG_DONTWAIT` it is never deferred, so the bytes are free when that
/// call returns. With `MSG_WAITALL` a partial send is a failure, so that it completes visibly.
#[inline]
pub(super) fn send(socket: types::Fixed, bytes: &[u8]) -> squeue::Entry {
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | libc::MSG_WAITALL;
    opcode::Send::new(socket, bytes.as_ptr(), bytes.len() as u32).flags(flags).build()
}

/// Reports when one of `events` (`poll(2)`) occurs: once, or repeatedly.
pub(super) fn watch(socket: types::Fixed, events: i16, on: bool) -> squeue::Entry {
    opcode::PollAdd::new(socket, u32::from(events.cast_unsigned())).multi(on).build()
}

/// Reports whenever the file is readable.
pub(super) fn watch_file(file: types::Fd) -> squeue::Entry {
    opcode::PollAdd::new(file, u32::from(libc::POLLIN.cast_unsigned())).multi(true).build()
}

/// Makes a socket of an address family and kind in a slot of the table.
pub(super) fn make_socket(slot: u32, family: i32, kind: i32) -> squeue::Entry {
    opcode::Socket::new(family, kind, 0).file_index(Some(destination(slot))).build()
}

/// Switches a boolean option on.
pub(super) fn set_option(socket: types::Fixed, level: i32, option: i32) -> squeue::Entry {
    static ON: i32 = 1;
    let value = (&raw const ON).cast();
    opcode::SetSockOpt::new(socket, level as u32, option as u32, value, size_of::<i32>() as u32).build()
}

/// Makes the kernel cut what a UDP socket sends.
pub(super) fn cut_into_segments(socket: types::Fixed) -> squeue::Entry {
    static SIZE: i32 = SEGMENT_BYTES as i32;
    let (level, option) = (libc::SOL_UDP as u32, libc::UDP_SEGMENT as u32);
    opcode::SetSockOpt::new(socket, level, option, (&raw const SIZE).cast(), size_of::<i32>() as u32).build()
}

/// Switches a boolean option off.
pub(super) fn switch_off(socket: types::Fixed, level: i32, option: i32) -> squeue::Entry {
    static OFF: i32 = 0;
    let value = (&raw const OFF).cast();
    opcode::SetSockOpt::new(socket, level as u32, option as u32, value, size_of::<i32>() as u32).build()
}

/// Sets a zero linger time, so that closing resets the connection.
pub(super) fn set_linger_zero(socket: types::Fixed) -> squeue::Entry {
    static NONE: libc::linger = libc::linger { l_onoff: 1, l_linger: 0 };
    let (level, option) = (libc::SOL_SOCKET as u32, libc::SO_LINGER as u32);
    let length = size_of::<libc::linger>() as u32;
    opcode::SetSockOpt::new(socket, level, option, (&raw const NONE).cast(), length).build()
}

/// Resets the connection if options cannot be set: connecting to an unspecified address does that.
pub(super) fn disconnect(socket: types::Fixed) -> squeue::Entry {
    static NONE: libc::sockaddr = libc::sockaddr { sa_family: libc::AF_UNSPEC as u16, sa_data: [0; 14] };
    let length = size_of::<libc::sockaddr>() as libc::socklen_t;
    opcode::Connect::new(socket, &raw const NONE, length).build()
}

/// Installs the socket into the process's table of files (6.8). That descriptor is closed like any
/// other.
pub(super) fn install(socket: types::Fixed) -> squeue::Entry {
    opcode::FixedFdInstall::new(socket, 0).build()
}

pub(super) fn bind(socket: types::Fixed, at: &Address) -> squeue::Entry {
    opcode::Bind::new(socket, at.as_ptr(), at.length()).build()
}

pub(super) fn connect(socket: types::Fixed, to: &Address) -> squeue::Entry {
    opcode::Connect::new(socket, to.as_ptr(), to.length()).build()
}

/// Accepts one connection into a slot of the table.
pub(super) fn accept(listener: types::Fd, slot: u32) -> squeue::Entry {
    let none_asks = std::ptr::null_mut();
    opcode::Accept::new(listener, none_asks, std::ptr::null_mut()).file_index(Some(destination(slot))).build()
}

/// Cancels the operation with this token.
pub(super) fn cancel(token: Token) -> squeue::Entry {
    opcode::AsyncCancel::new(token.0).build()
}

fn destination(slot: u32) -> types::DestinationSlot {
    types::DestinationSlot::try_from_slot_target(slot).expect("tables have at most 2^20 slots")
}

/// Returns the errno of a failed system call.
pub(super) fn errno(error: &io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}
