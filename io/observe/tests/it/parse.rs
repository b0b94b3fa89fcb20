//! Tests of the parsers on texts of real kernels, and on malformed texts. The texts are from Linux
//! 6.18; the `_v2`, `_container` and `memory_stat` texts follow the kernel's documentation.

use std::net::IpAddr;

use wavetank_observe::CpuTimes;
use wavetank_observe::parse::{self, Cgroup};

macro_rules! golden {
    ($name:literal) => {
        include_str!(concat!("../golden/", $name))
    };
}

fn networks(list: &[(&str, u8)]) -> Vec<(IpAddr, u8)> {
    list.iter().map(|&(address, bits)| (address.parse().expect("an address"), bits)).collect()
}

#[test]
fn local_networks_come_from_the_route_tables() {
    let check = |fib_trie: &str, ipv6_route: &str, v4: &[(&str, u8)], v6: &[(&str, u8)]| {
        assert_eq!(parse::local_ipv4(fib_trie), networks(v4));
        assert_eq!(parse::local_ipv6(ipv6_route), networks(v6));
    };
    check(
        golden!("fib_trie.txt"),
        golden!("ipv6_route.txt"),
        &[("127.0.0.0", 8), ("192.0.2.2", 32)],
        &[("::1", 128), ("fd00::2", 128), ("fe80::fc:ff:fe00:1", 128)],
    );
    check(
        golden!("fib_trie_pool.txt"),
        golden!("ipv6_route_pool.txt"),
        &[("10.9.0.0", 16), ("127.0.0.0", 8)],
        &[("::1", 128), ("2001:db8:7::", 48)],
    );
    check("", "", &[], &[]);
    check("|-- 10.0.0.1\n /33 host LOCAL\n|-- x\n /8 host LOCAL", "zz 80 x\n1 2 3 4 5 6 7 8 9 10", &[], &[]);
}

#[test]
fn memory_is_what_can_be_had_without_swapping() {
    assert_eq!(parse::memory_available_bytes(golden!("meminfo.txt")), Some(24_075_568 * 1024));
    assert_eq!(parse::memory_available_bytes("MemFree: 12 kB\n"), None);
    assert_eq!(parse::memory_available_bytes("MemAvailable: much\n"), None);
}

#[test]
fn memory_cgroups_are_found_in_both_versions() {
    let check = |cgroups: &str, mountinfo: &str, expected: &[(&str, &str, bool)]| {
        let found = parse::cgroups_of("memory", cgroups, mountinfo);
        let expected: Vec<_> = expected
            .iter()
            .map(|&(mount, path, unified)| Cgroup { mount: mount.into(), path: path.into(), unified })
            .collect();
        assert_eq!(found, expected);
    };
    // Both hierarchies together: the older one has the memory controller. The unified one has no
    // limits but is read as well.
    check(
        golden!("cgroup_v1.txt"),
        golden!("mountinfo_v1.txt"),
        &[("/sys/fs/cgroup/memory", "/batch/load07", false), ("/sys/fs/cgroup/unified", "/", true)],
    );
    check(
        golden!("cgroup_v2.txt"),
        golden!("mountinfo_v2.txt"),
        &[("/sys/fs/cgroup", "/user.slice/user-1000.slice/session-3.scope", true)],
    );
    // In a container without its own namespace, the mount shows the container's group as its root.
    check(
        golden!("cgroup_container.txt"),
        golden!("mountinfo_container.txt"),
        &[("/sys/fs/cgroup/memory", "", false), ("/sys/fs/cgroup/unified", "", true)],
    );
    check("nonsense\n::\n", golden!("mountinfo_v2.txt"), &[]);
    check(golden!("cgroup_v2.txt"), "", &[]);
}

#[test]
fn each_controller_has_its_own_mount_in_the_older_version() {
    let cgroups = "4:memory:/a\n8:pids:/b\n0::/c\n";
    let mounts = "30 20 0:25 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
                  31 20 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    let found = parse::cgroups_of("pids", cgroups, mounts);
    let paths: Vec<_> = found.iter().map(|group| (group.mount.as_str(), group.path.as_str())).collect();
    assert_eq!(paths, [("/sys/fs/cgroup/pids", "/b"), ("/sys/fs/cgroup/unified", "/c")]);
}

#[test]
fn limits_next_to_files_are_read() {
    assert_eq!(parse::files_max_of_host("1024\t0\t9000\n"), Some(9_000));
    assert_eq!(parse::files_max_of_host("1024 0"), None);
    let status = "VmLck:\t      64 kB\nCapEff:\t0000000000004000\n";
    assert!(parse::may_lock_memory(status) && !parse::has_admin_rights(status));
    assert!(!parse::may_lock_memory("CapEff:\t0000000000200000\n") && !parse::may_lock_memory(""));
    assert_eq!((parse::locked_bytes(status), parse::locked_bytes("")), (65_536, 0));
    assert_eq!(parse::thread_count("0.01 0.02 0.00 1/234 5678\n"), Some(234));
    assert_eq!(parse::thread_count("0.01 0.02 0.00 1\n"), None);
    assert_eq!(parse::three_numbers("287901\t383869\t575802\n"), Some([287_901, 383_869, 575_802]));
    assert_eq!([parse::three_numbers("1 2"), parse::three_numbers("1 2 3 4")], [None, None]);
}

#[test]
fn cgroup_numbers_are_bytes_or_no_limit() {
    assert_eq!(parse::cgroup_bytes("1073741824\n"), Some(1 << 30));
    assert_eq!(parse::cgroup_bytes("max\n"), None);
    assert_eq!(parse::inactive_file_bytes(golden!("memory_stat_v1.txt")), Some(2_048_000));
    assert_eq!(parse::inactive_file_bytes(golden!("memory_stat_v2.txt")), Some(3_072_000));
    assert_eq!(parse::inactive_file_bytes("anon 1\n"), None);
}

#[test]
fn the_hosts_files_and_whom_they_bind() {
    assert_eq!(parse::files_left("1024\t0\t9000\n"), Some(7_976));
    assert_eq!(parse::files_left("9000\t0\t1024\n"), Some(0));
    assert_eq!(parse::files_left("1024\n"), None);
    assert!(parse::has_admin_rights("Name:\tx\nCapEff:\t000001fffeffffff\n"));
    assert!(!parse::has_admin_rights("CapEff:\t00000000a80425fb\n"), "a container's usual set");
    assert!(!parse::has_admin_rights("CapPrm:\t000001ffffffffff\n"));
    assert!(parse::is_whole_id_map("         0          0 4294967295\n"));
    assert!(!parse::is_whole_id_map("         0       1000          1\n"));
}

#[test]
fn ports_and_models() {
    assert_eq!(parse::port_range("32768\t60999\n"), Some((32_768, 60_999)));
    for bad in ["", "32768", "60999 32768", "1 99999", "a b"] {
        assert_eq!(parse::port_range(bad), None, "{bad}");
    }
    assert_eq!(parse::cpu_model(golden!("cpuinfo.txt")).as_deref(), Some("AMD EPYC"));
    assert_eq!(parse::cpu_model("processor : 0\nmodel : 2\n"), None);
}

#[test]
fn cpu_times_count_guests_once() {
    let times = parse::cpu_times("cpu  10 1 5 100 4 0 1 7 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
    assert_eq!(times, Some(CpuTimes { total: 128, idle: 104, steal: 7 }));
    assert!(parse::cpu_times(golden!("stat.txt")).is_some_and(|times| times.total > times.idle));
    assert_eq!(parse::cpu_times("cpu  1 2 3\n"), None);
    assert_eq!(parse::cpu_times("intr 1\n"), None);
}

#[test]
fn ports_that_are_taken() {
    let reserved =
        |text: &str, ranges: &[(u16, u16)]| assert_eq!(parse::number_ranges(text), ranges, "{text}");
    reserved("\n", &[]);
    reserved("8080\n", &[(8_080, 8_080)]);
    reserved("40000-40010,45000\n", &[(40_000, 40_010), (45_000, 45_000)]);
    reserved("9-3,x,70000,7\n", &[(7, 7)]);
    let listened = |line: &str, port: Option<u16>| assert_eq!(parse::listened_port(line), port, "{line}");
    listened("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt", None);
    listened("   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000", Some(8_080));
    listened(
        "   1: 00000000000000000000000001000000:8235 00000000000000000000000000000000:0000 0A 0",
        Some(33_333),
    );
    listened("   2: 0100007F:8235 0100007F:1F90 01 00000000:00000000 00:00000000 00000000", None);
    listened("", None);
    listened("0: x y 0A", None);
}

#[test]
fn addresses_that_are_on_their_way_out() {
    let text = "fd000000000000000000000000000002 02 40 00 80     eth0\n\
                fd000000000000000000000000000003 02 40 00 20     eth0\n\
                fd000000000000000000000000000004 02 40 00 41     eth0\n\
                short line\n";
    let unfit: Vec<IpAddr> = parse::unusable_ipv6(text).into_iter().map(IpAddr::V6).collect();
    let expected: [IpAddr; 2] = ["fd00::3", "fd00::4"].map(|text| text.parse().expect("an address"));
    assert_eq!(unfit, expected);
}

#[test]
fn a_core_is_known_by_its_first_cpu() {
    let check = |text: &str, expected| assert_eq!(parse::first_cpu(text), expected, "{text}");
    check("0,64\n", Some(0));
    check("2-3\n", Some(2));
    check("7\n", Some(7));
    check("", None);
    check("x", None);
}

#[test]
fn memory_of_a_process() {
    let check = |text: &str, peak, now| {
        assert_eq!((parse::peak_resident_bytes(text), parse::written_bytes(text)), (peak, now), "{text}");
    };
    let text = "Name:\tx\nVmHWM:\t    9000 kB\nVmRSS:\t    8312 kB\nRssAnon: 1 kB\n";
    check(text, Some(9_000 << 10), Some(1 << 10));
    check("RssAnon:\t1 MB\n", None, None);
    check("VmHWM:\t2 kB\nRssAnon:\t99999999999999999999 kB\n", Some(2_048), None);
    check("", None, None);
}

#[test]
fn an_interface_has_a_number() {
    let text = "00000000000000000000000000000001 01 80 10 80       lo\n\
                fe80000000000000021122fffe334455 1f 40 20 80     eth0\n";
    for (name, index) in [("lo", Some(1)), ("eth0", Some(31)), ("eth", None), ("", None)] {
        assert_eq!(parse::interface_index(text, name), index, "{name}");
    }
}

#[test]
fn tracked_connections_are_those_of_the_first_line() {
    use wavetank_observe::counter_text::tracked_connections;
    let check = |text: &str, expected| assert_eq!(tracked_connections(text), expected, "{text}");
    check("entries  clashres found\n000000ff  00000000 00000001\n000000ff  0 0\n", Some(255));
    check("entries\nzz\n", None);
    check("found entries\n01 02\n", None);
    check("entries\n", None);
    check("", None);
}
