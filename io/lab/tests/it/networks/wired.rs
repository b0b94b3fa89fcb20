//! Reachability of hosts by names and addresses, and the owners of virtual addresses.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use wavetank_topology::{HostFile, Route, Subnet, VirtualPlace};

use crate::networks::hosts::{Hosts, printed};
use crate::networks::plan::{host, lab, virtual_at, with};

const PORT: u16 = 8080;
const WAIT: Duration = Duration::from_mins(1);

fn listen(hosts: &Hosts, host: usize) -> TcpListener {
    hosts.inside(host, || TcpListener::bind(("0.0.0.0", PORT)).expect("a free port"))
}

/// Connects from that host to `name`, with the host's own resolver. Returns the resolved address
/// and the response.
fn asked(hosts: &Hosts, from: usize, name: &'static str) -> (SocketAddr, String) {
    hosts.inside(from, move || {
        let words = printed("getent", &["ahosts", name]);
        let address = words.split_whitespace().next().expect("an address").parse().expect("an address");
        let address = SocketAddr::new(address, PORT);
        let mut stream =
            TcpStream::connect_timeout(&address, WAIT).unwrap_or_else(|error| panic!("{name}: {error}"));
        stream.set_read_timeout(Some(WAIT)).expect("a timeout");
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("an answer");
        (address, said)
    })
}

/// Answers the next connection with `word`, in the background.
fn answering(listener: &TcpListener, word: &'static str) -> std::thread::JoinHandle<SocketAddr> {
    let listener = listener.try_clone().expect("a second handle");
    std::thread::spawn(move || {
        let (mut stream, peer) = listener.accept().expect("a connection");
        stream.write_all(word.as_bytes()).expect("answered");
        peer
    })
}

#[test]
fn hosts_reach_each_other_by_name_on_the_nearest_network() {
    let hosts = vec![
        host("load1", &[(0, &["10.9.0.1", "10.9.0.2"])]),
        host("lb1", &[(0, &["10.9.0.10"]), (1, &["10.9.1.10"])]),
        host("app1", &[(1, &["10.9.1.21"])]),
    ];
    let lab = lab(&[("front", "10.9.0.0/24"), ("back", "10.9.1.0/24")], hosts);
    let Some(hosts) = Hosts::of("hosts_reach_each_other_by_name_on_the_nearest_network", &lab) else {
        return;
    };
    let balancer = listen(&hosts, 1);
    for (from, name, at, peer) in [
        (0, "lb1", "10.9.0.10:8080", "10.9.0.1"),
        (2, "lb1", "10.9.1.10:8080", "10.9.1.21"),
        (0, "lb1.front", "10.9.0.10:8080", "10.9.0.1"),
        (2, "lb1.back", "10.9.1.10:8080", "10.9.1.21"),
        (1, "lb1", "10.9.0.10:8080", "10.9.0.10"),
    ] {
        let answered = answering(&balancer, "balancer");
        let (address, said) = asked(&hosts, from, name);
        assert_eq!((address.to_string().as_str(), said.as_str()), (at, "balancer"), "{name} from {from}");
        assert_eq!(answered.join().expect("answered").ip().to_string(), peer, "{name} from {from}");
    }
    // There is no route between the networks, because none was requested.
    let routes = hosts.inside(0, || printed("ip", &["route"]));
    assert_eq!(routes.trim(), "10.9.0.0/24 dev eth0 proto kernel scope link src 10.9.0.1");
    assert!(
        hosts
            .inside(0, || std::fs::read_to_string("/etc/resolv.conf"))
            .expect("a file")
            .starts_with("# A lab's")
    );
    let mac = hosts.inside(1, || printed("ip", &["-brief", "link", "show", "eth1"]));
    assert!(mac.contains("02:aa:00:00:01:0a") && mac.contains("UP"), "{mac}");
}

#[test]
fn what_is_written_below_etc_is_the_hosts_own() {
    let before = std::fs::read_to_string("/etc/hosts").expect("this machine's names");
    let mut with_file = host("load1", &[(0, &["10.9.0.1"])]);
    let place = wavetank_grammar::Span::default();
    let path = "/etc/wavetank-test/deep/secret".to_owned();
    with_file.files.push(HostFile { path, text: "own\n".to_owned(), mode: 0o640, place });
    let lab = lab(&[("front", "10.9.0.0/24")], vec![with_file, host("load2", &[(0, &["10.9.0.2"])])]);
    let Some(hosts) = Hosts::of("what_is_written_below_etc_is_the_hosts_own", &lab) else { return };
    let read = || {
        use std::os::unix::fs::PermissionsExt;
        let path = "/etc/wavetank-test/deep/secret";
        let mode = std::fs::metadata(path).map(|meta| meta.permissions().mode() & 0o7777);
        (std::fs::read_to_string(path).ok(), mode.ok())
    };
    assert_eq!(hosts.inside(0, read), (Some("own\n".to_owned()), Some(0o640)));
    assert_eq!(hosts.inside(1, read), (None, None), "another host has it");
    assert_eq!(read(), (None, None), "this machine has it");
    assert_eq!(std::fs::read_to_string("/etc/hosts").expect("this machine's names"), before);
    assert_eq!(hosts.inside(1, || std::fs::read_to_string("/etc/hostname").expect("a name")), "load2\n");
}

#[test]
fn a_virtual_address_is_answered_for_by_the_balancer_alone() {
    let silent = |name: &str, address: &str| {
        let server = with(host(name, &[(0, &[address])]), "net.ipv4.conf.all.arp_ignore", "1");
        virtual_at(server, "10.9.0.100", VirtualPlace::Silent, "shop")
    };
    let balancer =
        virtual_at(host("lb1", &[(0, &["10.9.0.10"])]), "10.9.0.100", VirtualPlace::Answering(0), "shop");
    let hosts = vec![
        host("load1", &[(0, &["10.9.0.1"])]),
        balancer,
        silent("s1", "10.9.0.21"),
        silent("s2", "10.9.0.22"),
    ];
    let lab = lab(&[("front", "10.9.0.0/24")], hosts);
    let Some(hosts) = Hosts::of("a_virtual_address_is_answered_for_by_the_balancer_alone", &lab) else {
        return;
    };
    let balancer = listen(&hosts, 1);
    let silent = [2, 3].map(|server| listen(&hosts, server));
    for round in 0..20 {
        let answered = answering(&balancer, "balancer");
        assert_eq!(asked(&hosts, 0, "shop").1, "balancer", "round {round}");
        answered.join().expect("answered");
        let known = hosts.inside(0, || printed("ip", &["neigh", "show", "10.9.0.100"]));
        assert!(known.contains("02:aa:00:00:00:0a"), "round {round}: {known}");
        hosts.inside(0, || printed("ip", &["neigh", "flush", "all"]));
    }
    for listener in silent {
        listener.set_nonblocking(true).expect("a flag");
        assert_eq!(listener.accept().map(|_| ()).map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
    }
    // A server still accepts packets for the address; this is the purpose of the silent address.
    let itself = answering(&listen_at(&hosts, 2, "10.9.0.100:9090"), "server");
    let said = hosts.inside(2, || {
        let mut stream =
            TcpStream::connect_timeout(&"10.9.0.100:9090".parse().expect("an address"), WAIT).expect("there");
        let mut said = String::new();
        stream.read_to_string(&mut said).map(|_| said).expect("an answer")
    });
    assert_eq!(said, "server");
    itself.join().expect("answered");
}

fn listen_at(hosts: &Hosts, host: usize, address: &'static str) -> TcpListener {
    hosts.inside(host, move || TcpListener::bind(address).expect("an address of this host"))
}

#[test]
fn a_route_leads_through_a_host_that_forwards() {
    let route = |to: &str, via: &str| Route {
        to: Subnet::parse(to).expect("a network"),
        via: via.parse().expect("an address"),
        place: wavetank_grammar::Span::default(),
    };
    let mut load = host("load1", &[(0, &["10.9.0.1"])]);
    load.routes.push(route("0.0.0.0/0", "10.9.0.10"));
    let mut app = host("app1", &[(1, &["10.9.1.21"])]);
    app.routes.push(route("10.9.0.0/24", "10.9.1.10"));
    let router = with(host("lb1", &[(0, &["10.9.0.10"]), (1, &["10.9.1.10"])]), "net.ipv4.ip_forward", "1");
    let lab = lab(&[("front", "10.9.0.0/24"), ("back", "10.9.1.0/24")], vec![load, router, app]);
    let Some(hosts) = Hosts::of("a_route_leads_through_a_host_that_forwards", &lab) else { return };
    let answered = answering(&listen(&hosts, 2), "app");
    assert_eq!(asked(&hosts, 0, "app1").1, "app");
    assert_eq!(answered.join().expect("answered").ip().to_string(), "10.9.0.1");
}

#[test]
fn many_addresses_of_a_host_take_one_place_in_the_table_of_neighbours() {
    let many: Vec<String> = (1..=200).map(|last| format!("10.9.0.{last}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let hosts = vec![
        host("load1", &[(0, &many)]),
        host("app1", &[(0, &["10.9.0.251"])]),
        host("app2", &[(0, &["10.9.0.252"])]),
        host("app3", &[(0, &["10.9.0.253"])]),
    ];
    let lab = lab(&[("front", "10.9.0.0/24")], hosts);
    let test = "many_addresses_of_a_host_take_one_place_in_the_table_of_neighbours";
    let Some(hosts) = Hosts::of(test, &lab) else { return };
    let listener = listen(&hosts, 1);
    for last in [1, 2, 77, 200] {
        let to: SocketAddr = format!("10.9.0.{last}:9").parse().expect("an address");
        let refused = hosts.inside(1, move || TcpStream::connect_timeout(&to, WAIT).map(|_| ()));
        // The address exists, and nothing listens.
        assert_eq!(refused.map_err(|error| error.kind()), Err(ErrorKind::ConnectionRefused), "{to}");
    }
    drop(listener);
    let known = hosts.inside(1, || printed("ip", &["neigh", "show"]));
    assert_eq!(known.lines().count(), 1, "{known}");
    assert!(known.starts_with("10.9.0.1 dev eth0"), "{known}");
}

#[test]
fn ipv6_is_there_immediately() {
    let hosts = vec![host("load1", &[(0, &["fd00:9::1"])]), host("app1", &[(0, &["fd00:9::2"])])];
    let lab = lab(&[("front", "fd00:9::/64")], hosts);
    let Some(hosts) = Hosts::of("ipv6_is_there_immediately", &lab) else { return };
    let answered = answering(&listen_at(&hosts, 1, "[fd00:9::2]:8080"), "six");
    let (address, said) = asked(&hosts, 0, "app1");
    assert_eq!((address.to_string().as_str(), said.as_str()), ("[fd00:9::2]:8080", "six"));
    assert_eq!(answered.join().expect("answered").ip().to_string(), "fd00:9::1");
}

#[test]
fn nothing_but_the_labs_programs_is_heard_on_its_networks() {
    let hosts = vec![host("load1", &[(0, &["10.9.0.1"])]), host("app1", &[(0, &["10.9.0.2"])])];
    let lab = lab(&[("front", "10.9.0.0/24")], hosts);
    let Some(hosts) = Hosts::of("nothing_but_the_labs_programs_is_heard_on_its_networks", &lab) else {
        return;
    };
    let count = || {
        let text = std::fs::read_to_string("/proc/thread-self/net/dev").expect("counters");
        let line = text.lines().find_map(|line| line.trim().strip_prefix("eth0:")).expect("eth0").to_owned();
        let words: Vec<u64> = line.split_whitespace().map(|word| word.parse().expect("a count")).collect();
        (words[1], words[9])
    };
    let before = hosts.inside(0, count);
    let answered = answering(&listen(&hosts, 1), "one");
    asked(&hosts, 0, "app1");
    answered.join().expect("answered");
    let (received, sent) = hosts.inside(0, count);
    // One connection: a neighbour request and its answer, and at most ten segments in each
    // direction.
    assert_eq!(before, (0, 0));
    assert!((3..=12).contains(&received) && (3..=12).contains(&sent), "{received} received, {sent} sent");
    let owned = hosts.in_switch(|| printed("ip", &["-details", "link", "show", "h1i0"]));
    assert!(owned.contains("alias wavetank-paper-") && owned.contains("/app1/eth0"), "{owned}");
}
