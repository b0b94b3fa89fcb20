//! Tests load threads in several namespaces: each connects from its own one, to the server there.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::process::Command as Program;
use std::sync::Arc;
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use wavetank_driver::{Clock, Feature, Features, NetworkNamespace};
use wavetank_engine::{Command, LoadConfig, LoadNamespace, LoadThreads, Message, SourcePorts};
use wavetank_experiment::plan_url;
use wavetank_pace::Partition;
use wavetank_plan::{
    EngineChoice, HostFacts, RunOptions, SocketSupport, SourcesPlan, TargetUrl, parse_sources,
};
use wavetank_units::{Nanos, Ports};

/// The address of all servers, each on the loopback interface of its namespace.
const AT: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 8_000);

/// Creates a network namespace and a listener in it; `None` if this host does not allow it.
fn host() -> Option<(NetworkNamespace, TcpListener)> {
    let made = std::thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET).ok()?;
        let up = Program::new("ip").args(["link", "set", "lo", "up"]).status().ok()?;
        let listener = TcpListener::bind(AT).expect("the namespace is empty");
        listener.set_nonblocking(true).expect("a fresh socket");
        up.success().then(|| (NetworkNamespace::current().expect("/proc is mounted"), listener))
    });
    made.join().expect("it only asks")
}

/// Opens four connections of two threads, ahead of a load that never starts. Returns the peers that
/// each namespace saw.
fn check(engine: EngineChoice, sources: &[&str]) -> Option<Vec<Vec<IpAddr>>> {
    let hosts = [host()?, host()?];
    let address = SocketAddr::from(AT);
    let facts = HostFacts { addresses: vec![address.ip()], ..HostFacts::for_tests(2) };
    let range = |words: &[&str]| parse_sources(&words.join(",")).expect("addresses");
    let ranges = if sources.is_empty() { Vec::new() } else { range(sources) };
    let local = vec![(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), 8)];
    let sockets = SocketSupport { uring: Ok(()), ..SocketSupport::plain() };
    let facts = HostFacts { local_networks: local, sockets, ..facts };
    let options = RunOptions {
        connections: Some(4),
        threads: Some(2),
        engine: Some(engine),
        sources: SourcesPlan { ranges, ..SourcesPlan::default() },
        ..RunOptions::default()
    };
    let url = TargetUrl::parse(&format!("http://{address}/")).expect("a URL");
    let plan = Arc::new(plan_url(&options, &url, &[address], &facts).expect("a plan").plan);
    let ports = SourcePorts::new(&Ports::range(40_000, 40_100), 1);
    let namespace = |(at, (network, _)): (usize, &(NetworkNamespace, TcpListener))| {
        let own = sources.get(at).map_or_else(Vec::new, |own| range(&[*own]));
        LoadNamespace { network: network.clone(), ports: ports.clone().at(&own), cpus: Vec::new() }
    };
    let namespaces = hosts.iter().enumerate().map(namespace).collect();
    let means = LoadConfig { namespaces, ..LoadConfig::plain(&plan).expect("a plain plan") };
    let clock = Clock::starting_now();
    let threads = LoadThreads::prepare(&plan, Partition::WHOLE, clock, &means).expect("threads");
    let mut ready = 0;
    while ready < 2 {
        match threads.message(Duration::from_mins(1)).expect("the threads send a message") {
            Message::Ready(_, opened) => {
                assert_eq!(opened, 2, "each opens its own");
                ready += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    let peers = |(_, listener): &(NetworkNamespace, TcpListener)| {
        std::iter::from_fn(|| listener.accept().ok()).map(|(_, peer)| peer.ip()).collect()
    };
    let peers = hosts.iter().map(peers).collect();
    threads.broadcast(Command::Start(clock.now().after(Nanos::from_secs(3_600))));
    threads.broadcast(Command::Finish(Nanos::ZERO - Nanos::from_secs(3_600)));
    threads.join();
    Some(peers)
}

#[test]
fn each_thread_connects_from_its_own_namespace() {
    let rings = Features::probe(Features::all()).features.has(Feature::Uring);
    let engines = [EngineChoice::Epoll, EngineChoice::Uring];
    for engine in engines.into_iter().take(1 + usize::from(rings)) {
        let Some(peers) = check(engine, &[]) else {
            let name = "each_thread_connects_from_its_own_namespace";
            return wavetank_testkit::skip(name, "it needs root and `ip` for network namespaces");
        };
        let kernels = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(peers, [vec![kernels; 2], vec![kernels; 2]], "{engine:?}");
        let peers = check(engine, &["127.0.0.2", "127.0.0.3-127.0.0.4"]).expect("it worked before");
        let of = |peers: &[IpAddr]| peers.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        assert_eq!(of(&peers[0]), ["127.0.0.2".to_owned()].into(), "{engine:?}");
        assert_eq!(of(&peers[1]), ["127.0.0.3".to_owned(), "127.0.0.4".to_owned()].into(), "{engine:?}");
        assert_eq!((peers[0].len(), peers[1].len()), (2, 2), "{engine:?}");
    }
}
