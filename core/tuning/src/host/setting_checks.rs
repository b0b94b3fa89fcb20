//! Kernel settings with values that do damage, whatever the host is for.

use super::{HostState, Row};
use crate::catalogue::{Setting, settings};
use crate::{Severity, Verdict};

/// Settings with a default that old kernels have too low.
const RAISED_DEFAULTS: [&str; 2] = ["net.core.somaxconn", "fs.nr_open"];

/// Judges the present values.
pub(super) fn rows(host: &HostState<'_>) -> Vec<Row> {
    settings().filter_map(|setting| row(setting, host)).collect()
}

fn row(setting: &Setting, host: &HostState<'_>) -> Option<Row> {
    // Settings below `kernel` in the catalogue are about other programs.
    if setting.key.starts_with("kernel.") {
        return None;
    }
    let now = host.snapshot.setting(setting.key)?;
    // The limits of the host itself are what it is compared with.
    let context = crate::LintContext { file_max: None, nr_open: None, ..host.lint_context() };
    let judged = setting.judge_value(&now, &context)?;
    let matters = match judged.verdict {
        Verdict::Harmful | Verdict::WrongUnit | Verdict::TooLarge => true,
        Verdict::Lowers => RAISED_DEFAULTS.contains(&setting.key),
        _ => false,
    };
    if !matters {
        return None;
    }
    let wanted = wanted(setting.key);
    let mut row = match wanted {
        "" => Row::new(judged.verdict.severity(), setting.key, now, "", judged.sentence),
        wanted => Row::setting(judged.verdict.severity(), setting.key, &now, wanted, &judged.sentence),
    };
    // A high limit is no damage yet.
    if judged.verdict == Verdict::TooLarge {
        row.severity = Severity::Warning;
    }
    Some(row.from(judged.source))
}

/// Returns a value that is right everywhere; empty if it depends on the host.
fn wanted(key: &str) -> &'static str {
    match key {
        "net.core.somaxconn" => "4096",
        "fs.nr_open" => "1048576",
        "net.ipv4.tcp_rmem" => "4096 131072 16777216",
        "net.ipv4.tcp_wmem" => "4096 16384 16777216",
        "net.core.rmem_default" | "net.core.wmem_default" => "212992",
        "net.core.netdev_max_backlog" => "16384",
        "net.ipv4.tcp_window_scaling" | "net.ipv4.tcp_timestamps" | "net.ipv4.tcp_syncookies" => "1",
        "net.ipv4.tcp_tw_recycle" => "0",
        "vm.swappiness" => "10",
        "net.ipv4.ip_local_port_range" => "1024 65535",
        _ => "",
    }
}
