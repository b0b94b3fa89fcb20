//! Points at which a test may have a process of the lab killed, to see that nothing is left then.

use rustix::process::{Signal, getpid, kill_process};

/// Those that the keeper passes in `up`, in their order.
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

/// Those that the keeper passes in `down`, in their order.
pub const FALLING: [&str; 3] = ["falling", "killed", "ungrouped"];

/// Those that whoever asked passes: `up` when its keeper is dead, `down` when it has asked, and either when it has
/// cleared away what a dead keeper left.
pub const ASKING: [&str; 3] = ["orphaned", "asked", "swept"];

/// That which runs a command in a host passes before it tells who asked that it is there.
pub const SENT: &str = "errand";

/// Ends this process here as SIGKILL does, if the variable `WAVETANK_LAB_CRASH` names this point; several are joined by
/// commas. It is for tests, and changes nothing where it is not set.
pub(crate) fn point(name: &str) {
    debug_assert!(
        RISING.iter().chain(&FALLING).chain(&ASKING).chain([&SENT]).any(|known| *known == name),
        "a point no test knows: {name}"
    );
    let wanted = std::env::var("WAVETANK_LAB_CRASH").unwrap_or_default();
    if wanted.split(',').any(|one| one == name) {
        // A process may always signal itself; if it could not, the test would tell.
        let _ = kill_process(getpid(), Signal::KILL);
    }
}
