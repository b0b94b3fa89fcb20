//! Tests preparing load threads on a kernel that provides only a part of what they need.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wavetank_driver::{Clock, StartFault};
use wavetank_engine::{LoadConfig, LoadThreads};
use wavetank_experiment::plan_url;
use wavetank_pace::Partition;
use wavetank_plan::{HostFacts, Plan, RunOptions, TargetUrl};
use wavetank_units::{Nanos, Rate};

/// Returns a plan with connections that take an hour to open, so that the threads stay busy with
/// it.
fn slow_plan(scheme: &str, address: SocketAddr) -> Plan {
    let options = RunOptions {
        connections: Some(60),
        threads: Some(4),
        open_rate: Some(Rate { count: 1, per: Nanos::from_secs(60) }),
        ..RunOptions::default()
    };
    let host = HostFacts { addresses: vec![address.ip()], ..HostFacts::for_tests(2) };
    let url = TargetUrl::parse(&format!("{scheme}://{address}/")).expect("a URL");
    plan_url(&options, &url, &[address], &host).expect("a plan").plan
}

fn load_threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("a list of threads");
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("load-")).count()
}

fn wait_for_none(clock: Clock) {
    let deadline = clock.now().after(Nanos::from_secs(5));
    while load_threads() > 0 {
        assert!(
            clock.now() < deadline,
            "{} load threads still run although they were dropped",
            load_threads()
        );
        std::thread::yield_now();
    }
}

#[test]
fn the_time_for_opening_bounds_what_the_slowest_target_can_take() {
    let second = Nanos::from_secs(1);
    let check = |scheme: &str, connections: u64, threads: u32, expected: Nanos| {
        let mut plan = slow_plan(scheme, "127.0.0.1:1".parse().expect("an address"));
        plan.open_rate = Rate { count: 5_000, per: second };
        plan.threads = threads;
        plan.http.connect_timeout = Nanos::from_secs(5);
        for phase in &mut plan.phases {
            phase.connections = connections;
        }
        assert_eq!(LoadThreads::opening_time_max(&plan), expected, "{scheme} {connections} {threads}");
    };
    check("http", 5_000, 1, Nanos::from_secs(1 + 5));
    check("http", 100_000, 2, Nanos::from_secs(20 + 5));
    // Each thread has 1,024 simultaneous handshakes, and each of those may take the whole timeout.
    check("https", 100_000, 2, Nanos::from_secs(20 + 49 * 5));
    check("https", 5_000, 1, Nanos::from_secs(1 + 5 * 5));
}

/// There is only one test, because the limit and the threads are those of the whole process.
#[test]
fn threads_end_with_the_one_who_holds_them() {
    let clock = Clock::starting_now();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let plan = Arc::new(slow_plan("http", listener.local_addr().expect("an address")));

    let means = LoadConfig::plain(&plan).expect("a plain plan");
    let prepare = || LoadThreads::prepare(&plan, Partition::WHOLE, clock, &means);
    let threads = prepare().expect("four threads");
    assert_eq!(threads.len(), 4);
    drop(threads);
    wait_for_none(clock);

    // Enough files for one and a half drivers.
    let open = std::fs::read_dir("/proc/self/fd").expect("a list of files").count() as u64;
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(open + 2), ..before }).expect("a lower limit");
    let refused = prepare();
    setrlimit(Resource::Nofile, before).expect("the old limit");
    let Err(StartFault::Reported(errno)) = refused else { panic!("a driver without files") };
    assert_eq!(errno.symbol(), Some("EMFILE"));
    wait_for_none(clock);
}
