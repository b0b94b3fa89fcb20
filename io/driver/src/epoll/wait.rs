//! Waiting with microsecond precision: by `epoll_pwait2`, or with a timer among the watched files.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use wavetank_units::Nanos;

use super::{EVENTS_MAX, Epoll};
use crate::clock::TIME_LINE;
use crate::driver::ConnId;
use crate::token::{Operation, Token};
use crate::{Clock, Errno};

/// A timer that ends `epoll_wait`: the timeout of that call counts in milliseconds.
pub(super) struct Timer {
    fd: OwnedFd,
    /// The instant it is set to; [`Nanos::MAX`] if it is not set.
    at: Nanos,
}

impl Timer {
    fn new() -> Result<Self, Errno> {
        // SAFETY: no pointers are passed.
        let fd =
            Errno::check(unsafe { libc::timerfd_create(TIME_LINE, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) })?;
        // SAFETY: `fd` was just returned by the kernel and has no other owner.
        Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(fd) }, at: Nanos::MAX })
    }

    /// Sets the timer to `at`. Makes a system call only if that is a change.
    fn set(&mut self, clock: Clock, at: Nanos) -> Result<(), Errno> {
        if self.at == at {
            return Ok(());
        }
        // Zero would disarm the timer, and is used for "never". An instant before the host's start
        // has passed, so 1 serves.
        let ns = if at == Nanos::MAX { 0 } else { clock.monotonic(at).max(1) };
        let value = libc::timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 };
        let never = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let when = libc::itimerspec { it_interval: never, it_value: value };
        // SAFETY: `when` outlives the call; the old value is not requested.
        Errno::check(unsafe {
            libc::timerfd_settime(
                self.fd.as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &raw const when,
                std::ptr::null_mut(),
            )
        })?;
        self.at = at;
        Ok(())
    }
}

impl Epoll {
    /// From now on, a timer ends the waits.
    pub(super) fn add_timer(&mut self) -> Result<(), Errno> {
        let timer = Timer::new()?;
        let token = Token::new(Operation::Timer, ConnId { slot: 0, generation: 0 });
        // Edge-triggered: each setting causes a new edge, so the timer need not be read.
        self.watch(&timer.fd, (libc::EPOLLIN | libc::EPOLLET) as u32, token)?;
        self.timer = Some(timer);
        Ok(())
    }

    /// Fills `ready`; waits until `until` at most.
    pub(super) fn wait_kernel(&mut self, now: Nanos, until: Nanos) -> Result<(), Errno> {
        if self.timer.is_none() {
            match self.wait_exactly(until.since(now)) {
                // A kernel before 5.11, or a filter that does not know the call.
                Err(Errno(libc::ENOSYS | libc::EPERM)) => self.add_timer()?,
                result => return result,
            }
        }
        let past = until <= now;
        let clock = self.clock;
        if let Some(timer) = self.timer.as_mut().filter(|_| !past) {
            timer.set(clock, until)?;
        }
        // SAFETY: `ready` has room for EVENTS_MAX events; no signal mask is passed.
        let result = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait,
                self.fd.as_raw_fd(),
                self.ready.as_mut_ptr(),
                EVENTS_MAX,
                if past { 0 } else { -1 },
                std::ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        self.take_ready(result)?;
        let timer = Token::new(Operation::Timer, ConnId { slot: 0, generation: 0 });
        if let Some(rung) = self.ready.iter().position(|event| event.u64 == timer.0) {
            self.ready.remove(rung);
        }
        Ok(())
    }

    fn wait_exactly(&mut self, left: u64) -> Result<(), Errno> {
        let timeout =
            libc::timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as i64 };
        // The C library's wrapper is avoided: it is a cancellation point, which costs time. SAFETY:
        // `ready` has room for EVENTS_MAX events; `timeout` outlives the call; no signal mask.
        let result = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.fd.as_raw_fd(),
                self.ready.as_mut_ptr(),
                EVENTS_MAX,
                &raw const timeout,
                std::ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        self.take_ready(result)
    }

    fn take_ready(&mut self, result: libc::c_long) -> Result<(), Errno> {
        let count = Errno::check(result as i32)?;
        // SAFETY: the kernel initialised exactly `count` events, at most EVENTS_MAX.
        unsafe { self.ready.set_len(count as usize) };
        Ok(())
    }
}
