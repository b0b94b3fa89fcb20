//! [`run_in_vm_clone`]: runs work on this process's memory, with a separate table of files.
//!
//! A container may forbid `unshare(CLONE_FILES)`. A process made by `clone(CLONE_VM)` then serves
//! the same purpose. It differs from a thread only in its files, its signals and its entry in the
//! process list. It uses the memory of the thread that made it, including thread-local storage,
//! while that thread waits for it in the kernel. Channels, locks and the allocator keep working,
//! because to them it *is* that thread. Only one of the two is in user code at a time, so nothing
//! here runs concurrently.
//!
//! A crashed process leaves the memory as it was at that instant. A lock that it held stays locked,
//! even the allocator's. After a crash, the code on the thread that made the process must therefore
//! do as little as possible.

use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::Errno;
use crate::file_tables::close_all_but;

/// The default of Rust's threads.
const STACK_BYTES: usize = 2 << 20;
/// Guard pages below the stack: an overflow crashes instead of corrupting memory.
const GUARD_BYTES: usize = 64 << 10;
/// Exit code if the work was not started because the process that asked for it had ended.
const NOT_BEGUN: i32 = 1;

/// The process ended before its work was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The status that `wait4` returned.
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

/// Input and result of the process.
struct Job<F> {
    work: Option<F>,
    maker: libc::pid_t,
    keep: Option<i32>,
    panic: Option<Box<dyn Any + Send>>,
}

/// Runs `work` in a process that shares this one's memory and has a separate table of files. Waits
/// for it to end.
///
/// The new table has copies of the first three files (standard streams) and of `keep`. `work` must
/// not start threads. The process ends with the calling thread at the latest. A panic of `work`
/// continues here. Fails if the kernel refuses such a process.
pub(crate) fn run_in_vm_clone<F: FnOnce()>(keep: Option<i32>, work: F) -> Result<Result<(), Crash>, Errno> {
    let stack = Stack::new()?;
    // SAFETY: no arguments, and it cannot fail.
    let maker = unsafe { libc::getpid() };
    let mut job = Job { work: Some(work), maker, keep, panic: None };
    // No handler may run on this thread while the process uses its thread-local storage. Signals
    // sent to the whole process are handled on its other threads. The new process inherits the
    // mask.
    let signals = Signals::block_all();
    // SAFETY: the stack is mapped, aligned and not used by anything else. `job` outlives the
    // process, because this thread waits for its end. The flags share memory and nothing else.
    // There is no CLONE_SETTLS, so thread-local storage is that of this thread. No call below
    // touches it (unless it fails) until the process has ended.
    let process = unsafe { libc::clone(enter::<F>, stack.top(), libc::CLONE_VM, (&raw mut job).cast()) };
    if process < 0 {
        let errno = Errno::last();
        drop(signals);
        return Err(errno);
    }
    let mut status = 0;
    // The C library's wrapper is avoided: it is a cancellation point and writes to thread-local
    // storage. SAFETY: `status` is writable. __WALL: the process sends no signal when it ends.
    while unsafe { libc::syscall(libc::SYS_wait4, process, &raw mut status, libc::__WALL, 0_usize) } < 0 {
        // All signals are blocked, so nothing interrupts the call. Any other error means that the
        // process has ended.
        if Errno::last() != Errno(libc::EINTR) {
            status = libc::SIGKILL;
            break;
        }
    }
    let done = libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
    if !done && Signals::take_abort() {
        // An abort that was signalled to this thread instead: the process could not end by it.
        status = libc::SIGABRT;
    }
    drop(signals);
    if let Some(panic) = job.panic.take() {
        resume_unwind(panic);
    }
    Ok(if done { Ok(()) } else { Err(Crash { status }) })
}

/// Entry point of the process. The return value is its exit code.
extern "C" fn enter<F: FnOnce()>(job: *mut c_void) -> i32 {
    // SAFETY: this is the job of `run_in_vm_clone`, which waits and touches it only after this
    // process has ended.
    let job = unsafe { &mut *job.cast::<Job<F>>() };
    // SAFETY: only numbers are passed. The call cannot fail with a valid signal.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // SAFETY: no arguments, and it cannot fail.
    if unsafe { libc::getppid() } != job.maker {
        return NOT_BEGUN;
    }
    Signals::allow_faults();
    close_all_but(job.keep);
    let Some(work) = job.work.take() else { return NOT_BEGUN };
    // Unwinding must stop here: this stack has no frames below.
    job.panic = catch_unwind(AssertUnwindSafe(work)).err();
    0
}

/// Memory for a stack, with guard pages below it.
struct Stack(*mut c_void);

impl Stack {
    fn new() -> Result<Self, Errno> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
        // SAFETY: this is a new mapping at an address that the kernel chooses.
        let base =
            unsafe { libc::mmap(std::ptr::null_mut(), GUARD_BYTES + STACK_BYTES, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        let stack = Self(base);
        // SAFETY: these are the first pages of the new mapping, which hold nothing.
        Errno::check(unsafe { libc::mprotect(base, GUARD_BYTES, libc::PROT_NONE) })?;
        Ok(stack)
    }

    /// The start of the stack: stacks grow downwards.
    fn top(&self) -> *mut c_void {
        self.0.wrapping_byte_add(GUARD_BYTES + STACK_BYTES)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and the process that ran on it has ended.
        unsafe { libc::munmap(self.0, GUARD_BYTES + STACK_BYTES) };
    }
}

/// The signal mask of a thread, restored when dropped.
struct Signals(libc::sigset_t);

impl Signals {
    fn block_all() -> Self {
        // SAFETY: all-zero is a valid sigset_t, and both sets are valid for the calls, so they
        // cannot fail.
        unsafe {
            let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Self(before)
        }
    }

    /// Consumes a pending abort of this thread and returns whether there was one. Otherwise the
    /// abort would end this process as soon as the blocking mask is restored. musl's `abort`
    /// signals the thread named in thread-local storage: in the process, that is the thread that
    /// made it.
    fn take_abort() -> bool {
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: all-zero is a valid sigset_t, and the set and the timeout are valid for the call.
        // The sender is not requested.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGABRT);
            libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const at_once) == libc::SIGABRT
        }
    }

    /// Unblocks signals that faults send, which must end the process, and those by which a terminal
    /// stops it. A keyboard interrupt also reaches this process, which is in the same group, but
    /// the thread that made it handles the interrupt.
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

    /// Does the same as musl's `abort`: it signals the thread named in thread-local storage, which
    /// is the one that made the process.
    #[test]
    fn an_abort_that_hits_the_maker_is_the_process_s() {
        // SAFETY: no arguments.
        let maker = unsafe { libc::syscall(libc::SYS_gettid) };
        let ended = run_in_vm_clone(None, || {
            // SAFETY: only numbers are passed; the process ends here.
            unsafe {
                libc::syscall(libc::SYS_tkill, maker, libc::SIGABRT);
                libc::_exit(127);
            }
        });
        // If a filter forbids such processes, there is nothing to test.
        let Ok(ended) = ended else { return };
        let crash = ended.expect_err("its work did not complete");
        assert_eq!(crash.to_string(), "its process was ended by signal 6");
        assert_eq!(run_in_vm_clone(None, || {}), Ok(Ok(())));
    }
}
