//! Points at which a test can kill a process of the lab, to verify that nothing is left.

use rustix::process::{Signal, getpid, kill_process};

/// Points of the keeper in `up`, in order.
pub const RISING: [&str; 10] = [
    "locked",
    "stated",
    "switched",
    "grouped",
    "born",
    "connected",
    "furnished",
    "checked",
    "started",
    "committed",
];

/// Points of the keeper in `down`, in order.
pub const FALLING: [&str; 3] = ["falling", "killed", "ungrouped"];

/// Points in the requesting process: `up` when its keeper is dead, `down` when it has sent its
/// request. Both have a point after removing what a dead keeper left.
pub const ASKING: [&str; 3] = ["orphaned", "asked", "swept"];

/// The point that a command runner in a host passes before it connects to the requester.
pub const SENT: &str = "errand";

/// Ends this process here as SIGKILL does, if the variable `WAVETANK_LAB_CRASH` names this point.
/// Several points are joined by commas. It is for tests and has no effect if it is not set.
pub(crate) fn point(name: &str) {
    debug_assert!(
        RISING.iter().chain(&FALLING).chain(&ASKING).chain([&SENT]).any(|known| *known == name),
        "a point no test knows: {name}"
    );
    let wanted = std::env::var("WAVETANK_LAB_CRASH").unwrap_or_default();
    if wanted.split(',').any(|one| one == name) {
        // A process may always signal itself; if it could not, the test would fail.
        let _ = kill_process(getpid(), Signal::KILL);
    }
}
