//! [`snapshot_script`]: reads the files of a host by a POSIX shell, without any program of ours.

use std::fmt::Write as _;

use super::paths::{SNAPSHOT_LISTENERS, SNAPSHOT_SERVERS, snapshot_paths};

/// Returns commands that print a snapshot. They only read.
pub fn snapshot_script() -> String {
    let mut script = "show() { [ -r \"$1\" ] && [ -f \"$1\" ] || return 0; echo \"== $1\"; \
        head -c 300000 \"$1\" 2>/dev/null | sed 's/^/ /'; echo; }; "
        .to_owned();
    for path in snapshot_paths() {
        // An asterisk is expanded by the shell; the paths have no other special letters.
        let _ = write!(script, "for f in {path}; do show \"$f\"; done; ");
    }
    let names = SNAPSHOT_SERVERS.join("|");
    let _ = write!(
        script,
        "for d in /proc/[0-9]*; do read -r n 2>/dev/null <\"$d/comm\" || continue; \
         case $n in {names}) show \"$d/comm\"; show \"$d/limits\";; esac; done; echo '== {SNAPSHOT_LISTENERS}'; {SNAPSHOT_LISTENERS} 2>/dev/null | \
         head -c 300000 | sed 's/^/ /'; echo; echo '== end'"
    );
    script
}
