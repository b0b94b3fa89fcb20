//! Rings: several of them hold more sockets than the process may have files, and running out of
//! files is harmless.
//!
//! The test limits the files of the whole process, so it runs in a separate process.

#[expect(dead_code, reason = "the suite of behaviours needs more of it")]
#[path = "it/suite/bench.rs"]
mod bench;

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wavetank_driver::{Clock, CloseReason, ConnId, Dial, Driver, DriverConfig, Event, Uring};
use wavetank_plan::Close;
use wavetank_units::Nanos;

use bench::{Bench, Heard, PATIENCE};

/// Limit on the files of the process.
const FILES: u64 = 64;
/// Connections with both ends in one driver: more than ten times the limit.
const CONNECTIONS: usize = 400;

#[test]
fn rings_of_uring() {
    let limits = getrlimit(Resource::Nofile);
    let limit = |files| {
        setrlimit(Resource::Nofile, Rlimit { current: Some(files), ..limits }).expect("lowering is allowed");
    };
    limit(FILES);
    let clock = Clock::starting_now();
    let driver =
        Uring::new(&DriverConfig { sockets: 2_000, ..DriverConfig::small(clock) }).expect("a driver");
    let mut bench = Bench { driver, clock };
    let at = bench.listen();
    for round in 0..3 {
        let pairs = open(&mut bench, at);
        assert!(bench.driver.rings() > 10, "{} rings", bench.driver.rings());
        talk(&mut bench, &pairs);
        close(&mut bench, &pairs, if round == 1 { Close::Fin } else { Close::Rst });
    }
    // No more files: existing slots remain usable, then the error is reported, and nothing spins.
    limit(fs::read_dir("/proc/self/fd").expect("/proc is mounted").count() as u64 - 1);
    runs_out(&mut bench, at, || limit(FILES));
}

/// Opens the connections. Returns both ends of each, the client's first.
fn open(bench: &mut Bench<Uring>, at: SocketAddr) -> Vec<(ConnId, ConnId)> {
    let mut clients: HashMap<_, _> = HashMap::new();
    let mut servers = Vec::new();
    let mut connected = 0;
    while connected < CONNECTIONS || servers.len() < CONNECTIONS {
        // A few at a time, so that no backlog overflows on a small host.
        while clients.len() < CONNECTIONS && clients.len() < connected + 100 {
            let client = bench.driver.connect(&Dial::plain(at)).expect("another ring is made");
            clients.insert(client, None);
        }
        match bench.hear() {
            Heard::Connected(_) => connected += 1,
            Heard::Accepted(server) => servers.push(server),
            other => panic!("heard {other:?}"),
        }
    }
    // To find the pairs, each server sends its number to its client.
    for (number, server) in servers.iter().enumerate() {
        bench.driver.send(*server, &(number as u32).to_le_bytes()).expect("accepted");
    }
    for _ in &servers {
        match bench.hear() {
            Heard::Received(client, bytes) => {
                let number = u32::from_le_bytes(bytes.try_into().expect("four bytes"));
                let known = clients.get_mut(&client).expect("one of ours");
                assert_eq!(known.replace(servers[number as usize]), None);
            }
            other => panic!("heard {other:?}"),
        }
    }
    clients.into_iter().map(|(client, server)| (client, server.expect("its server sent a number"))).collect()
}

/// Each client sends its own bytes, and its own server receives them.
fn talk(bench: &mut Bench<Uring>, pairs: &[(ConnId, ConnId)]) {
    let clients: HashMap<_, _> = pairs.iter().map(|&(client, server)| (server, client)).collect();
    for (client, _) in pairs {
        bench.driver.send(*client, &client.slot.to_le_bytes()).expect("connected");
    }
    for _ in pairs {
        match bench.hear() {
            Heard::Received(server, bytes) => assert_eq!(bytes, clients[&server].slot.to_le_bytes()),
            other => panic!("heard {other:?}"),
        }
    }
}

fn close(bench: &mut Bench<Uring>, pairs: &[(ConnId, ConnId)], how: Close) {
    for (client, _) in pairs {
        bench.driver.close(*client, how);
    }
    for _ in pairs {
        match bench.hear() {
            Heard::Ended(server, CloseReason::Eof) if how == Close::Fin => bench.driver.close(server, how),
            Heard::Ended(server, CloseReason::Broken(_)) if how == Close::Rst => {
                bench.driver.close(server, how);
            }
            other => panic!("heard {other:?}"),
        }
    }
    bench.hear_nothing();
}

fn runs_out(bench: &mut Bench<Uring>, at: SocketAddr, more: impl Fn()) {
    let clients: Vec<_> = std::iter::from_fn(|| match bench.driver.connect(&Dial::plain(at)) {
        Ok(client) => Some(client),
        Err(errno) => {
            assert_eq!(errno.symbol(), Some("EMFILE"));
            None
        }
    })
    .collect();
    assert!(clients.len() > CONNECTIONS, "{} slots", clients.len());
    let mut counts = Counts::default();
    let until = bench.clock.now().after(Nanos::from_millis(450));
    let mut turns = 0;
    while bench.clock.now() < until {
        turns += 1;
        bench.driver.wait(until).expect("waiting works");
        counts.take_in(bench);
    }
    assert!(counts.failed >= 2, "it tries again: {counts:?}");
    assert!(counts.accepted < clients.len(), "{counts:?}");
    assert!(turns <= 2 * clients.len() + 20, "{turns} turns: it spins");
    more();
    let until = bench.clock.now().after(PATIENCE);
    while counts.accepted < clients.len() {
        assert!(bench.clock.now() < until, "{counts:?}");
        bench.driver.wait(until).expect("waiting works");
        counts.take_in(bench);
    }
    assert_eq!(counts.connected, clients.len());
}

#[derive(Debug, Default)]
struct Counts {
    connected: usize,
    accepted: usize,
    failed: usize,
}

impl Counts {
    fn take_in(&mut self, bench: &mut Bench<Uring>) {
        while let Some(event) = bench.driver.next() {
            match event {
                Event::Connected(_) => self.connected += 1,
                Event::Accepted(..) => self.accepted += 1,
                Event::AcceptFailed(_, errno) => {
                    assert_eq!(errno.symbol(), Some("EMFILE"));
                    self.failed += 1;
                }
                other => panic!("{other:?} where slots are short"),
            }
        }
    }
}
