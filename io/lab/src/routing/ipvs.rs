//! IPVS: whether this kernel supports it, and how keepalived is started for it.

use std::path::Path;
use std::process::{Command, Stdio};

use wavetank_topology::KEEPALIVED_CONFIG;

/// Returns why IPVS cannot be used here; `None` if it can. The kernel has it built in or loaded, or
/// as a module that keepalived loads itself.
pub(crate) fn ipvs_missing() -> Option<String> {
    if Path::new("/proc/net/ip_vs").exists() {
        return None;
    }
    let found = Command::new("modprobe")
        .args(["--dry-run", "--quiet", "ip_vs"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if found.is_ok_and(|status| status.success()) {
        return None;
    }
    Some("this kernel has no IPVS (CONFIG_IP_VS), built in or as a module".to_owned())
}

/// Returns keepalived's arguments. With `check` it only reads its configuration in `folder`.
/// Otherwise it runs in the foreground, writes its log to standard error and does nothing but IPVS
/// (no VRRP).
pub(crate) fn keepalived_args(folder: &Path, check: bool) -> Vec<String> {
    let in_folder = |name: &str| folder.join(name).display().to_string();
    let config = in_folder(KEEPALIVED_CONFIG);
    if check {
        return vec!["--config-test".to_owned(), format!("--use-file={config}")];
    }
    vec![
        "--dont-fork".to_owned(),
        "--log-console".to_owned(),
        "--check".to_owned(),
        format!("--use-file={config}"),
        format!("--pid={}", in_folder("keepalived.pid")),
        format!("--checkers_pid={}", in_folder("keepalived-checkers.pid")),
    ]
}
