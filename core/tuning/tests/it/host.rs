//! Checks of hosts, from snapshots.

use wavetank_capacity::size::{
    Balancing, CloseSide, HostInventory, LoadDemand, LoadOptions, Role, SizeOptions, Sizing,
    TransactionProfile,
};
use wavetank_tuning::{
    Fix, HostState, Job, Row, SNAPSHOT_LISTENERS, Severity, Snapshot, check_host, sysctl_path,
};
use wavetank_units::{Nanos, Rate};

/// A host with the kernel's defaults, 4 CPUs and 16 GiB.
fn plain() -> Snapshot {
    let mut snapshot = Snapshot::default();
    for (key, value) in [
        ("kernel.osrelease", "6.1.0-amd64"),
        ("net.core.somaxconn", "4096"),
        ("net.core.netdev_max_backlog", "1000"),
        ("net.core.rmem_default", "212992"),
        ("net.core.wmem_default", "212992"),
        ("net.core.rmem_max", "212992"),
        ("net.core.optmem_max", "131072"),
        ("net.ipv4.ip_local_port_range", "32768\t60999"),
        ("net.ipv4.ip_local_reserved_ports", ""),
        ("net.ipv4.tcp_tw_reuse", "2"),
        ("net.ipv4.tcp_syn_retries", "6"),
        ("net.ipv4.tcp_synack_retries", "5"),
        ("net.ipv4.tcp_slow_start_after_idle", "1"),
        ("net.ipv4.tcp_rmem", "4096\t131072\t6291456"),
        ("net.ipv4.tcp_wmem", "4096\t16384\t4194304"),
        ("net.ipv4.tcp_mem", "188544\t251392\t377088"),
        ("net.ipv4.tcp_max_orphans", "65536"),
        ("net.ipv4.tcp_max_tw_buckets", "65536"),
        ("net.ipv4.tcp_max_syn_backlog", "1024"),
        ("net.ipv4.tcp_fin_timeout", "60"),
        ("net.ipv4.tcp_syncookies", "1"),
        ("net.ipv4.tcp_window_scaling", "1"),
        ("net.ipv4.tcp_timestamps", "1"),
        ("vm.swappiness", "60"),
        ("fs.file-max", "9223372036854775807"),
        ("fs.nr_open", "1048576"),
        ("kernel.sysrq", "438"),
        ("kernel.sem", "32000\t1024000000\t500\t32000"),
    ] {
        snapshot.insert(sysctl_path(key), format!("{value}\n"));
    }
    let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files\n";
    snapshot.insert("/proc/self/limits", limits);
    snapshot.insert("/proc/meminfo", "MemTotal:       16777216 kB\n");
    snapshot.insert("/sys/devices/system/cpu/online", "0-3\n");
    let clocks = "/sys/devices/system/clocksource/clocksource0/";
    snapshot.insert(format!("{clocks}current_clocksource"), "tsc\n");
    snapshot.insert(format!("{clocks}available_clocksource"), "tsc hpet\n");
    snapshot
}

fn rows(snapshot: &Snapshot, job: &Job) -> Vec<Row> {
    check_host(snapshot, job).into_iter().filter(|row| row.severity != Severity::Note).collect()
}

/// Changes a plain host and checks the single row that follows: what, now, wanted.
#[track_caller]
fn check(path: &str, text: &str, expected: &[(&str, &str, &str)]) {
    let mut snapshot = plain();
    snapshot.insert(path, text);
    let rows = rows(&snapshot, &Job::default());
    let found: Vec<_> =
        rows.iter().map(|row| (row.what.as_str(), row.now.as_str(), row.wanted.as_str())).collect();
    assert_eq!(found, expected, "{rows:#?}");
}

fn check_setting(key: &str, value: &str, wanted: &str) {
    check(&sysctl_path(key), value, &[(key, value, wanted)]);
}

#[test]
fn a_host_with_the_kernel_s_defaults_raises_no_alarm() {
    assert_eq!(rows(&plain(), &Job::default()), []);
}

#[test]
fn values_that_do_damage_are_found() {
    check_setting("net.ipv4.tcp_mem", "94500000 915000000 927000000", "");
    check_setting("net.ipv4.tcp_rmem", "4096 4096 33554432", "4096 131072 16777216");
    check_setting("net.core.rmem_default", "183888608", "212992");
    check_setting("net.ipv4.tcp_max_orphans", "5800000", "");
    check_setting("net.core.somaxconn", "128", "4096");
    check_setting("net.core.netdev_max_backlog", "2000000", "16384");
    check_setting("vm.swappiness", "0", "10");
    check_setting("net.ipv4.tcp_timestamps", "0", "1");
}

#[test]
fn the_machine_is_checked() {
    let clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    check(clock, "hpet\n", &[("clock source", "hpet", "tsc")]);
    check("/sys/fs/cgroup/cpu.max", "50000 100000\n", &[("CPU quota (cgroup)", "0.5 CPUs", "none")]);
    check("/sys/fs/cgroup/cpu.max", "max 100000\n", &[]);
    check("/sys/fs/cgroup/pids.max", "100\n", &[("tasks (cgroup)", "100", "max")]);
    let mounts = "30 20 0:5 / /proc rw - proc proc rw\n31 20 0:5 /sys /proc/sys ro,nosuid - proc proc rw\n";
    check("/proc/self/mountinfo", mounts, &[("/proc/sys", "read-only", "writable")]);
    check(
        "/proc/net/softnet_stat",
        "00ff 0000 0 0\n00ff 000a 0 0\n",
        &[("net.core.netdev_max_backlog", "1000", "4096")],
    );
    check(
        "/sys/class/net/eth0/statistics/rx_missed_errors",
        "12\n",
        &[("eth0 dropped", "12 packets since boot", "0")],
    );
    check("/proc/net/netstat", "TcpExt: A ListenOverflows\nTcpExt: 1 5\n", &[]);
}

#[test]
fn what_matters_for_a_job_is_a_warning_then() {
    let mut snapshot = plain();
    snapshot.insert("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    snapshot.insert("/proc/sys/net/netfilter/nf_conntrack_count", "10\n");
    snapshot.insert("/proc/sys/net/netfilter/nf_conntrack_max", "1000\n");
    snapshot.insert("/proc/swaps", "Filename Type\n/dev/sda2 partition\n");
    snapshot.insert("/sys/class/net/eth0/speed", "10000\n");
    snapshot.insert("/sys/class/net/eth0/queues/rx-0/rps_cpus", "0\n");
    snapshot.insert(
        "/proc/interrupts",
        "   CPU0 CPU1\n 24: 90000 3 PCI eth0-TxRx-0\n 25: 90000 3 PCI eth0-TxRx-1\n",
    );
    assert_eq!(rows(&snapshot, &Job::default()), []);
    let job = Job { role: Some(Role::Server), sizing: None };
    let found: Vec<String> = rows(&snapshot, &job).into_iter().map(|row| row.what).collect();
    for what in
        ["CPU governor", "connection tracking", "vm.swappiness", "eth0 queues", "interrupts of network cards"]
    {
        assert!(found.iter().any(|own| own == what), "{what}: {found:?}");
    }
    snapshot.insert("/proc/sys/net/netfilter/nf_conntrack_count", "900\n");
    assert_eq!(rows(&snapshot, &Job::default())[0].severity, Severity::Error);
}

#[test]
fn a_role_has_its_profile() {
    let mut snapshot = plain();
    let listener = "  sl  local_address rem_address   st\n   0: 00000000:1F90 00000000:0000 0A 0\n   1: 0100007F:9C40 0100007F:0050 01 0\n";
    snapshot.insert("/proc/net/tcp", listener);
    let keys = |role| -> Vec<(String, String)> {
        let rows = rows(&snapshot, &Job { role: Some(role), sizing: None });
        rows.into_iter().map(|row| (row.what, row.wanted)).collect()
    };
    let has = |keys: &[(String, String)], key: &str, value: &str| {
        keys.iter().any(|(own, wanted)| own == key && wanted == value)
    };
    let generator = keys(Role::Load);
    for (key, value) in [
        ("net.ipv4.ip_local_port_range", "1024 65535"),
        ("net.ipv4.ip_local_reserved_ports", "8080"),
        ("net.ipv4.tcp_tw_reuse", "1"),
        ("net.ipv4.tcp_syn_retries", "3"),
        ("net.ipv4.tcp_slow_start_after_idle", "0"),
    ] {
        assert!(has(&generator, key, value), "{key}: {generator:?}");
    }
    let server = keys(Role::Server);
    assert!(has(&server, "net.ipv4.tcp_synack_retries", "3"), "{server:?}");
    assert!(!server.iter().any(|(key, _)| key == "net.ipv4.tcp_tw_reuse"), "{server:?}");
}

fn sizing(rate: u64, connections: u64, role: Role) -> Sizing {
    let wishes = SizeOptions {
        balancer: (role == Role::Balancer).then_some(Balancing::Proxy),
        hosts: vec![(role, 1)],
        ..SizeOptions::default()
    };
    let exchange = TransactionProfile {
        service: Nanos::from_millis(100),
        service_given: false,
        request_bytes: 200,
        answer_bytes: 1_000,
        tls: false,
        closing: CloseSide::Client,
    };
    let load = LoadOptions {
        rate: Some(Rate::per_second(rate)),
        connections: Some(connections),
        hold: None,
        each: None,
        open_rate: None,
        duration: None,
        requests: None,
    };
    let demand = LoadDemand::from_options(&load, exchange).expect("a load");
    Sizing::compute(demand, &HostInventory::from_options(&wishes, 1).expect("no conflict"))
}

#[test]
fn a_load_needs_files_ports_and_memory() {
    let job = Job { role: Some(Role::Balancer), sizing: Some(sizing(1_000_000, 1_000_000, Role::Balancer)) };
    let rows = rows(&plain(), &job);
    assert!(rows.is_sorted_by_key(|row| row.severity), "worst first: {rows:#?}");
    let row =
        |what: &str| rows.iter().find(|row| row.what == what).unwrap_or_else(|| panic!("{what}: {rows:#?}"));
    let files = row("open files (nofile)");
    assert!(matches!(files.fix, Some(Fix::OpenFiles(files)) if files > 2_000_000), "{files:?}");
    assert_eq!(files.severity, Severity::Error);
    assert!(files.why.contains("2,000,000 sockets"), "{files:?}");
    assert_eq!(row("fs.nr_open").severity, Severity::Error);
    assert_eq!(row("net.ipv4.ip_local_port_range").wanted, "1024 65535");
    row("net.ipv4.tcp_mem");
    // A small load needs no more files than the host has.
    let small = Job { role: Some(Role::Load), sizing: Some(sizing(100, 100, Role::Load)) };
    let rows = self::rows(&plain(), &small);
    assert!(
        !rows.iter().any(|row| row.what.contains("files") || row.severity == Severity::Error),
        "{rows:#?}"
    );
}

#[test]
fn a_server_s_own_limit_counts() {
    let mut snapshot = plain();
    snapshot.insert("/proc/77/comm", "nginx\n");
    let limits = "Max open files            512                 524288               files\n";
    snapshot.insert("/proc/77/limits", limits);
    let job = Job { role: Some(Role::Server), sizing: Some(sizing(1_000, 2_000, Role::Server)) };
    let rows = rows(&snapshot, &job);
    let files = rows.iter().find(|row| row.what.contains("files")).unwrap_or_else(|| panic!("{rows:#?}"));
    assert_eq!(files.now, "512 (nginx)");
    let state = HostState { snapshot: &snapshot };
    assert_eq!((state.cpus(), state.memory_bytes()), (Some(4), Some(16 << 30)));
}

#[test]
fn a_short_accept_queue_of_a_server_is_named() {
    let listeners = |text: &str| {
        let mut snapshot = plain();
        snapshot.insert(SNAPSHOT_LISTENERS, text.to_owned());
        let all = rows(&snapshot, &Job { role: Some(Role::Server), ..Job::default() });
        let own = all.into_iter().filter(|row| row.what.starts_with("accept queue"));
        own.map(|row| format!("{} {} {}", row.what, row.now, row.wanted)).collect::<Vec<_>>()
    };
    let nginx = "LISTEN 0 511 0.0.0.0:80 0.0.0.0:* users:((\"nginx\",pid=9,fd=6))\n";
    assert_eq!(listeners(nginx), ["accept queue of 0.0.0.0:80 511 4,096"]);
    assert!(listeners(&nginx.replace("511", "4096")).is_empty());
    assert!(listeners(&nginx.replace("nginx", "sshd")).is_empty());
    // The shortest of several queues; without root there are no processes.
    let two = "LISTEN 0 4096 [::]:443 [::]:*\nLISTEN 0 128 [::]:443 [::]:*\nLISTEN 0 128 [::]:22 [::]:*\n";
    assert_eq!(listeners(two), ["accept queue of [::]:443 128 4,096"]);
}
