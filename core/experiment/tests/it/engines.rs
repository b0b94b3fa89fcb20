//! Which engine a run uses, and how many sockets it can hold in which descriptor tables.

use std::net::{IpAddr, SocketAddr};

use wavetank_experiment::{UrlPlan, plan_url};
use wavetank_plan::EngineChoice::{Auto, Epoll, Uring};
use wavetank_plan::FileTables::{self, PerProcess, PerThread, Shared};
use wavetank_plan::{
    EngineChoice, FileBudget, HostFacts, MaxOpenLimit, Plan, RunOptions, SocketLayout, SocketSupport,
    SourcesPlan, TargetUrl, Unsupported,
};
use wavetank_units::{ExitCode, Rate, SourceRange, UserError};

const TABLE: u64 = 20_000;
const OWN: u64 = TABLE - 32;

/// Two CPUs, 20,000 files a table, memory without end.
fn host(uring: bool, own_files: FileTables) -> HostFacts {
    let uring = if uring { Ok(()) } else { Err(Unsupported::new("io_uring_setup EPERM", "sysctl x=0")) };
    HostFacts {
        memory_available_bytes: 1 << 45,
        files_max: TABLE,
        sockets: SocketSupport { uring, own_files, ..SocketSupport::plain() },
        local_networks: vec![(IpAddr::from([127, 0, 0, 0]), 8)],
        ..HostFacts::for_tests(2)
    }
}

fn on(options: RunOptions, host: &HostFacts) -> Result<UrlPlan, UserError> {
    let ranges = vec![SourceRange { first: [127, 1, 0, 0].into(), last: [127, 1, 255, 255].into() }];
    let sources = SourcesPlan { ranges, ..SourcesPlan::default() };
    let url = TargetUrl::parse("localhost:8080/").expect("a URL");
    let options = RunOptions { sources, ..options };
    plan_url(&options, &url, &[SocketAddr::from(([127, 0, 0, 1], 8_080))], host)
}

fn plan(options: RunOptions, host: &HostFacts) -> Plan {
    on(options, host).unwrap_or_else(|error| panic!("{error}")).plan
}

fn connections(count: u64) -> RunOptions {
    RunOptions { connections: Some(count), ..RunOptions::default() }
}

#[test]
fn the_best_engine_there_is_unless_one_is_asked_for() {
    let check = |asked: Option<EngineChoice>, uring, expect, why: bool| {
        let options = RunOptions { engine: asked, ..RunOptions::default() };
        let resolved = on(options, &host(uring, Shared)).expect("an engine");
        assert_eq!((resolved.plan.engine, resolved.engine_why.is_some()), (expect, why), "{asked:?} {uring}");
    };
    check(None, true, Uring, false);
    check(Some(Auto), true, Uring, false);
    check(Some(Uring), true, Uring, false);
    check(Some(Epoll), true, Epoll, false);
    check(None, false, Epoll, true);
    check(Some(Auto), false, Epoll, true);
    check(Some(Epoll), false, Epoll, false);
    let options = RunOptions { engine: Some(Uring), ..RunOptions::default() };
    let error = on(options, &host(false, Shared)).expect_err("uring is not available");
    assert_eq!((error.code.as_str(), error.exit), ("no_uring", ExitCode::Refused));
    assert!(error.message.contains("io_uring_setup EPERM"), "{error}");
    assert_eq!(error.hint, "sysctl x=0; or --engine epoll");
}

#[test]
fn tables_and_threads_follow_the_connections() {
    let check = |uring, own, count, files, threads| {
        let plan = plan(connections(count), &host(uring, own));
        assert_eq!((plan.files, plan.threads), (files, threads), "{count} on {own:?}");
    };
    check(false, PerThread, 100, Shared, 2);
    check(false, PerThread, TABLE - 108, Shared, 2);
    check(false, PerThread, TABLE - 107, PerThread, 2);
    check(false, PerThread, 2 * OWN, PerThread, 2);
    check(false, PerThread, 2 * OWN + 1, PerThread, 3);
    check(false, PerThread, 100_000, PerThread, 6);
    check(false, PerProcess, 100_000, PerProcess, 6);
    check(true, PerThread, 100_000, Shared, 2);
    check(true, Shared, 1_000_000, Shared, 2);
}

#[test]
fn more_threads_are_reported_with_the_reason() {
    let resolved = on(connections(100_000), &host(false, PerThread)).expect("a plan");
    assert!(resolved.remarks.iter().any(|remark| remark.starts_with("6 load threads")), "{resolved:?}");
    let resolved = on(connections(30_000), &host(false, PerThread)).expect("a plan");
    assert!(!resolved.remarks.iter().any(|remark| remark.contains("load threads")), "{resolved:?}");
}

#[test]
fn what_does_not_fit_is_refused_with_the_way_out() {
    let check = |options, host: &HostFacts, message: &str, hint: &str| {
        let error = on(options, host).expect_err("it does not fit");
        assert_eq!((error.code.as_str(), error.exit), ("no_files", ExitCode::Refused));
        assert!(error.message.contains(message) && error.hint.contains(hint), "{error}");
    };
    let none = host(false, Shared);
    check(
        connections(100_000),
        &none,
        "need 100,108 files, and this process may open 20,000",
        "ulimit -n 100108",
    );
    check(connections(2_000_000), &none, "2,000,000", "fs.nr_open=2000108; ulimit -n");
    let tight = HostFacts { files_max: 32, ..none };
    let error = on(connections(1), &tight).expect_err("it does not fit");
    assert!(error.message.starts_with("1 connection needs 109 files"), "{error}");
    assert!(!error.hint.contains("fewer"), "fewer than one are none: {error}");
    let own = host(false, PerThread);
    let few = RunOptions { threads: Some(3), ..connections(100_000) };
    check(few, &own, "more than 3 threads hold", "--threads 6, or leave it out");
    let sockets = SocketSupport { files_left: Some(150_000), ..own.sockets.clone() };
    let full = HostFacts { sockets, ..own };
    check(connections(100_000), &full, "fs.file-max", "raise fs.file-max by 50000");
    let both_ends = plan(connections(75_000), &full);
    assert_eq!(both_ends.threads, 4, "half of what is left is the target's, on loopback");
}

#[test]
fn arrivals_alone_start_no_threads_for_files() {
    let rate = RunOptions { rate: Some(Rate::per_second(50_000)), ..RunOptions::default() };
    let plan = plan(rate, &host(false, PerThread));
    let main = plan.phases.last().expect("a phase");
    assert_eq!((plan.threads, plan.files), (2, PerThread));
    assert_eq!((main.max_open, main.max_open_by), (2 * OWN, MaxOpenLimit::Files));
}

#[test]
fn a_budget_never_promises_more_than_it_holds() {
    for own in [Shared, PerThread, PerProcess] {
        for (threads, fixed) in [(1, true), (1, false), (2, false), (7, true), (300, false)] {
            let budget = FileBudget::new(&host(false, own), Epoll, threads, fixed, true);
            assert!(budget.without_extra_threads() <= budget.max_sockets());
            for sockets in [0, 1, TABLE - 200, TABLE, OWN, OWN + 1, 99_999, u64::MAX] {
                let SocketLayout { files, threads: held_by } = budget.holding(sockets);
                assert!(held_by >= threads && (!fixed || held_by == threads), "{budget:?} {sockets}");
                let most = if files == Shared { TABLE } else { OWN * u64::from(held_by) };
                assert!(sockets.min(budget.max_sockets()) <= most, "{budget:?} {sockets}");
            }
        }
    }
}

/// Each thread has tables of its own, and a descriptor in the table of who starts it.
#[test]
fn no_more_threads_are_started_for_files_than_one_table_has_room_for() {
    let check = |files_max: u64, threads: u32, sockets: u64| {
        let host = HostFacts { files_max, ..host(false, PerThread) };
        let budget = FileBudget::new(&host, Epoll, 2, false, true);
        assert_eq!(budget.holding(u64::MAX).threads, threads, "{files_max}");
        assert_eq!(budget.max_sockets(), sockets, "{files_max}");
    };
    check(64, 32, 32 * 32);
    check(128, 96, 96 * 96);
    check(256, 224, 224 * 224);
    check(1_024, 256, 256 * 992);
}

#[test]
fn rings_are_files_too() {
    let check = |files_max, threads, sockets| {
        let host = HostFacts { files_max, ..host(true, Shared) };
        let budget = FileBudget::new(&host, Uring, threads, true, false);
        assert_eq!(
            (budget.without_extra_threads(), budget.max_sockets()),
            (sockets, sockets),
            "{files_max} {threads}"
        );
    };
    // Twelve for the process, four and a ring for each thread; a ring holds one socket less than a
    // table holds files.
    check(8, 2, 0);
    check(21, 2, 0);
    check(22, 2, 2 * 21);
    check(28, 2, 6 * 27);
    check(32, 4, 4 * 31);
    check(300, 2, 278 * 299);
    // A thread makes no more than 256 of them, and none holds more than is quickly searched.
    check(1_024, 2, 512 * 1_023);
    check(1_024, 8, 972 * 1_023);
    check(4_000_000, 2, 512 << 16);
    let tight = HostFacts { files_max: 12, ..host(true, Shared) };
    let error = on(connections(100), &tight).expect_err("no ring can be made");
    assert_eq!((error.code.as_str(), error.exit), ("no_files", ExitCode::Refused));
    assert!(error.message.contains("100 connections need 32 files"), "{error}");
    assert_eq!(error.hint, "as root: ulimit -n 32");
    plan(connections(100), &HostFacts { files_max: 32, ..tight });
    let many = |files_max| on(connections(600_000), &HostFacts { files_max, ..host(true, Shared) });
    let error = many(1_024).expect_err("more than the rings of two threads hold");
    assert_eq!(error.hint, "as root: ulimit -n 1173; or fewer: -c 523776", "{error}");
    assert!(many(1_173).is_ok() && many(1_172).is_err());
}
