//! `hosts/<host>.jsonl` and `truth.jsonl`: golden files, reading back, and the responses of a
//! target.

use crate::support;

use support::golden;
use wavetank_measure::{
    DestinationSample, HostCounters, HostSample, LinkSample, ListenerSample, TargetSample,
};
use wavetank_record::{HostLine, TargetCount, TargetLine};
use wavetank_units::Nanos;

fn host() -> HostLine {
    let sample = HostSample {
        at: Nanos(2_000_107_000),
        tcp_inuse: 2_000_006,
        tcp6_inuse: 1,
        tcp_orphan: 2,
        tcp_tw: 3,
        tcp_alloc: 2_000_011,
        tcp_mem_pages: 4,
        tcp_established: 2_000_001,
        listen_overflows: 5,
        accept_queue: 6,
        net_in_bytes: 7_000_000_000,
        net_out_bytes: 900_000_000,
        mem_free_bytes: 12_000_000_000,
        mem_available_bytes: 14_000_000_000,
        slab_bytes: 8_200_000_000,
        mem_used_bytes: 9_900_000_000,
        mem_all_bytes: 24_000_000_000,
        swap_bytes: 8,
        rss_bytes: 337_000_000,
        cpu_user_ns: 5_000_000_000,
        cpu_system_ns: 31_000_000_000,
        cpu_load_ns: 9_000_000_000,
        cpus_milli: 0,
        cores: vec![(700, 1_000), (650, 1_000)],
        counters: counters(),
    };
    HostLine { sample, offset_ns: 0, error_ns: 0 }
}

fn counters() -> HostCounters {
    let named = |all: &[(&str, u64)]| all.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
    let address = |text: &str| text.parse().expect("an address");
    let link = LinkSample {
        interface: "eth0".to_owned(),
        bits_per_s: 20_000_000,
        in_bytes: 9_000,
        out_bytes: 2_500_000,
    };
    HostCounters {
        rises: named(&[("Tcp.ActiveOpens", 200), ("TcpExt.ListenOverflows", 31)]),
        levels: named(&[("state.established", 12), ("state.time_wait", 1_000)]),
        listeners: vec![ListenerSample { address: address("0.0.0.0:8080"), queue: 9, limit: 8, drops: 31 }],
        destinations: vec![DestinationSample {
            address: address("10.40.1.3:8080"),
            ports: 1_000,
            resting: 990,
            range: 1_000,
        }],
        links: vec![link],
    }
}

/// Lines of versions that did not count are read as well.
#[test]
fn a_line_without_counters_is_read() {
    let sample = HostSample { counters: HostCounters::default(), ..host().sample };
    let line = HostLine { sample, ..host() };
    assert!(!line.encode().contains("counters"), "{}", line.encode());
    assert_eq!(HostLine::decode(line.encode().as_bytes()), Ok(line));
}

fn target() -> TargetSample {
    let (asked, at) = (Nanos(2_000_200_000), Nanos(2_000_310_000));
    TargetSample { asked, at, error: Nanos::ZERO, open: 9, accepted: 12, closed: 3, reset: 1, peak: 10 }
}

#[test]
fn lines_are_as_described_and_come_back() {
    golden("host.jsonl", &(host().encode() + "\n"));
    assert_eq!(HostLine::decode(host().encode().as_bytes()), Ok(host()));
    golden("truth.jsonl", &(TargetLine(target()).encode() + "\n"));
    assert_eq!(TargetLine::decode(TargetLine(target()).encode().as_bytes()), Ok(TargetLine(target())));
}

#[test]
fn lines_of_other_versions_and_torn_ones_are_refused() {
    let (host, target) = (host().encode(), TargetLine(target()).encode());
    for line in [host.replace("\"v\":1", "\"v\":2"), host[..host.len() - 5].to_owned(), String::new()] {
        assert!(HostLine::decode(line.as_bytes()).is_err(), "{line}");
    }
    for line in [target.replace("\"v\":1", "\"v\":2"), target[..9].to_owned()] {
        assert!(TargetLine::decode(line.as_bytes()).is_err(), "{line}");
    }
}

/// Only a `wavetank serve` is accepted; any server may answer 200.
#[test]
fn a_target_is_known_by_the_schema_of_its_answer() {
    fn check(body: &str, open: Option<u64>) {
        assert_eq!(TargetCount::decode(body.as_bytes()).ok().map(|count| count.open), open, "{body}");
    }
    let known = r#"{"schema":"wavetank.truth_connections/1","open":7,"accepted":9,"closed":2,"reset":1,"peak":8,"monotonic_ns":5,"unix_ns":6,"later":{}}"#;
    check(known, Some(7));
    check(&known.replace("connections/1", "connections/2"), None);
    check(r#"{"open":7}"#, None);
    check("Wavetank OK\n", None);
    check("", None);
}
