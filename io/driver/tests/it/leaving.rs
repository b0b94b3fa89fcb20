//! Closing while the peer does not read: the driver waits for the peer, up to a limit.

use crate::suite::bench;

use std::io::Read;
use std::net::TcpStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wavetank_driver::{ConnId, Driver, SendStatus, Uring};
use wavetank_plan::Close;
use wavetank_units::Nanos;

use bench::{Bench, Heard, PATIENCE, dial};

/// Sends until a small send reported as done is not with the kernel, because the peer's buffers are
/// full. Then closes `conn`. Returns the number of bytes reported as sent.
fn stuck(bench: &mut Bench<Uring>, conn: ConnId) -> usize {
    let before = bench.driver.bytes_sent();
    let mut promised = 0;
    while bench.driver.bytes_sent() - before == promised as u64 {
        assert_eq!(bench.driver.send(conn, &[7; 10_000]), Ok(SendStatus::All));
        promised += 10_000;
        bench.out();
    }
    bench.driver.close(conn, Close::Fin);
    promised
}

fn is_reset(peer: &TcpStream) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut reported = [PollFd::new(peer, PollFlags::IN)];
    poll(&mut reported, Some(&at_once)).expect("a socket");
    reported[0].revents().contains(PollFlags::ERR)
}

#[test]
fn a_target_that_reads_nothing_is_reset() {
    let mut bench = Bench::<Uring>::new();
    let (conn, peer) = bench.connected();
    stuck(&mut bench, conn);
    let began = bench.clock.now();
    while !is_reset(&peer) {
        assert!(bench.clock.now() < began.after(PATIENCE), "it is waited for for ever");
        assert_eq!(bench.hear_within(Nanos::from_millis(20)), None);
    }
    assert!(bench.clock.now() > began.after(Nanos::from_millis(500)), "it had no time to read");
    // Its slot is free again.
    let pairs: Vec<_> = (0..3).map(|_| bench.connected()).collect();
    assert!(pairs.iter().any(|(other, _)| other.slot == conn.slot), "{pairs:?}");
}

#[test]
fn a_client_that_reads_slowly_gets_everything() {
    let mut bench = Bench::<Uring>::new();
    let mut peer = dial(bench.listen());
    let Heard::Accepted(conn) = bench.hear() else { panic!("a peer dials") };
    let promised = stuck(&mut bench, conn);
    let mut buffer = vec![0; promised];
    let mut taken = 0;
    // Reads half of the rest after each pause.
    for _ in 0..2 {
        let until = bench.clock.now().after(Nanos::from_millis(1_700));
        while bench.clock.now() < until {
            assert_eq!(bench.hear_within(Nanos::from_millis(20)), None);
        }
        let half = (promised - taken) / 2;
        peer.read_exact(&mut buffer[..half]).expect("no reset");
        taken += half;
    }
    loop {
        assert_eq!(bench.hear_within(Nanos::from_millis(1)), None);
        match peer.read(&mut buffer).expect("no reset") {
            0 => break,
            len => taken += len,
        }
    }
    assert_eq!(taken, promised);
}
