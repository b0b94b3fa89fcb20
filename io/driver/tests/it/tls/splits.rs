//! Received bytes are split anywhere, and some of them are not the bytes that were sent.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;
use wavetank_driver::{CloseReason, ConnId, Driver, Event, ListenerId, Tls, TlsServerOptions};
use wavetank_plan::{TlsPlan, TlsResume, TlsVersions};

use crate::suite::bench::{any_port, pattern};
use crate::tls::peer::{client, dial_tls, server, trusting};
use crate::tls::wire::{Ends, Wire, wired};

/// One side of one connection.
struct Side {
    driver: Tls<Wire>,
    ends: Rc<RefCell<Ends>>,
    conn: ConnId,
    got: Vec<u8>,
    secured: bool,
    ended: Option<CloseReason>,
}

impl Side {
    /// Handles all available events.
    fn turn(&mut self) {
        self.driver.wait(wavetank_units::Nanos(i64::MIN)).expect("waiting works");
        while let Some(event) = self.driver.next() {
            match event {
                Event::Secured(conn) => {
                    assert!(conn == self.conn && !std::mem::replace(&mut self.secured, true));
                }
                Event::Received(conn, len) => {
                    assert!(conn == self.conn && self.secured && len > 0 && self.ended.is_none());
                    self.got.extend_from_slice(self.driver.received(len));
                }
                Event::Ended(conn, how) => {
                    assert!(conn == self.conn && self.ended.is_none(), "{how:?} after {:?}", self.ended);
                    self.ended = Some(how);
                }
                Event::Connected(_) | Event::Accepted(..) | Event::Flushed(_) => {}
                other => panic!("heard {other:?}"),
            }
        }
    }
}

/// Two sides, and the changes to the bytes between them.
struct Conversation<'a> {
    sides: [Side; 2],
    /// Lengths of pieces, used in turn.
    pieces: &'a [usize],
    at: usize,
    /// Number of bytes that travelled from the first to the second side, and the index of the one
    /// that changes.
    travelled: usize,
    damage: Option<(usize, u8)>,
}

impl<'a> Conversation<'a> {
    fn new(versions: TlsVersions, pieces: &'a [usize], damage: Option<(usize, u8)>) -> Self {
        let plan = TlsPlan { versions, resume: TlsResume::Shared, ..trusting() };
        let (mut driver, ends) = wired(Some(client(&plan)), None);
        let conn = driver.connect(&dial_tls(any_port(), 0)).expect("nothing to fail");
        let side = |driver, ends, conn| Side { driver, ends, conn, got: vec![], secured: false, ended: None };
        let first = side(driver, ends, conn);
        let (driver, ends) = wired(None, Some(server(&TlsServerOptions::default())));
        let conn = ends.borrow_mut().conn();
        ends.borrow_mut().hear(Event::Accepted(ListenerId(0), conn));
        let second = side(driver, ends, conn);
        Self { sides: [first, second], pieces, at: 0, travelled: 0, damage }
    }

    /// Carries bytes back and forth until neither side sends any more.
    fn settle(&mut self) {
        let mut quiet = 0;
        while quiet < 3 {
            self.sides.iter_mut().for_each(Side::turn);
            let carried = self.carry(0, 1) + self.carry(1, 0);
            quiet = if carried == 0 { quiet + 1 } else { 0 };
        }
    }

    fn carry(&mut self, from: usize, to: usize) -> usize {
        let mut bytes = self.sides[from].ends.borrow_mut().take_sent(self.sides[from].conn);
        if let (0, Some((at, with))) = (from, self.damage)
            && let Some(byte) = at.checked_sub(self.travelled).and_then(|at| bytes.get_mut(at))
        {
            *byte ^= with;
        }
        self.travelled += if from == 0 { bytes.len() } else { 0 };
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let len = self.pieces[self.at % self.pieces.len()].min(rest.len());
            self.at += 1;
            let (piece, after) = rest.split_at(len);
            self.sides[to].ends.borrow_mut().arrive(self.sides[to].conn, piece);
            rest = after;
        }
        bytes.len()
    }

    fn send(&mut self, from: usize, bytes: &[u8]) {
        let Side { driver, conn, .. } = &mut self.sides[from];
        // After a fault the connection is closed, and sending fails.
        let _ = driver.send(*conn, bytes);
    }
}

fn versions() -> impl Strategy<Value = TlsVersions> {
    prop_oneof![Just(TlsVersions::Tls12), Just(TlsVersions::Tls13)]
}

fn pieces() -> impl Strategy<Value = Vec<usize>> {
    let piece = prop_oneof![1..8_usize, 1..600_usize, 1..40_000_usize];
    prop::collection::vec(piece, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_split_brings_the_same(
        versions in versions(),
        pieces in pieces(),
        early in 0..3_000_usize,
        lengths in prop::collection::vec(1..70_000_usize, 1..4),
    ) {
        let mut talk = Conversation::new(versions, &pieces, None);
        let all = pattern(early + lengths.iter().sum::<usize>());
        if early > 0 {
            talk.send(0, &all[..early]);
        }
        talk.settle();
        prop_assert!(talk.sides.iter().all(|side| side.secured));
        let mut sent = early;
        for length in lengths {
            talk.send(0, &all[sent..sent + length]);
            talk.send(1, &all[sent - early..sent - early + length]);
            sent += length;
            talk.settle();
        }
        prop_assert!(talk.sides[1].got == all, "what came is not what was sent");
        prop_assert!(talk.sides[0].got == all[..sent - early], "what came is not what was sent");
        let [Side { driver, conn, .. }, _] = &mut talk.sides;
        driver.close(*conn, wavetank_plan::Close::Fin);
        talk.carry(0, 1);
        talk.settle();
        prop_assert_eq!(talk.sides[1].ended, Some(CloseReason::Eof));
    }

    #[test]
    fn a_changed_byte_is_a_fault_and_never_data(
        versions in versions(),
        pieces in pieces(),
        at in 0..3_000_usize,
        with in 1..=255_u8,
    ) {
        let mut talk = Conversation::new(versions, &pieces, Some((at, with)));
        let all = pattern(2_500);
        for piece in all.chunks(500) {
            talk.send(0, piece);
            talk.settle();
        }
        let changed = talk.travelled > at;
        for Side { conn, ends, .. } in &talk.sides {
            ends.borrow_mut().hear(Event::Ended(*conn, CloseReason::Eof));
        }
        talk.settle();
        let [client, server] = &talk.sides;
        prop_assert!(all.starts_with(&server.got), "data that was not sent");
        prop_assert!(server.ended.is_some() && client.ended.is_some());
        if changed {
            prop_assert!(server.ended != Some(CloseReason::Eof), "{:?}", server.ended);
        } else {
            prop_assert!(server.got == all && server.ended == Some(CloseReason::Truncated));
        }
    }

    #[test]
    fn garbage_ends_it(
        side in 0..2_usize,
        garbage in prop::collection::vec(any::<u8>(), 1..2_000),
        header in any::<bool>(),
        open in any::<bool>(),
        pieces in pieces(),
    ) {
        let mut talk = Conversation::new(TlsVersions::Tls13, &pieces, None);
        if open {
            talk.settle();
        }
        // Half of the cases look like a record at first.
        let mut bytes = if header { vec![22 + u8::from(open), 3, 3, 1, 0] } else { Vec::new() };
        bytes.extend(garbage);
        let Side { conn, ends, .. } = &talk.sides[side];
        for piece in bytes.chunks(pieces[0]) {
            ends.borrow_mut().arrive(*conn, piece);
        }
        ends.borrow_mut().hear(Event::Ended(*conn, CloseReason::Eof));
        for _ in 0..20 {
            talk.sides[side].turn();
        }
        let side = &talk.sides[side];
        prop_assert!(side.got.is_empty(), "data that was not sent");
        prop_assert!(matches!(side.ended, Some(CloseReason::Tls | CloseReason::Truncated)), "{:?}", side.ended);
    }
}
