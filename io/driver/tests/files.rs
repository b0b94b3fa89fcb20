//! Files: none leaks, and after running out of them the driver does not spin and still accepts.
//!
//! Both tests count or limit the files of the whole process, so they are one test in a separate
//! process.

#[expect(dead_code, reason = "the suite of behaviours needs more of it")]
#[path = "it/suite/bench.rs"]
mod bench;

use std::fs::{self, File};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wavetank_driver::{CloseReason, Dial, Driver, Epoll, Errno, Event, Uring};
use wavetank_plan::Close;
use wavetank_units::Nanos;

use bench::{Bench, Heard, dial};

/// Total number of connections opened and closed.
const CONNECTIONS: usize = 5_000;

#[test]
fn files_of_drivers() {
    leaks_none::<Epoll>(2);
    // Its sockets are in separate tables.
    leaks_none::<Uring>(0);
    runs_out_gently::<Epoll>();
}

/// Returns the number of files open in this process (including the one for the query, each time
/// alike).
fn files() -> usize {
    fs::read_dir("/proc/self/fd").expect("/proc is mounted").count()
}

/// `per_pair`: files of a connection with both ends in the driver.
fn leaks_none<D: Driver>(per_pair: usize) {
    let before = files();
    let mut bench = Bench::<D>::new();
    let at = bench.listen();
    let idle = files();
    // Both ends are in this process: two files per connection, within the usual limit of 1,024.
    for round in 0..CONNECTIONS / 400 {
        let clients: Vec<_> =
            (0..400).map(|_| bench.driver.connect(&Dial::plain(at)).expect("loopback connects")).collect();
        let (mut servers, mut connected) = (Vec::new(), 0);
        while servers.len() < clients.len() || connected < clients.len() {
            match bench.hear() {
                Heard::Connected(_) => connected += 1,
                Heard::Accepted(conn) => servers.push(conn),
                other => panic!("heard {other:?}"),
            }
        }
        assert_eq!(files(), idle + 400 * per_pair);
        let how = if round % 2 == 0 { Close::Rst } else { Close::Fin };
        for client in clients {
            bench.driver.close(client, how);
        }
        let mut ended = 0;
        while ended < servers.len() {
            match bench.hear() {
                Heard::Ended(_, CloseReason::Eof) => assert_eq!(how, Close::Fin),
                Heard::Ended(_, CloseReason::Broken(errno)) => assert_eq!(errno.symbol(), Some("ECONNRESET")),
                other => panic!("heard {other:?}"),
            }
            ended += 1;
        }
        for server in servers {
            bench.driver.close(server, how);
        }
        bench.out();
        assert_eq!(files(), idle);
    }
    drop(bench);
    assert_eq!(files(), before);
}

fn runs_out_gently<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let at = bench.listen();
    let peers: Vec<_> = (0..3).map(|_| dial(at)).collect();
    let limits = getrlimit(Resource::Nofile);
    let used = files() as u64;
    setrlimit(Resource::Nofile, Rlimit { current: Some(used), ..limits }).expect("lowering is allowed");
    // Numbers below the limit may still be free.
    let rest: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    let mut failures = 0;
    let until = bench.clock.now().after(Nanos::from_millis(450));
    let mut turns = 0;
    while bench.clock.now() < until {
        turns += 1;
        bench.driver.wait(until).expect("waiting works");
        while let Some(event) = bench.driver.next() {
            match event {
                Event::AcceptFailed(_, errno) => {
                    assert_eq!(errno.symbol(), Some("EMFILE"));
                    failures += 1;
                }
                other => panic!("{other:?} without a file"),
            }
        }
    }
    setrlimit(Resource::Nofile, limits).expect("raising to the old limit is allowed");
    drop(rest);
    assert!(failures >= 2, "it tries again: {failures}");
    assert!(turns <= 20, "{turns} turns: it spins");
    for _ in &peers {
        loop {
            match bench.hear() {
                Heard::Accepted(_) => break,
                Heard::AcceptFailed(Errno(_)) => {}
                other => panic!("heard {other:?}"),
            }
        }
    }
}
