//! Everything a host lacks for a file, reported together, each with the command or key that helps;
//! and tight resources.

use crate::support;

use std::net::{IpAddr, SocketAddr};

use support::packages::check_sent;
use support::plans::host;
use support::reading;
use wavetank_capacity::forecast::{Forecast, HoldForecast};
use wavetank_experiment::{LowerContext, LoweredPlan, Sources, lower};
use wavetank_plan::{
    EngineChoice, FileTables, HostFacts, HostLimits, SocketSupport, SourcesPlan, TargetUrl, Unsupported,
};
use wavetank_units::{ExitCode, Nanos, Ports, UserError};

const MILLION: &str = "\
wavetank: 1
target: http://127.0.0.1:8080
sources: [127.1.0.0/16]
steps: [{get: /ping}, {think: 60s}]
phases:
  - {name: open, hold: 0 to 1M, at: 25k/s}
  - {name: keep, hold: 1M, for: 2m}
";

/// A machine of 24 GB that can do a million of both ends.
fn able() -> HostFacts {
    HostFacts {
        memory_available_bytes: 22 << 30,
        files_max: 20_000,
        local_networks: vec![(IpAddr::from([127, 0, 0, 0]), 8)],
        port_range: (32_768, 60_999),
        ports: Ports::range(32_768, 60_999),
        ..host()
    }
}

fn on(text: &str, host: &HostFacts) -> LoweredPlan {
    lowered(text, host).unwrap_or_else(|error| panic!("{error}"))
}

fn unfit(text: &str, host: &HostFacts) -> UserError {
    lowered(text, host).expect_err("it does not fit")
}

fn lowered(text: &str, host: &HostFacts) -> Result<LoweredPlan, UserError> {
    let experiment = reading("x.yaml", text.as_bytes(), &[]).experiment.expect("a good file");
    let sources = match experiment.sources.as_ref().map(|sources| &sources.value) {
        Some(Sources::These(these)) => these.clone(),
        _ => SourcesPlan::default(),
    };
    let lowering = LowerContext {
        host,
        tables: &[],
        addresses: &|url: &TargetUrl| {
            Ok(vec![url.address().unwrap_or(SocketAddr::from(([10, 0, 0, 1], 80)))])
        },
        file: &|_| unreachable!("the file names none"),
        secret: &|_| None,
        sources,
        threads: None,
        engine: EngineChoice::Auto,
    };
    let lowered = lower(&experiment, &lowering).map_err(|unfit| unfit.into_user_error("x.yaml"))?;
    check_sent(text, &lowered, host);
    Ok(lowered)
}

/// `expected`: code, part of the message, part of the hint, of everything that is missing, in
/// order.
#[track_caller]
fn check(text: &str, host: &HostFacts, expected: &[(&str, &str, &str)]) {
    let lacking = on(text, host).lacking;
    let codes: Vec<&str> = lacking.iter().map(|one| one.code.as_str()).collect();
    assert_eq!(codes, expected.iter().map(|one| one.0).collect::<Vec<_>>(), "{lacking:#?}");
    for (found, (_, message, hint)) in lacking.iter().zip(expected) {
        assert!(
            found.message.contains(message) && found.hint.contains(hint),
            "{found:#?}\n{message}\n{hint}"
        );
    }
}

fn limited(limits: HostLimits) -> HostFacts {
    HostFacts { limits, ..able() }
}

#[test]
fn a_million_at_both_ends_fit_where_they_were_seen_to_fit() {
    check(MILLION, &able(), &[]);
    // A connection needs 8.2 kB in the kernel and 0.65 kB in the program: 8.9 GB in total. With its
    // reserve that is less than 10 GB.
    check(MILLION, &HostFacts { memory_available_bytes: 10_000_000_000, ..able() }, &[]);
    let small = HostFacts { memory_available_bytes: 8_000_000_000, ..able() };
    check(MILLION, &small, &[("no_memory", "1,000,000 connections need 9.", "hold: 8")]);
    let other =
        MILLION.replace("127.0.0.1:8080\nsources: [127.1.0.0/16]", "10.0.0.9:80\nsources: [10.1.0.0/16]");
    let routed = HostFacts { local_networks: vec![(IpAddr::from([10, 1, 0, 0]), 16)], ..small };
    check(&other, &routed, &[]);
}

#[test]
fn all_missing_parts_are_reported_together() {
    let poor = HostFacts {
        memory_available_bytes: 4 << 30,
        sockets: SocketSupport { files_left: Some(1_000_000), ..able().sockets },
        limits: HostLimits {
            files_max: Some(1_004_000),
            lockable_bytes: Some(8 << 20),
            tracked: Some((262_000, 262_144)),
            ..HostLimits::default()
        },
        ..able()
    };
    let text = MILLION.replace("127.1.0.0/16", "127.1.0.0/30");
    check(
        &text,
        &poor,
        &[
            (
                "no_files",
                "2,000,000 files, and this host has 1,000,000 left",
                "sysctl -w fs.file-max=2020000",
            ),
            ("no_source_address", "1,000,000 connections need more than the", "it takes 38"),
            ("no_memory", "1,000,000 connections need", "at most"),
            ("no_locked_memory", "and as many at the target on this host, lock 17", "--engine epoll"),
            ("no_tracking", "262,000", "sysctl -w net.netfilter.nf_conntrack_max=1000144"),
        ],
    );
}

#[test]
fn fewer_is_proposed_once_and_what_differs_looks_different() {
    let host = HostFacts {
        memory_available_bytes: 4 << 30,
        sockets: SocketSupport { files_left: Some(1_000_000), ..able().sockets },
        ..able()
    };
    let lacking = on(MILLION, &host).lacking;
    let proposed: Vec<&str> =
        lacking.iter().filter_map(|one| one.hint.split("fewer: hold: ").nth(1)).collect();
    assert_eq!((lacking.len(), proposed.len()), (2, 1), "{lacking:#?}");
    let fits = MILLION.replace("1M", proposed[0]);
    check(&fits, &host, &[]);
    // A little less than it takes.
    let needed = (8_000_000_000..10_000_000_000_u64).step_by(20_000_000);
    let memory = |memory_available_bytes| HostFacts { memory_available_bytes, ..able() };
    let short = needed.take_while(|&bytes| !on(MILLION, &memory(bytes)).lacking.is_empty()).last();
    let lacking = on(MILLION, &memory(short.expect("8 GB are too little"))).lacking;
    let sizes: Vec<&str> =
        lacking[0].message.split(" GB").map(|part| part.rsplit(' ').next().unwrap()).collect();
    assert!(sizes[0] != sizes[1], "{lacking:#?}");
}

#[test]
fn a_hint_is_the_command_or_the_key() {
    let text = MILLION.replace("127.1.0.0/16", "10.77.0.0/16").replace("127.0.0.1", "10.0.0.1");
    check(&text, &able(), &[("no_such_source", "10.77.0.1", "ip addr add 10.77.0.1 dev")]);
    let none = MILLION.replace("sources: [127.1.0.0/16]\n", "");
    check(&none, &able(), &[("no_source_address", "28,232", "sources: auto; it takes")]);
    let abroad = none.replace("127.0.0.1", "10.0.0.1");
    let wider = "sysctl -w net.ipv4.ip_local_port_range='1024 65535'";
    check(&abroad, &able(), &[("no_source_address", "28,232", wider)]);
    let group = HostLimits {
        memory_limit_file: Some("/sys/fs/cgroup/ci/memory.max".to_owned()),
        memory_limit_bytes: Some(8_200_000_000),
        ..HostLimits::default()
    };
    let small = HostFacts { memory_available_bytes: 8_000_000_000, ..limited(group) };
    check(MILLION, &small, &[("no_memory", "8.0", " > /sys/fs/cgroup/ci/memory.max")]);
    let tables = HostFacts {
        sockets: SocketSupport {
            uring: Err(Unsupported::new("forbidden", "allow it")),
            own_files: FileTables::PerThread,
            ..able().sockets
        },
        ..limited(HostLimits { threads_left: Some(40), ..HostLimits::default() })
    };
    check(MILLION, &tables, &[("no_threads", "51 load threads are planned, and 40", "ulimit -n")]);
}

#[test]
fn rings_are_locked_only_by_those_without_the_right() {
    let lockable = |bytes| limited(HostLimits { lockable_bytes: Some(bytes), ..HostLimits::default() });
    check(MILLION, &lockable(8 << 20), &[("no_locked_memory", "53 rings", "prlimit --pid $$ --memlock=17")]);
    check(MILLION, &lockable(18 << 20), &[]);
    check(&MILLION.replace("1M", "300k"), &lockable(8 << 20), &[]);
}

#[test]
fn tight_limits_are_reported_and_stop_no_run() {
    let noted = |text: &str, limits: HostLimits, words: &str| {
        let LoweredPlan { lacking, remarks, .. } = on(text, &limited(limits));
        assert!(lacking.is_empty(), "{lacking:?}");
        let found = remarks.iter().filter(|line| !words.is_empty() && line.contains(words)).count();
        assert_eq!(found, usize::from(!words.is_empty()), "{words}: {remarks:#?}");
        assert_eq!(remarks.len(), found, "nothing else: {remarks:#?}");
    };
    let none = HostLimits::default;
    noted(MILLION, none(), "");
    let backlog = |most| HostLimits { backlog_max: Some(most), ..none() };
    noted(MILLION, backlog(4_096), "sysctl -w net.core.somaxconn=65535");
    noted(MILLION, backlog(65_535), "");
    noted(
        MILLION,
        HostLimits { hash_buckets: Some(262_144), ..none() },
        "2,000,000 sockets share 262,144 lists",
    );
    noted(MILLION, HostLimits { hash_buckets: Some(4_194_304), ..none() }, "");
    let tw = || HostLimits { time_wait_max: Some(131_072), ..none() };
    let closing = format!("{MILLION}  - {{name: close, hold: 1M to 0, at: 50k/s}}\n");
    noted(&closing, tw(), "");
    let by_fin = closing.replace("steps:", "http: {close: fin}\nsteps:");
    noted(&by_fin, tw(), "sysctl -w net.ipv4.tcp_max_tw_buckets=1000000");
    // All connections simultaneously: a page each, and a fifth more.
    let pages = || HostLimits { tcp_pages: Some([287_901, 383_869, 575_802]), ..none() };
    noted(MILLION, pages(), "");
    let burst = MILLION.replace("{think: 60s}", "{rendezvous: doors, wait: 60s}");
    noted(&burst, pages(), "sysctl -w net.ipv4.tcp_mem='900000 1200000 1200000'");
}

#[test]
fn holding_says_from_where_how_fast_on_what_and_how_far() {
    let of = |text: &str, host: &HostFacts| {
        let plan = on(text, host).plan;
        HoldForecast::for_plan(&plan, &Forecast::for_plan(&plan), host).expect("few threads")
    };
    let own = of(MILLION, &able()).expect("it holds");
    assert_eq!((own.connections, own.sources), (1_000_000, Some((65_534, 16))));
    assert_eq!((own.opening, own.threads, own.rings), (Nanos::from_secs(40), 2, 53));
    assert_eq!(own.opened_per_s_max, Some(25_000.0));
    assert!(own.requests_per_s_max.is_some_and(|rate| (16_600.0..16_700.0).contains(&rate)), "{own:?}");
    let parts: Vec<&str> = own.memory.iter().map(|part| part.0).collect();
    assert_eq!(parts, ["client_kernel", "client", "target_kernel", "target", "under_way"]);
    let bytes: u64 = own.memory.iter().map(|part| part.2).sum();
    assert!((8_500_000_000..9_600_000_000).contains(&bytes), "{own:?}");
    // The first reported limit is the one at which shortages start.
    let (what, most) = own.next_limit;
    assert!(what == "memory" && (1_500_000..3_000_000).contains(&most), "{own:?}");
    check(&MILLION.replace("1M", &(most - 1_000).to_string()), &able(), &[]);
    let more = MILLION.replace("1M", &(most + 1_000).to_string());
    check(&more, &able(), &[("no_memory", "connections need", "at most")]);
    let few = MILLION.replace("127.1.0.0/16", "127.1.0.1-127.1.0.40");
    assert_eq!(
        of(&few, &able()).expect("it holds").next_limit,
        ("source_ports", 40 * able().tuple_ports().count())
    );
    let silent =
        of(&MILLION.replace("steps: [{get: /ping}, {think: 60s}]\n", ""), &able()).expect("it holds");
    assert_eq!(silent.memory.last(), Some(&("under_way", 4_352, 0)), "{silent:?}");
    let users =
        MILLION.replace("hold: 0 to 1M, at: 25k/s", "users: 5, for: 1s").replace("hold: 1M", "users: 5");
    assert_eq!(of(&users, &able()), None);
}

/// Each step has a series of its own in each phase that reaches it.
#[test]
fn more_series_than_are_kept_are_refused() {
    let text = |phases: usize, steps: usize| {
        let steps: Vec<_> = (0..steps).map(|number| format!("{{get: /{number}}}")).collect();
        let phases: Vec<_> =
            (0..phases).map(|number| format!("  - {{name: p{number}, rate: 1/s, for: 1s}}\n")).collect();
        let (steps, phases) = (steps.join(", "), phases.concat());
        format!("wavetank: 1\ntarget: http://127.0.0.1:8080\nsteps: [{steps}]\nphases:\n{phases}")
    };
    assert_eq!(on(&text(64, 64), &able()).plan.phases.len(), 64, "4,096 are kept");
    let refused = unfit(&text(63, 66), &able());
    assert_eq!((refused.code.as_str(), refused.exit), ("too_many_series", ExitCode::Usage));
    assert!(
        refused.message.contains("4,158 series") && refused.message.contains("63 phases, 66 steps"),
        "{refused}"
    );
    // One phase of the same length with the same load.
    let stair = "wavetank: 1\ntarget: http://127.0.0.1:8080\nsteps: [{get: /}]\nphases: [{rate: 1/s to 100/s, for: 1h}]\n";
    on(stair, &able());
}
