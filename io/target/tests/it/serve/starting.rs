//! Starting, stopping, and what is said when it cannot be.

use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpListener};

use crate::serve::client::{Client, engines, get, serve};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wavetank_target::{ServeOptions, start};
use wavetank_units::{ExitCode, Nanos};

#[track_caller]
fn check_refused(options: ServeOptions, code: &str, exit: ExitCode) {
    let error = start(options).expect_err("it cannot be");
    assert_eq!((error.code.as_str(), error.exit), (code, exit), "{error}");
    assert!(!error.hint.is_empty() && !error.message.contains('\n'), "{error}");
}

fn on(address: &str) -> ServeOptions {
    ServeOptions { listen: vec![address.parse().expect("an address")], ..ServeOptions::default() }
}

#[test]
fn what_cannot_be_is_said_with_a_hint() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound");
    check_refused(on(&address.to_string()), "port_in_use", ExitCode::Refused);
    check_refused(on("192.0.2.1:0"), "no_such_address", ExitCode::Refused);
    check_refused(ServeOptions { listen: vec![], ..on("127.0.0.1:0") }, "no_address", ExitCode::Usage);
    for threads in [0, 1_025] {
        check_refused(
            ServeOptions { threads: Some(threads), ..on("127.0.0.1:0") },
            "threads",
            ExitCode::Usage,
        );
    }
    for freeze in [(Nanos(-1), Nanos(5)), (Nanos(5), Nanos::ZERO)] {
        check_refused(ServeOptions { freeze: Some(freeze), ..on("127.0.0.1:0") }, "freeze", ExitCode::Usage);
    }
}

#[test]
fn another_server_on_the_same_port_is_noticed() {
    let (server, at) = serve(ServeOptions::default());
    check_refused(on(&at.to_string()), "port_in_use", ExitCode::Refused);
    assert_eq!(Client::connect(at).get("/").status, 200);
    drop(server);
}

#[test]
fn stopping_closes_all_and_frees_the_port() {
    let (server, at) = serve(ServeOptions { threads: Some(2), ..ServeOptions::default() });
    let mut clients: Vec<_> = (0..20).map(|_| Client::connect(at)).collect();
    for client in &mut clients {
        assert_eq!(client.get("/").status, 200);
    }
    server.stop();
    for client in &mut clients {
        assert_eq!(client.stream.read(&mut [0]).expect("a clean end"), 0);
    }
    drop(clients);
    // Immediately, although the old connections are in TIME_WAIT.
    let again = start(on(&at.to_string())).expect("the port is free again");
    assert_eq!(Client::connect(again.addresses()[0]).get("/").status, 200);
}

/// Number of sockets with this local port in any state, without listeners.
fn remains(port: u16) -> usize {
    let table = std::fs::read_to_string("/proc/net/tcp").expect("/proc is mounted");
    let own = format!(":{port:04X} ");
    let states = table.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (at, state) = (words.next()?, words.nth(1)?);
        format!("{at} ").ends_with(&own).then_some(state)
    });
    states.filter(|state| *state != "0A").count()
}

/// More than are left to the end of the driver: they are reset, so that nothing of them remains.
#[test]
fn a_server_that_holds_many_leaves_nothing() {
    const CLIENTS: usize = 1_500;
    let limits = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limits.maximum, ..limits }).expect("up to the hard limit");
    if limits.maximum.is_some_and(|most| most < 4_000) {
        return wavetank_testkit::skip("a_server_that_holds_many_leaves_nothing", "it needs 4,000 files");
    }
    for engine in engines() {
        let (server, at) = serve(ServeOptions { threads: Some(1), engine, ..ServeOptions::default() });
        let mut clients: Vec<_> = (0..CLIENTS).map(|_| Client::connect(at)).collect();
        for client in &mut clients {
            client.send(get("/"));
        }
        for client in &mut clients {
            assert_eq!(client.answer().status, 200);
        }
        // One of them is waiting, and one has not been read from.
        clients[7].send(get("/delay/1h"));
        clients[8].send(get("/bytes/1MB"));
        assert!(remains(at.port()) >= CLIENTS, "the table of sockets is read wrongly");
        server.stop();
        assert_eq!(remains(at.port()), 0, "{engine:?}");
        for (number, client) in clients.iter_mut().enumerate() {
            let error = client.stream.read_to_end(&mut Vec::new()).expect_err("a reset, not an end");
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{engine:?}: {number}");
        }
        let again = start(ServeOptions { engine, ..on(&at.to_string()) }).expect("the port is free again");
        assert_eq!(Client::connect(again.addresses()[0]).get("/").status, 200);
    }
}

#[test]
fn several_addresses_are_served() {
    let listen: Vec<SocketAddr> =
        ["127.0.0.1:0", "127.0.0.2:0"].iter().map(|at| at.parse().expect("an address")).collect();
    let server =
        start(ServeOptions { listen, threads: Some(3), ..ServeOptions::default() }).expect("free ports");
    assert_eq!(server.addresses().len(), 2);
    for &at in server.addresses() {
        assert_ne!(at.port(), 0);
        for _ in 0..10 {
            assert_eq!(Client::connect(at).get("/").status, 200);
        }
    }
    assert_eq!(server.truth().connections.accepted, 20);
}
