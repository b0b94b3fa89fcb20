//! Rare timing of the kernel, reproduced deliberately.

use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use super::*;
use crate::{Clock, Driver, DriverConfig, Feature, Features};

/// `IORING_SQ_TASKRUN`.
const TASKRUN: u32 = 1 << 2;
/// Index of the field with the offset of a ring's flags (`sq_off.flags`), among the 32-bit fields
/// of `struct io_uring_params`.
const FLAGS_FIELD: usize = 14;

/// Returns the offset of a ring's flags in the memory shared with the kernel.
fn flags_at() -> usize {
    let mut params = [0_u32; 30];
    // SAFETY: the array is as long as `struct io_uring_params` and outlives the call.
    let fd = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, params.as_mut_ptr()) };
    let fd = Errno::check(fd as i32).expect("a ring");
    // SAFETY: the kernel has just made it, and it has no other owner.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    params[FLAGS_FIELD] as usize
}

/// Sets the flag of a ring, as if its thread had done the work before the kernel set the flag for
/// it.
fn flag(ring: RawFd) {
    let at = flags_at();
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: this is a new mapping of the memory shared by ring and kernel; the queue starts at
    // its offset 0.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), at + 4, access, libc::MAP_SHARED, ring, 0) };
    assert_ne!(start, libc::MAP_FAILED, "{}", Errno::last());
    // SAFETY: the flags are in the mapping at a multiple of four, and are only ever changed
    // atomically.
    let flags = unsafe { &*start.wrapping_byte_add(at).cast::<AtomicU32>() };
    flags.fetch_or(TASKRUN, Ordering::SeqCst);
    // SAFETY: this is our own mapping, and its last use was above.
    unsafe { libc::munmap(start, at + 4) };
}

/// A load thread once stalled for 100 s in one wait of 20 ms: one of 18 rings was flagged without
/// any work.
#[test]
fn a_flag_without_meaning_delays_no_client() {
    if Features::probe(Features::all()).missing(Feature::Uring).is_some() {
        return;
    }
    let (reported, hears) = sync_channel(1);
    // In a separate thread, so that a wait that never returns is detected.
    let waits = std::thread::spawn(move || {
        let clock = Clock::starting_now();
        let mut driver = Uring::new(&DriverConfig::small(clock)).expect("a driver");
        driver.add_ring().expect("a second ring");
        // Submits the watch of the waker, which has no event yet.
        driver.wait(clock.now()).expect("waiting works");
        flag(driver.rings[1].fd());
        assert!(driver.rings[1].is_flagged(), "the flag is where the kernel has it");
        let began = clock.now();
        let ready = driver.wait(began.after(Nanos::from_millis(30))).expect("waiting works");
        let slept = clock.now().since(began);
        // An event still ends a wait.
        driver.waker().expect("a waker").wake();
        let woken = driver.wait(clock.now().after(Nanos::from_secs(60))).expect("waiting works");
        reported.send((ready, slept / 1_000_000, woken)).expect("the test waits for it");
    });
    let (ready, slept_ms, woken) =
        hears.recv_timeout(Duration::from_secs(20)).expect("the wait returns in time");
    waits.join().expect("the thread has ended");
    assert!(!ready && woken && slept_ms >= 30, "ready: {ready}, {slept_ms} ms, woken: {woken}");
}
