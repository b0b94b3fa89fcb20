//! Texts of drop-ins, which keep a change over a reboot.

use std::fmt::Write as _;

use crate::sysctl::parse_sysctl;

/// The file for kernel settings. It sorts after the others, because the last one wins.
pub const SYSCTL_DROP_IN: &str = "/etc/sysctl.d/99-wavetank.conf";
/// The file for limits of sessions.
pub const LIMITS_DROP_IN: &str = "/etc/security/limits.d/99-wavetank.conf";
pub(super) const HEAD: &str = "# Written by wavetank doctor --fix; wavetank doctor --undo removes it.\n";

/// Returns the drop-in of a unit of systemd.
pub fn unit_drop_in(unit: &str) -> String {
    let unit = unit.strip_suffix(".service").unwrap_or(unit);
    format!("/etc/systemd/system/{unit}.service.d/99-wavetank.conf")
}

/// Returns the settings file: those of `before`, if an earlier change wrote it, and new ones.
pub(super) fn sysctl_text(before: Option<&str>, settings: &[(&str, &str, &str)]) -> String {
    let mut text = HEAD.to_owned();
    let (kept, _) = parse_sysctl("", before.unwrap_or_default());
    for line in kept.iter().filter(|line| settings.iter().all(|(key, ..)| *key != line.key)) {
        let _ = writeln!(text, "{} = {}", line.key, line.value);
    }
    for (key, value, why) in settings {
        let _ = writeln!(text, "# {why}\n{key} = {value}");
    }
    text
}

/// Returns the file for limits of sessions; `*` does not match root.
pub(super) fn limits_text(files: u64) -> String {
    format!("{HEAD}* - nofile {files}\nroot - nofile {files}\n")
}

/// Returns the drop-in of a unit.
pub(super) fn unit_text(files: u64) -> String {
    format!("{HEAD}[Service]\nLimitNOFILE={files}\n")
}
