//! Source ports that somebody else turns out to have.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
use wavetank_driver::Clock;
use wavetank_engine::{Command, LoadThreads, Means, Message, SourcePorts};
use wavetank_measure::{ConnCounts, Interval};
use wavetank_pace::Share;
use wavetank_plan::{HostFacts, Nanos, Ports, RunOptions, SourcesPlan, TargetUrl, parse_sources, resolve};

/// A socket that has a port and listens nowhere, so that nobody can know of it beforehand.
fn hold() -> (std::os::fd::OwnedFd, u16) {
    let held = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&held, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a free port");
    let name = SocketAddr::try_from(getsockname(&held).expect("it is bound")).expect("an internet address");
    (held, name.port())
}

/// Opens one connection ahead of a load that never begins, from `ports`. The connections' counts, and the port
/// the target saw, if it saw one.
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
        ..HostFacts::plain(1)
    };
    let ranges = parse_sources("127.0.0.1").expect("an address");
    let options = RunOptions {
        connections: Some(1),
        threads: Some(1),
        sources: SourcesPlan { ranges, ..SourcesPlan::default() },
        ..RunOptions::default()
    };
    let url = TargetUrl::parse(&format!("http://{address}/")).expect("a URL");
    let plan = Arc::new(resolve(&options, &url, &[address], &host).expect("a plan").plan);
    let clock = Clock::starting_now();
    let means = Means::plain(&plan).expect("a plain plan");
    let means = Means { ports: SourcePorts::new(&ports, 1), ..means };
    let threads = LoadThreads::prepare(&plan, Share::WHOLE, clock, &means).expect("a thread");
    let mut total = Interval::default();
    loop {
        match threads.message(Duration::from_secs(10)).expect("the thread says something") {
            Message::Ready(_, _) => {
                threads.tell(Command::Start(clock.now().after(Nanos::from_secs(3_600))));
                threads.tell(Command::Finish(Nanos::ZERO - Nanos::from_secs(3_600)));
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

/// `held` ports of others, the last of all left free where `free` says so.
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
