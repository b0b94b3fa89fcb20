//! Kernel settings of a host. Only settings of its own network namespace are allowed.

use wavetank_grammar::{Diagnostic, Entry, Node, Spanned};
use wavetank_units::Code;

use super::{Reader, TreeReader as _};

/// Prefixes of settings below `net.` that belong to the machine and not to a namespace. Tested on
/// Linux 6.18: in a new network namespace they are missing or read-only.
const OF_THE_MACHINE: [&str; 16] = [
    "net.core.rmem_",
    "net.core.wmem_",
    "net.core.netdev_",
    "net.core.dev_weight",
    "net.core.busy_",
    "net.core.bpf_jit",
    "net.core.flow_limit",
    "net.core.default_qdisc",
    "net.ipv4.tcp_mem",
    "net.ipv4.udp_mem",
    "net.ipv4.tcp_max_orphans",
    "net.ipv4.neigh.default.gc_thresh",
    "net.ipv6.neigh.default.gc_thresh",
    "net.netfilter.nf_conntrack_max",
    "net.netfilter.nf_conntrack_buckets",
    "net.nf_conntrack_max",
];

/// Settings that current kernels no longer have, each with a hint.
const GONE: [(&str, &str); 2] = [
    (
        "net.ipv4.tcp_tw_recycle",
        "it was removed in Linux 4.12; use net.ipv4.tcp_tw_reuse: 1 for outgoing connections",
    ),
    (
        "net.ipv4.netfilter.ip_conntrack_max",
        "it is called net.netfilter.nf_conntrack_max now, and belongs to the whole machine",
    ),
];

/// Maximum socket backlog. Old kernels store it in 16 bits, and deeper queues turn overload into
/// seconds of waiting.
const SOMAXCONN_MAX: u64 = 65_535;

impl Reader<'_> {
    pub(super) fn sysctls(&mut self, node: &Node) -> Vec<(Spanned<String>, String)> {
        let all: Vec<_> = self.entries(node, "sysctls").iter().map(|entry| self.sysctl(entry)).collect();
        all.into_iter().flatten().collect()
    }

    fn sysctl(&mut self, entry: &Entry) -> Option<(Spanned<String>, String)> {
        let key = self.sysctl_key(entry);
        let value = self.clean_text(&entry.value, "a setting's value")?;
        let trimmed = value.value.trim();
        if trimmed.is_empty() || trimmed.contains(['\n', '\r']) {
            return self.fail(
                Code::LabValue,
                value.place,
                "a setting's value is one line",
                "65535, or \"1024 65535\"",
            );
        }
        let key = key?;
        let deep = trimmed.parse::<u64>().is_ok_and(|value| value > SOMAXCONN_MAX);
        if deep && key.value == "net.core.somaxconn" {
            let message = format!("a queue of {trimmed} is deeper than any listener uses");
            let hint =
                format!("at most {SOMAXCONN_MAX}: a deep queue turns overload into seconds of waiting");
            self.out.push(Diagnostic::warning(Code::LabSysctlValue, value.place, message, hint));
        }
        Some((key, trimmed.to_owned()))
    }

    fn sysctl_key(&mut self, entry: &Entry) -> Option<Spanned<String>> {
        let key = entry.key.replace('/', ".");
        let shaped = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
        if !key.chars().all(shaped) || key.split('.').any(str::is_empty) || !key.contains('.') {
            let message = format!("`{}` is not a kernel setting", entry.key);
            return self.fail(Code::LabSysctl, entry.place, message, "names with dots: net.core.somaxconn");
        }
        if let Some((_, hint)) = GONE.iter().find(|(gone, _)| *gone == key) {
            return self.fail(
                Code::LabSysctl,
                entry.place,
                format!("current kernels no longer have `{key}`"),
                *hint,
            );
        }
        if !key.starts_with("net.") || OF_THE_MACHINE.iter().any(|own| key.starts_with(own)) {
            let message = format!("`{key}` is a setting of the whole machine, which a lab does not change");
            let hint = "leave it out, or set it on the machine yourself";
            return self.fail(Code::LabSysctl, entry.place, message, hint);
        }
        Some(Spanned::new(key, entry.place))
    }
}
