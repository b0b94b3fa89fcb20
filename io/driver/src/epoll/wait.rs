//! Waiting to the microsecond: by `epoll_pwait2`, or with a timer among what is waited for.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use wavetank_plan::Nanos;

use super::{EVENTS_MAX, Epoll};
use crate::clock::TIME_LINE;
use crate::driver::ConnId;
use crate::token::{Operation, Token};
use crate::{Clock, Errno};

/// A timer that ends `epoll_wait`, because the timeout of that call has millisecond resolution.
pub(super) struct Timer {
    fd: OwnedFd,
    /// For when it is set; [`Nanos::MAX`]: for never.
    at: Nanos,
}

impl Timer {
    fn new() -> Result<Self, Errno> {
        // SAFETY: no pointers are passed.
        let fd =
            Errno::check(unsafe { libc::timerfd_create(TIME_LINE, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) })?;
        // SAFETY: the kernel just returned `fd`, and no other value owns it.
        Ok(Self { fd: unsafe { OwnedFd::from_raw_fd(fd) }, at: Nanos::MAX })
    }

    /// Ring at `at` and not before; a call only where that is news.
    fn set(&mut self, clock: Clock, at: Nanos) -> Result<(), Errno> {
        if self.at == at {
            return Ok(());
        }
        // Zero would disarm it, and means never; an instant before the host's start has passed
        // anyway.
        let ns = if at == Nanos::MAX { 0 } else { clock.monotonic(at).max(1) };
        let value = libc::timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 };
        let never = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let when = libc::itimerspec { it_interval: never, it_value: value };
        // SAFETY: `when` outlives the call; the old value is not asked for.
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
    /// From now on waits are ended by a timer.
    pub(super) fn add_timer(&mut self) -> Result<(), Errno> {
        let timer = Timer::new()?;
        let token = Token::new(Operation::Timer, ConnId { slot: 0, generation: 0 });
        // Edge-triggered: that it rang need not be read, each setting is an edge of its own.
        self.watch(&timer.fd, (libc::EPOLLIN | libc::EPOLLET) as u32, token)?;
        self.timer = Some(timer);
        Ok(())
    }

    /// Fill `ready`, waiting until `until` at most.
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
        // Not the C library's wrapper: that is a point of cancellation, which costs time.
        // SAFETY: `ready` has room for EVENTS_MAX events; `timeout` outlives the call; no signal mask.
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
