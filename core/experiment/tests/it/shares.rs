//! Shares of a plan on hosts of a fleet: what each host decides for itself, and what it lacks.

use std::net::{IpAddr, SocketAddr};

use wavetank_experiment::plan_url;
use wavetank_plan::EngineChoice::{Epoll, Uring};
use wavetank_plan::FileTables::{self, PerThread, Shared};
use wavetank_plan::{
    AutomaticChoices, EngineChoice, HostFacts, HostLimits, Plan, PlanShare, RunOptions, SocketSupport,
    SourcesPlan, TargetUrl, Unsupported, adapt_to_host, lacking_for_share,
};
use wavetank_units::{Ports, SourceRange, UserError};

const AUTOMATIC: AutomaticChoices = AutomaticChoices { threads: true, engine: true };
const CHOSEN: AutomaticChoices = AutomaticChoices { threads: false, engine: false };

/// A host with this number of CPUs, 20,000 files in a table, and much of everything else.
fn host(cpus: u32, uring: bool) -> HostFacts {
    let uring = if uring { Ok(()) } else { Err(Unsupported::new("io_uring_setup EPERM", "sysctl x=0")) };
    HostFacts {
        files_max: 20_000,
        sockets: SocketSupport { uring, own_files: PerThread, ..SocketSupport::plain() },
        local_networks: vec![(IpAddr::from([127, 0, 0, 0]), 8)],
        ..HostFacts::for_tests(cpus)
    }
}

/// The plan of a controller that is able to do everything, to a target on another host.
fn plan(options: &RunOptions) -> Plan {
    let able = HostFacts { ports: Ports::range(1_024, 65_535), files_max: 1 << 30, ..host(16, true) };
    let url = TargetUrl::parse("10.0.0.1:8080/").expect("a URL");
    let resolved = plan_url(options, &url, &[SocketAddr::from(([10, 0, 0, 1], 8_080))], &able);
    resolved.unwrap_or_else(|error| panic!("{error}")).plan
}

fn connections(count: u64) -> RunOptions {
    RunOptions { connections: Some(count), ..RunOptions::default() }
}

fn share(width: u64, of: u64) -> PlanShare {
    PlanShare::new(width, of).expect("a share")
}

#[test]
fn each_host_uses_its_own_cpus_and_engine() {
    type Expected = (EngineChoice, u32, FileTables);
    #[track_caller]
    fn check(
        options: &RunOptions,
        share: PlanShare,
        facts: &HostFacts,
        automatic: AutomaticChoices,
        expected: Expected,
    ) {
        let plan = plan(options);
        let adapted = adapt_to_host(&plan, share, facts, automatic).expect("the host can do it");
        assert_eq!((adapted.engine, adapted.threads, adapted.files), expected);
        let (engine, threads, files) = (plan.engine, plan.threads, plan.files);
        assert_eq!(Plan { engine, threads, files, ..adapted }, plan, "nothing else changes");
    }
    let whole = PlanShare::WHOLE;
    check(&connections(1_000), whole, &host(4, true), AUTOMATIC, (Uring, 4, Shared));
    check(&connections(1_000), whole, &host(4, false), AUTOMATIC, (Epoll, 4, Shared));
    check(&connections(1_000), whole, &host(4, true), CHOSEN, (Uring, 16, Shared));
    let chosen = RunOptions { engine: Some(Epoll), threads: Some(3), ..connections(1_000) };
    check(&chosen, whole, &host(4, true), CHOSEN, (Epoll, 3, Shared));
    // A share has fewer connections, and no thread is without any.
    check(&connections(30), share(1, 10), &host(8, true), AUTOMATIC, (Uring, 3, Shared));
    // The share decides whether threads need tables of their own.
    check(&connections(60_000), share(1, 10), &host(2, false), AUTOMATIC, (Epoll, 2, Shared));
    check(&connections(60_000), share(1, 2), &host(2, false), AUTOMATIC, (Epoll, 2, PerThread));
}

#[test]
fn an_engine_that_was_asked_for_is_not_replaced() {
    let plan = plan(&RunOptions { engine: Some(Uring), ..connections(10) });
    let error = adapt_to_host(&plan, PlanShare::WHOLE, &host(2, false), CHOSEN).expect_err("no io_uring");
    assert_eq!(error.code, "no_uring");
}

/// `expected`: code, part of the message, part of the hint, of everything that the host lacks.
#[track_caller]
fn check(plan: &Plan, share: PlanShare, facts: &HostFacts, expected: &[(&str, &str, &str)]) {
    let adapted = adapt_to_host(plan, share, facts, AUTOMATIC).expect("has an engine");
    let lacking: Vec<UserError> = lacking_for_share(&adapted, share, facts, AUTOMATIC);
    let codes: Vec<&str> = lacking.iter().map(|one| one.code.as_str()).collect();
    assert_eq!(codes, expected.iter().map(|one| one.0).collect::<Vec<_>>(), "{lacking:#?}");
    for (found, (_, message, hint)) in lacking.iter().zip(expected) {
        assert!(found.message.contains(message) && found.hint.contains(hint), "{found:#?}");
    }
}

#[test]
fn a_host_lacks_only_what_its_share_needs() {
    let half = share(1, 2);
    let small = |change: fn(&mut HostFacts)| {
        let mut facts = HostFacts { ports: Ports::range(1_024, 65_535), ..host(2, true) };
        change(&mut facts);
        facts
    };
    let plan = |count| plan(&connections(count));
    check(&plan(60_000), half, &small(|_| ()), &[]);
    let files = small(|facts| {
        facts.sockets.uring = host(2, false).sockets.uring;
        facts.sockets.own_files = Shared;
    });
    check(&plan(30_000), half, &files, &[]);
    check(
        &plan(60_000),
        half,
        &files,
        &[("no_files", "30,000 connections need 30,108 files", "or fewer: -c 397")],
    );
    let ports = small(|facts| facts.ports = Ports::range(32_768, 60_999));
    check(&plan(56_464), half, &ports, &[]);
    check(&plan(56_466), half, &ports, &[("no_source_address", "28,233 connections", "--source auto")]);
    let memory = small(|facts| facts.memory_available_bytes = 200 << 20);
    check(&plan(20_000), half, &memory, &[]);
    check(&plan(60_000), half, &memory, &[("no_memory", "30,000 connections need", "or fewer: -c ")]);
    let limits =
        HostLimits { threads_left: Some(1), tracked: Some((29_999, 40_000)), ..HostLimits::default() };
    let several = HostFacts { limits, ..small(|_| ()) };
    let both =
        [("no_threads", "2 load threads", ""), ("no_tracking", "30,000 connections", "or fewer: -c 59998")];
    check(&plan(60_000), half, &several, &both);
}

#[test]
fn sources_must_be_addresses_of_the_host_that_sends() {
    let range = SourceRange { first: [127, 1, 0, 0].into(), last: [127, 1, 0, 255].into() };
    let mut plan = plan(&connections(100));
    plan.sources = SourcesPlan { ranges: vec![range], ..SourcesPlan::default() };
    check(&plan, share(1, 2), &host(2, true), &[]);
    let other = HostFacts { local_networks: Vec::new(), ..host(2, true) };
    check(&plan, share(1, 2), &other, &[("no_such_source", "127.1.0.0", "ip addr add 127.1.0.0")]);
}
