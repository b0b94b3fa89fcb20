//! Runs the load path deterministically, so that `cargo xtask instructions` can count its cost:
//! `instructions DRIVER CASE N`.
//!
//! Nothing here depends on speed. One thread plays both sides: whenever the load thread waits, the
//! peer responds to every request, so that each turn has the same work. The peer's work happens
//! only in [`Peers::serve`], which a counter can therefore exclude. Instruction counters of a
//! program do not count kernel work, but both drivers use their real system calls.
#![expect(clippy::print_stdout, reason = "a command-line program prints to stdout")]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use lockstep::Lockstep;
use peers::Peers;
use wavetank_driver::{Clock, Driver, DriverConfig, Epoll, Feature, Features, Uring};
use wavetank_engine::run_here;
use wavetank_experiment::plan_url;
use wavetank_plan::{Close, HostFacts, Plan, RunOptions, TargetUrl};

mod lockstep;
mod peers;

/// Messages and commands that may wait; more than a run of this kind has.
const MESSAGES_MAX: usize = 256;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // `cargo bench` and `cargo test --benches` pass their own arguments. They only need proof that
    // this still works.
    let (driver, case, requests) = match words[..] {
        [driver, case, requests] if !driver.starts_with('-') => (driver, case, requests),
        _ => ("epoll", "keep-alive", "1000"),
    };
    let requests: u64 = requests.parse().expect("the third argument is a number of requests");
    match driver {
        "epoll" => case_on::<Epoll>(case, requests),
        "uring" => case_on::<Uring>(case, requests),
        other => panic!("there is no driver `{other}`"),
    }
    ExitCode::SUCCESS
}

fn case_on<D: Driver>(case: &str, requests: u64) {
    let options = RunOptions { requests: Some(requests), threads: Some(1), ..RunOptions::default() };
    let options = match case {
        // Each turn has 64 responses.
        "keep-alive" => RunOptions { connections: Some(64), ..options },
        // Each turn has one response, so the cost of waiting and waking is not shared.
        "alone" => RunOptions { connections: Some(1), ..options },
        "new-connection" => RunOptions {
            connections: Some(16),
            no_keepalive: true,
            // Leaves no port in TIME-WAIT.
            close: Some(Close::Rst),
            ..options
        },
        other => panic!("there is no case `{other}`"),
    };
    let peers = Peers::listen();
    let plan = Arc::new(plan(&options, &peers));
    let clock = Clock::starting_now();
    // Tools that count instructions do not know this call, so it is disabled everywhere.
    let features = Features::all().without(Feature::EpollPwait2);
    let setup = DriverConfig { features, ..DriverConfig::small(clock) };
    let driver = D::new(&setup).expect("this kernel has the driver");
    let sealed = peers.sealed();
    counted(driver, &plan, peers, requests);
    // Each second that passes seals an interval, and starting a new one has a cost. The counting
    // tool must know the number.
    println!("sealed {}", sealed.get());
}

/// Everything that is counted, except the peer's work.
#[inline(never)]
fn counted<D: Driver>(driver: D, plan: &Arc<Plan>, mut peers: Peers, requests: u64) {
    let (sender, commands) = sync_channel(MESSAGES_MAX);
    let (messages, receiver) = sync_channel(MESSAGES_MAX);
    peers.hear(receiver, sender, requests);
    run_here(Lockstep::new(driver, peers), plan, true, commands, messages).expect("the driver works");
}

fn plan(options: &RunOptions, peers: &Peers) -> Plan {
    let address = peers.address();
    let host = HostFacts {
        memory_available_bytes: 1 << 30,
        files_max: 10_000,
        addresses: vec![address.ip()],
        ..HostFacts::for_tests(1)
    };
    let url = TargetUrl::parse(&format!("http://{address}/")).expect("a URL");
    plan_url(options, &url, &[address], &host).expect("a plan").plan
}
