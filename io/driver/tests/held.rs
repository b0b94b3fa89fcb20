//! Ending a driver costs the same per connection, whether it holds a few connections or very many.
//!
//! `WAVETANK_HELD=200000` sets the number of connections, which have both ends in one driver.

#[expect(dead_code, reason = "the suite of behaviours needs more of it")]
#[path = "it/suite/bench.rs"]
mod bench;

use std::net::{Ipv4Addr, SocketAddr};

use wavetank_driver::{Clock, Dial, Driver, DriverConfig, Event, Uring};
use wavetank_units::Nanos;

use bench::{Bench, PATIENCE};

/// Simultaneous connects: on any host, a backlog holds more.
const TOGETHER: usize = 100;
/// Connections from one source address.
const PER_ADDRESS: usize = 10_000;

/// Opens `count` connections of a driver to itself.
fn open(bench: &mut Bench<Uring>, count: usize) {
    let to = bench.listen();
    let (mut dialed, mut connected, mut accepted) = (0, 0, 0);
    let until = bench.clock.now().after(PATIENCE);
    while connected < count || accepted < count {
        while dialed < count && dialed < connected.min(accepted) + TOGETHER {
            let address = Ipv4Addr::new(127, 0, 1, (dialed / PER_ADDRESS + 1) as u8);
            let dial = Dial { from: Some(SocketAddr::from((address, 0))), ..Dial::plain(to) };
            bench.driver.connect(&dial).expect("there is room");
            dialed += 1;
        }
        bench.driver.wait(until).expect("waiting works");
        while let Some(event) = bench.driver.next() {
            match event {
                Event::Connected(_) => connected += 1,
                Event::Accepted(..) => accepted += 1,
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Returns the time to open `count` connections, and the time to end the driver that holds them.
fn check(count: usize) -> (Nanos, Nanos) {
    let clock = Clock::starting_now();
    let driver = Uring::new(&DriverConfig { sockets: 2 * count as u32, ..DriverConfig::small(clock) })
        .expect("a driver");
    let mut bench = Bench { driver, clock };
    open(&mut bench, count);
    let opened = clock.now();
    drop(bench);
    (opened, Nanos(clock.now().0 - opened.0))
}

/// Ending took 25 times as long as opening when the search for operations in flight restarted each
/// time.
#[test]
fn ending_many_costs_as_much_as_opening_them() {
    let counts = std::env::var("WAVETANK_HELD").unwrap_or_else(|_| "30000".to_owned());
    for count in counts.split(',') {
        let (opening, ending) = check(count.parse().expect("numbers between commas"));
        let [opening_ms, ending_ms] = [opening, ending].map(|took| took.0 / 1_000_000);
        println!("{count} connections, both ends: opening {opening_ms} ms, ending {ending_ms} ms");
        assert!(ending.0 < 4 * opening.0 + Nanos::SECOND.0, "{count}: {ending_ms} ms after {opening_ms} ms");
    }
}
