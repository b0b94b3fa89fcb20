//! [`run_in_vm_clone`]: work on this process's memory, with a separate file table.
//!
//! Where a container forbids `unshare(CLONE_FILES)`, a process made by `clone(CLONE_VM)` serves as
//! well. It is like a thread, except for its files, its signals and its entry in the process list.
//! It works on the memory of the thread that made it, thread-local storage included, while that
//! thread waits for it in the kernel. Channels, locks and the allocator keep working, because to
//! them it *is* that thread. So only one of the two is in user code at any time.
//!
//! A process that crashes leaves the memory as it was at that instant: a lock it held stays locked,
//! even the allocator's. Code that handles a crash on the thread that made the process must use as
//! little as possible.

use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::Errno;
use crate::file_tables::close_all_but;

/// As much as Rust gives its threads.
const STACK_BYTES: usize = 2 << 20;
/// Below the stack, so that an overflow is a crash and not a corruption.
const GUARD_BYTES: usize = 64 << 10;
/// Exit code of work that was not begun because whom it was for had gone.
const NOT_BEGUN: i32 = 1;

/// The process ended without having come to the end of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The status as `wait4` returns it.
    status: i32,
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if libc::WIFSIGNALED(self.status) {
            write!(f, "its process was ended by signal {}", libc::WTERMSIG(self.status))
        } else {
            write!(f, "its process ended with code {}", libc::WEXITSTATUS(self.status))
        }
    }
}

/// What the process takes with it, and what it leaves.
struct Job<F> {
    work: Option<F>,
    maker: libc::pid_t,
    keep: Option<i32>,
    panic: Option<Box<dyn Any + Send>>,
}

/// Runs `work` in a process that shares this one's memory and has a file table of its own, and
/// waits for its end.
///
/// Of this process's files, the first three (standard streams) and `keep` are copied. `work` must
/// not start threads. The process ends at the latest with the thread that called this. A panic of
/// `work` continues here. Fails where the kernel refuses such a process.
pub(crate) fn run_in_vm_clone<F: FnOnce()>(keep: Option<i32>, work: F) -> Result<Result<(), Crash>, Errno> {
    let stack = Stack::new()?;
    // SAFETY: no arguments, and it cannot fail.
    let maker = unsafe { libc::getpid() };
    let mut job = Job { work: Some(work), maker, keep, panic: None };
    // No handler may run on this thread while its thread-local storage is lent out; handlers of the
    // whole process run on its other threads. The new process inherits the mask.
    let signals = Signals::block_all();
    // SAFETY: the stack is mapped, aligned and not used elsewhere; `job` outlives the process,
    // because this thread waits for its end. The flags share memory and nothing else. There is no
    // CLONE_SETLS, so thread-local storage is this thread's, which does not touch it (no call below
    // does, unless it fails) until the process is gone.
    let process = unsafe { libc::clone(enter::<F>, stack.top(), libc::CLONE_VM, (&raw mut job).cast()) };
    if process < 0 {
        let errno = Errno::last();
        drop(signals);
        return Err(errno);
    }
    let mut status = 0;
    // Not the C library's wrapper, which is a point of cancellation and writes to thread-local storage.
    // SAFETY: `status` is writable. __WALL: the process announces its end by no signal.
    while unsafe { libc::syscall(libc::SYS_wait4, process, &raw mut status, libc::__WALL, 0_usize) } < 0 {
        // With all signals blocked nothing interrupts the wait; any other error means that the
        // process is gone.
        if Errno::last() != Errno(libc::EINTR) {
            status = libc::SIGKILL;
            break;
        }
    }
    let done = libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
    if !done && Signals::take_abort() {
        // The one way of ending that it did not find by itself.
        status = libc::SIGABRT;
    }
    drop(signals);
    if let Some(panic) = job.panic.take() {
        resume_unwind(panic);
    }
    Ok(if done { Ok(()) } else { Err(Crash { status }) })
}

/// The first thing the process does, and the last: what is returned is its exit code.
extern "C" fn enter<F: FnOnce()>(job: *mut c_void) -> i32 {
    // SAFETY: it is the job of `in_own_process`, which waits and touches it only after this
    // process's end.
    let job = unsafe { &mut *job.cast::<Job<F>>() };
    // SAFETY: plain numbers. It cannot fail with a valid signal.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // SAFETY: no arguments, and it cannot fail.
    if unsafe { libc::getppid() } != job.maker {
        return NOT_BEGUN;
    }
    Signals::allow_faults();
    close_all_but(job.keep);
    let Some(work) = job.work.take() else { return NOT_BEGUN };
    // Unwinding must end here: below are no frames of this stack.
    job.panic = catch_unwind(AssertUnwindSafe(work)).err();
    0
}

/// Memory for a stack, with a guard below it.
struct Stack(*mut c_void);

impl Stack {
    fn new() -> Result<Self, Errno> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: a new mapping wherever the kernel likes.
        let base =
            unsafe { libc::mmap(std::ptr::null_mut(), GUARD_BYTES + STACK_BYTES, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        let stack = Self(base);
        // SAFETY: these are the first pages of the new mapping, which are unused.
        Errno::check(unsafe { libc::mprotect(base, GUARD_BYTES, libc::PROT_NONE) })?;
        Ok(stack)
    }

    /// Stacks grow downwards.
    fn top(&self) -> *mut c_void {
        self.0.wrapping_byte_add(GUARD_BYTES + STACK_BYTES)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and the process that ran on it is gone.
        unsafe { libc::munmap(self.0, GUARD_BYTES + STACK_BYTES) };
    }
}

/// The mask of signals of a thread, put back when dropped.
struct Signals(libc::sigset_t);

impl Signals {
    fn block_all() -> Self {
        // SAFETY: all-zero is a valid sigset_t, both sets are valid for the calls; they cannot fail so.
        unsafe {
            let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Self(before)
        }
    }

    /// Takes a pending abort signal of this thread, which would be delivered when the old mask is
    /// restored. musl's `abort` signals the thread named in thread-local storage, which in the
    /// process is its maker. Returns whether there was one.
    fn take_abort() -> bool {
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: all-zero is a valid sigset_t, and set and timeout are valid for the call; the
        // sender is not requested.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGABRT);
            libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const at_once) == libc::SIGABRT
        }
    }

    /// A fault of the process must end it, and the terminal must be able to stop it. A keyboard
    /// interrupt reaches it too, since it is in the same group; its maker handles that.
    fn allow_faults() {
        let faults = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGTRAP];
        let stops = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU, libc::SIGCONT];
        // SAFETY: as above.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in faults.into_iter().chain(stops) {
                libc::sigaddset(&raw mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: the set was filled by the kernel.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does what musl's `abort` does: it asks thread-local storage for the thread to signal, which
    /// is the maker's.
    #[test]
    fn an_abort_that_hits_the_maker_is_the_process_s() {
        // SAFETY: no arguments.
        let maker = unsafe { libc::syscall(libc::SYS_gettid) };
        let ended = run_in_vm_clone(None, || {
            // SAFETY: plain numbers; the process ends here.
            unsafe {
                libc::syscall(libc::SYS_tkill, maker, libc::SIGABRT);
                libc::_exit(127);
            }
        });
        // Where a filter forbids such processes there is nothing to see.
        let Ok(ended) = ended else { return };
        let crash = ended.expect_err("it did not come to its end");
        assert_eq!(crash.to_string(), "its process was ended by signal 6");
        assert_eq!(run_in_vm_clone(None, || {}), Ok(Ok(())));
    }
}
