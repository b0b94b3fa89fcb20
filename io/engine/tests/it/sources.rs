//! Tests source ports that other programs occupy.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
use wavetank_driver::Clock;
use wavetank_engine::{Command, LoadConfig, LoadThreads, Message, SourcePorts};
use wavetank_experiment::plan_url;
use wavetank_measure::{ConnCounts, Interval};
use wavetank_pace::Partition;
use wavetank_plan::{HostFacts, RunOptions, SourcesPlan, TargetUrl, parse_sources};
use wavetank_units::{Nanos, Ports};

/// Returns a socket that is bound to a port without listening, so that its use cannot be detected
/// in advance.
fn hold() -> (std::os::fd::OwnedFd, u16) {
    let held = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&held, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a free port");
    let name = SocketAddr::try_from(getsockname(&held).expect("it is bound")).expect("an internet address");
    (held, name.port())
}

/// Opens one connection ahead of a load that never starts, from `ports`. Returns the counts of
/// connections, and the port that the target saw, if any.
fn check(ports: &[u16]) -> (ConnCounts, Option<u16>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.set_nonblocking(true).expect("a fresh socket");
    let address = listener.local_addr().expect("an address");
    let (low, high) = (ports[0], ports[ports.len() - 1]);
    let between: Vec<(u16, u16)> =
        ports.windows(2).filter(|two| two[1] - two[0] > 1).map(|two| (two[0] + 1, two[1] - 1)).collect();
    let ports = Ports::range(low, high).without(&between);
    let host = HostFacts {
        port_range: (low, high),
        ports: ports.clone(),
        addresses: vec![address.ip()],
        ..HostFacts::for_tests(1)
    };
    let ranges = parse_sources("127.0.0.1").expect("an address");
    let options = RunOptions {
        connections: Some(1),
        threads: Some(1),
        sources: SourcesPlan { ranges, ..SourcesPlan::default() },
        ..RunOptions::default()
    };
    let url = TargetUrl::parse(&format!("http://{address}/")).expect("a URL");
    let plan = Arc::new(plan_url(&options, &url, &[address], &host).expect("a plan").plan);
    let clock = Clock::starting_now();
    let means = LoadConfig::plain(&plan).expect("a plain plan");
    let means = LoadConfig { ports: SourcePorts::new(&ports, 1), ..means };
    let threads = LoadThreads::prepare(&plan, Partition::WHOLE, clock, &means).expect("a thread");
    let mut total = Interval::default();
    loop {
        match threads.message(Duration::from_mins(1)).expect("the thread sends a message") {
            Message::Ready(_, _) => {
                threads.broadcast(Command::Start(clock.now().after(Nanos::from_secs(3_600))));
                threads.broadcast(Command::Finish(Nanos::ZERO - Nanos::from_secs(3_600)));
            }
            Message::Sealed(sealed) => total = sealed.interval,
            Message::Finished(_) => break,
            other => panic!("{other:?}"),
        }
    }
    threads.join();
    let seen = listener.accept().ok().map(|(_, peer)| peer.port());
    (total.conns, seen)
}

/// Returns `held` occupied ports; with `free`, the last of all is a free one.
fn ports(held: usize, free: bool) -> (Vec<u16>, Vec<std::os::fd::OwnedFd>) {
    let mut sockets = Vec::new();
    let mut ports = Vec::new();
    for _ in 0..held {
        let (socket, port) = hold();
        sockets.push(socket);
        ports.push(port);
    }
    if free {
        let (socket, port) = hold();
        drop(socket);
        ports.push(port);
    }
    ports.sort_unstable();
    (ports, sockets)
}

#[test]
fn a_port_that_is_taken_makes_way_for_the_next_within_one_opening() {
    let (ports, held) = ports(6, true);
    let free = ports.iter().copied().find(|&port| {
        held.iter().all(|socket| {
            let name = getsockname(socket).expect("it is bound");
            SocketAddr::try_from(name).expect("an internet address").port() != port
        })
    });
    let (counts, seen) = check(&ports);
    assert_eq!((counts.offered, counts.opened, counts.failed), (1, 1, 0), "{counts:?}");
    assert_eq!(seen, free);
}

#[test]
fn where_all_are_taken_the_opening_fails_after_a_bounded_number_of_tries() {
    for held in [1, 20] {
        let (ports, held) = ports(held, false);
        let (counts, seen) = check(&ports);
        assert_eq!((counts.offered, counts.opened, counts.failed), (1, 0, 1), "{counts:?}");
        assert_eq!(seen, None);
        drop(held);
    }
}
