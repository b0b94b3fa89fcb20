//! Files of sysctl.

use wavetank_tuning::catalogue::{Scope, find_setting, settings};
use wavetank_tuning::{FileKind, KernelVersion, LintContext};

use crate::support::{check, check_on, lint};

#[test]
fn values_are_judged_by_their_rules() {
    for (line, expected) in [
        ("net.core.somaxconn = 3240000", "setting_too_large"),
        ("net.core.somaxconn = 128", "setting_lowers"),
        ("net.ipv4.tcp_max_syn_backlog = 655360", "setting_no_effect"),
        ("net.ipv4.ip_local_port_range = 15000 65000", "setting_conflict"),
        ("net.ipv4.ip_local_port_range = 1 65000", "setting_harmful"),
        ("net.ipv4.ip_local_port_range = 1024 70000", "setting_rejected"),
        ("net.ipv4.tcp_tw_recycle = 1", "setting_obsolete"),
        ("net.ipv4.tcp_fin_timeout = 5", "setting_no_effect"),
        ("net.ipv4.tcp_max_tw_buckets = 6000000", "setting_too_large"),
        ("net.ipv4.tcp_max_orphans = 1048576", "setting_harmful"),
        ("net.ipv4.tcp_mem = 94500000 915000000 927000000", "setting_unit"),
        ("net.ipv4.tcp_rmem = 4096 87380 16777216", "setting_lowers"),
        ("net.ipv4.tcp_rmem = 4096 4096 33554432", "setting_harmful"),
        ("net.ipv4.tcp_rmem = 4096 131072", "setting_rejected"),
        ("net.ipv4.tcp_wmem = 4096 65536 16777216", "setting_too_large"),
        ("net.core.rmem_default = 8388608", "setting_harmful"),
        ("net.core.wmem_default = 131072", "setting_no_effect"),
        ("net.core.netdev_max_backlog = 2000000", "setting_too_large"),
        ("net.core.optmem_max = 25165824", "setting_no_effect"),
        ("net.ipv4.tcp_syncookies = 0", "setting_conflict"),
        ("net.ipv4.tcp_window_scaling = 0", "setting_harmful"),
        ("net.ipv4.ip_nonlocal_bind = 1", "setting_conflict"),
        ("net.ipv4.netfilter.ip_conntrack_max = 1000000", "setting_obsolete"),
        ("fs.file-max = 1000000", "setting_lowers"),
        ("fs.file-max = 12553500", "setting_obsolete"),
        ("fs.nr_open = 1000000", "setting_lowers"),
        ("vm.swappiness = 0", "setting_too_large"),
        ("kernel.shmmax = 68719476736", "setting_lowers"),
        ("kernel.shmmni = 655360", "setting_rejected"),
        ("kernel.msgmni = 65535", "setting_rejected"),
        ("kernel.sem = 250 65536 100 2048", "setting_lowers"),
        ("kernel.sched_migration_cost_ns = 5000000", "setting_obsolete"),
        ("kernel.perf_cpu_time_max_percent = 60", "setting_no_effect"),
        ("kernel.sysrq = 0", "setting_harmful"),
        ("kerntl.shmall = 4194304", "setting_unknown"),
        ("net.ipv4.tcp rmem = 4096 4096 4096", "setting_unknown"),
        ("net.ipv4.tcp_slow_start_afer_idle = 0", "setting_unknown"),
        ("net.core.somaxconn 65535", "setting_syntax"),
        ("net.core.somaxconn = 64k", "setting_rejected"),
    ] {
        check(FileKind::Sysctl, line, &[&format!("1 {expected}")]);
    }
}

#[test]
fn good_values_and_what_no_rule_knows_are_quiet() {
    let text = "# a comment\n; another\n\nnet.core.somaxconn = 65535\nnet/ipv4/tcp_tw_reuse=1\n\
        -net.ipv4.tcp_slow_start_after_idle=0\nnet.ipv4.ip_local_port_range = 1024 65535\n\
        net.ipv4.conf.eth0.100.rp_filter = 1\nnet.ipv4.conf.*.rp_filter = 2\n-net.ipv4.conf.lo.rp_filter\n\
        vm.max_map_count = 262144\nkernel.pid_max = 4194304\nnet.ipv4.tcp_rmem = 4096 131072 16777216\n\
        net.ipv4.tcp_wmem = 4096 16384 16777216\nvm.swappiness = 10\nuser.max_user_namespaces = 1\n\
        net.ipv4.tcp_syncookies = 1\nnet.ipv4.conf.all.arp_ignore = 1\nnet.ipv4.conf.all.arp_announce = 2\n\
        net.ipv4.vs.conntrack = 0\nnet.ipv4.vs.expire_nodest_conn = 1\nnet.ipv4.vs.conn_reuse_mode = 1\n";
    check(FileKind::Sysctl, text, &[]);
}

#[test]
fn the_last_of_two_lines_wins() {
    let text = "kernel.sem = 250 65536 100 2048\nnet.nf_conntrack_max = 1000\n\
        net.netfilter.nf_conntrack_max = 2000\nkernel.sem = 10000 2560000 10000 256\n";
    check(
        FileKind::Sysctl,
        text,
        &["1 setting_lowers", "1 setting_repeated", "2 setting_repeated", "4 setting_lowers"],
    );
    check(FileKind::Sysctl, "net.nf_conntrack_max = 2097152\n", &["1 setting_conflict"]);
    let both = "net.nf_conntrack_max = 2097152\nnet.netfilter.nf_conntrack_buckets = 1048576\n";
    check(FileKind::Sysctl, both, &[]);
}

#[test]
fn the_host_decides_where_it_is_known() {
    let old = LintContext { kernel: Some(KernelVersion(4, 4)), ..LintContext::default() };
    check_on(&old, FileKind::Sysctl, "net.ipv4.tcp_tw_recycle = 1", &["1 setting_harmful"]);
    check_on(&old, FileKind::Sysctl, "kernel.sched_migration_cost_ns = 5", &[]);
    let text = "net.ipv4.tcp_mem = 768432 2097152 15242880";
    let memory = |gib: u64| LintContext { memory_bytes: Some(gib << 30), ..LintContext::default() };
    check_on(&memory(128), FileKind::Sysctl, text, &["1 setting_too_large"]);
    check_on(&memory(24), FileKind::Sysctl, text, &["1 setting_unit"]);
    check_on(&memory(512), FileKind::Sysctl, text, &[]);
    let host = LintContext { file_max: Some(2_466_193), ..LintContext::default() };
    let found = lint(FileKind::Sysctl, "fs.file-max = 2000000", &host);
    assert!(found[0].sentence.contains("lower than what this host has"), "{found:?}");
}

#[test]
fn units_are_shown() {
    let found = lint(FileKind::Sysctl, "net.ipv4.tcp_mem = 1 2 927000000", &LintContext::default());
    assert!(found[0].sentence.contains("the last is 3.8 TB"), "{found:?}");
}

#[test]
fn the_catalogue_is_complete_and_consistent() {
    let mut keys: Vec<&str> = settings().map(|setting| setting.key).collect();
    assert!(keys.len() > 50, "{}", keys.len());
    keys.sort_unstable();
    let count = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), count, "a key is in the catalogue twice");
    for setting in settings() {
        assert!(!setting.about.is_empty() && !setting.source.is_empty(), "{}", setting.key);
    }
    for (key, scope) in [
        ("net.core.somaxconn", Scope::Network),
        ("net.ipv4.tcp_rmem", Scope::Network),
        ("net.ipv4.tcp_mem", Scope::Host),
        ("net.core.rmem_max", Scope::Host),
        ("net.ipv4.neigh.default.gc_thresh3", Scope::Host),
    ] {
        assert_eq!(find_setting(key).map(|setting| setting.scope), Some(scope), "{key}");
    }
}

#[test]
fn names_and_orders_are_judged() {
    for (line, expected) in [
        ("net.ipv4.ip_local_port_range = 60000 2000", "setting_rejected"),
        ("net.ipv4.tcp_rmem = 16777216 87380 4096", "setting_harmful"),
        ("net.ipv4.tcp_mem = 900000 800000 700000", "setting_harmful"),
        ("net.ipv4.tcp_congestion_control = bbrr", "setting_rejected"),
        ("net.core.default_qdisc = fq_codell", "setting_rejected"),
        ("net.ipv4.tcp_sack = 0", "setting_harmful"),
        ("net.ipv4.tcp_abort_on_overflow = 1", "setting_harmful"),
        ("net.ipv4.tcp_retries2 = 3", "setting_harmful"),
        ("net.ipv4.tcp_low_latency = 1", "setting_no_effect"),
        ("net.ipv4.route.max_size = 8048576", "setting_no_effect"),
        ("net.ipv4.ip_conntrack_max = 65536", "setting_obsolete"),
        ("kernel.sched_min_granularity_ns = 10000000", "setting_obsolete"),
        ("vm.overcommit_memory = 2", "setting_conflict"),
        ("kernel.pid_max = 1000", "setting_lowers"),
    ] {
        check(FileKind::Sysctl, &format!("{line}\n"), &[&format!("1 {expected}")]);
    }
    for line in [
        "net.ipv4.tcp_congestion_control = bbr",
        "net.ipv4.tcp_congestion_control = brutal",
        "net.core.default_qdisc = fq",
        "net.ipv4.tcp_rmem = 4096 131072 16777216",
        "net.ipv4.tcp_retries2 = 8",
        "vm.overcommit_memory = 1",
        "kernel.pid_max = 4194304",
    ] {
        check(FileKind::Sysctl, &format!("{line}\n"), &[]);
    }
}
