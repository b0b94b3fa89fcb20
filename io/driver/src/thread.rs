//! Kernel settings of a load thread.

use crate::Errno;

/// Makes this thread's timed waits end as precisely as the kernel can (timer slack 1 ns instead of
/// 50 µs).
pub fn fine_timers() {
    // SAFETY: no pointers are passed; the option takes one number. It cannot fail for the calling
    // thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
}

/// Restricts this thread to `cpu`.
pub fn pin_to(cpu: u32) -> Result<(), Errno> {
    // SAFETY: all-zero is a valid cpu_set_t.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: CPU_SET bounds-checks `cpu` against the set's size.
    unsafe { libc::CPU_SET(cpu as usize, &mut set) };
    // SAFETY: `set` is valid for the size given; 0 names the calling thread.
    Errno::check(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) })?;
    Ok(())
}
