//! Running a plan on load threads, from its first connection to its last interval.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use wavetank_driver::{Clock, Feature, Features};
use wavetank_engine::{Collector, Command, LoadThreads, Means, Message};
use wavetank_measure::Interval;
use wavetank_pace::Share;
use wavetank_plan::{
    EngineChoice, HostFacts, Nanos, Plan, Ports, RunOptions, SocketFacts, TargetUrl, resolve,
};

/// An instant so far ahead is chosen where all threads are to meet.
const AHEAD: Nanos = Nanos::from_millis(20);

/// What a run of one URL would be, on two threads.
pub(crate) fn plain_plan(address: SocketAddr) -> Plan {
    let host = HostFacts {
        cpus: vec![0, 1],
        memory_available_bytes: 1 << 40,
        files_max: 10_000,
        port_range: (32_768, 60_999),
        ports: Ports::range(32_768, 60_999),
        addresses: vec![address.ip()],
        local_networks: Vec::new(),
        kernel: String::new(),
        hostname: String::new(),
        sockets: SocketFacts::plain(),
        cpu_model: String::new(),
    };
    let url = TargetUrl::parse(&format!("http://{address}/")).expect("a URL");
    let mut plan = resolve(&RunOptions::default(), &url, &[address], &host).expect("a plan").plan;
    (plan.engine, plan.threads, plan.drain) = (EngineChoice::Epoll, 2, Nanos::from_secs(5));
    plan
}

/// Every interval of a run, and the end of the last phase's last request.
pub(crate) fn run(plan: Plan) -> Vec<Interval> {
    let plan = Arc::new(plan);
    let clock = Clock::starting_now();
    let means = Means::plain(&plan).expect("a plan that can be compiled");
    let threads = LoadThreads::prepare(&plan, Share::WHOLE, clock, &means);
    let threads = threads.expect("two threads");
    let mut collector = Collector::new(threads.len() as u16);
    let (mut ready, mut drained, mut zero) = (0, 0, Nanos::ZERO);
    let mut intervals = Vec::new();
    while !collector.is_over() {
        match threads.message(Duration::from_secs(20)).expect("nothing came from the threads for 20 s") {
            Message::Ready(..) => {
                ready += 1;
                if ready == threads.len() {
                    zero = clock.now().after(AHEAD);
                    threads.tell(Command::Start(zero));
                }
            }
            Message::Sealed(sealed) => {
                assert_eq!(sealed.accounting, None);
                collector.sealed(*sealed);
            }
            Message::Drained(..) => {
                drained += 1;
                if drained == threads.len() {
                    threads.tell(Command::Finish(clock.now().after(AHEAD) - zero));
                }
            }
            Message::Finished(thread) => collector.thread_ended(thread),
            Message::Failed(thread, why) => panic!("thread {thread}: {why}"),
        }
        intervals.extend(std::iter::from_fn(|| collector.poll()).map(|merged| merged.interval));
    }
    threads.join();
    intervals
}

/// The drivers this host allows.
pub(crate) fn engines() -> Vec<EngineChoice> {
    let uring = Features::probe(Features::all()).missing(Feature::Uring).is_none();
    [EngineChoice::Epoll].into_iter().chain(uring.then_some(EngineChoice::Uring)).collect()
}
