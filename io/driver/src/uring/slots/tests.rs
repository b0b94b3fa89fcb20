//! Completions in any order: no event of a closed connection is reported, and no slot is given out
//! twice or lost.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

const RINGS: usize = 2;
const PER_RING: u32 = 3;
const HOT_MAX: u32 = 2;

/// A step of the test; numbers select among the existing connections and operations.
#[derive(Clone, Copy, Debug)]
enum Step {
    Dial {
        ring: usize,
    },
    Accept {
        ring: usize,
    },
    /// The kernel completes one of the operations in flight.
    Complete {
        which: usize,
        result: i32,
        more: bool,
        rest: bool,
    },
    Close {
        which: usize,
    },
    /// The owner closes a connection while the batch has sends of it; settled later.
    Leave {
        which: usize,
    },
    SendFails {
        which: usize,
    },
    /// Start another operation: a piece of a long send, or the wait for room.
    Operate {
        which: usize,
        operation: Operation,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let result = prop_oneof![
        4 => 1..100_i32,
        2 => Just(0),
        1 => prop::sample::select(vec![
            libc::ENOBUFS, libc::EAGAIN, libc::ECANCELED, libc::ECONNRESET, libc::ETIMEDOUT, libc::EINTR,
        ])
        .prop_map(|errno| -errno),
    ];
    let operation = prop::sample::select(vec![Operation::Piece, Operation::Writable, Operation::ShutDown]);
    let which = 0..64_usize;
    prop::collection::vec(
        prop_oneof![
            3 => (0..RINGS).prop_map(|ring| Step::Dial { ring }),
            1 => (0..RINGS).prop_map(|ring| Step::Accept { ring }),
            8 => (which.clone(), result, any::<bool>(), any::<bool>())
                .prop_map(|(which, result, more, rest)| Step::Complete { which, result, more, rest }),
            2 => which.clone().prop_map(|which| Step::Close { which }),
            1 => which.clone().prop_map(|which| Step::Leave { which }),
            1 => which.clone().prop_map(|which| Step::SendFails { which }),
            1 => (which, operation).prop_map(|(which, operation)| Step::Operate { which, operation }),
        ],
        0..200,
    )
}

/// What the owner of a connection knows about it.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    open: bool,
    ended: bool,
    broken: bool,
}

/// The driver and the kernel around the slots.
struct World {
    slots: Slots,
    /// Operations without their last completion.
    under_way: Vec<(ConnId, Operation)>,
    /// Connections that their owner has not closed.
    known: HashMap<ConnId, Known>,
    /// Closed connections that wait for their last sends.
    leaving: Vec<ConnId>,
    /// Every id that was ever given out.
    given: Vec<ConnId>,
}

impl World {
    fn new() -> Self {
        let mut slots = Slots::new(PER_RING, HOT_MAX);
        (0..RINGS).for_each(|_| slots.add_ring());
        Self { slots, under_way: Vec::new(), known: HashMap::new(), leaving: Vec::new(), given: Vec::new() }
    }

    fn begin(&mut self, conn: ConnId, operation: Operation) {
        self.slots.begin(conn, operation);
        self.under_way.push((conn, operation));
    }

    fn take(&mut self, ring: usize, phase: Phase, operation: Operation) {
        let had_room = self.slots.has_room(ring);
        let Some(conn) = self.slots.take(ring, phase, 7) else {
            assert!(!had_room);
            return;
        };
        assert!(had_room);
        assert_eq!(self.slots.place(conn.slot).0, ring);
        assert!(!self.given.contains(&conn), "{conn:?} is an old id");
        let here = |id: &ConnId| id.slot == conn.slot;
        assert!(!self.under_way.iter().any(|(id, _)| here(id)), "an operation is in flight there");
        assert!(!self.known.keys().any(here) && !self.leaving.iter().any(here), "the slot is in use");
        self.given.push(conn);
        self.begin(conn, operation);
        if phase == Phase::Connecting {
            self.known.insert(conn, Known::default());
        }
    }

    fn await_bytes(&mut self, conn: ConnId) {
        if self.slots.wants_watch(conn).is_some() {
            self.begin(conn, Operation::Readable);
        }
        if self.slots.wants_receive(conn).is_some() {
            self.begin(conn, Operation::Receive);
        }
    }

    fn close(&mut self, conn: ConnId) {
        let under_way = self.slots.close(conn);
        for (id, operation) in &self.under_way {
            assert!(*id != conn || under_way.has(*operation), "{operation:?} would stay");
        }
        assert_eq!(self.slots.phase(conn) == Phase::Free, under_way == PendingOps::default());
    }

    fn complete(&mut self, conn: ConnId, operation: Operation, result: i32, more: bool, rest: bool) {
        match operation {
            Operation::Connect => {
                if self.slots.connected(conn, operation, result >= 0) {
                    let known = self.known.get_mut(&conn).expect("an event of a closed connection");
                    assert!(!known.open);
                    known.open = result >= 0;
                    self.opened_or_not(conn, result);
                } else {
                    assert!(!self.known.contains_key(&conn), "a connect's end was swallowed");
                }
            }
            Operation::Accept => {
                assert_eq!(self.slots.listener(conn), 7);
                assert!(self.slots.accepted(conn, result >= 0), "an accept's end was swallowed");
                self.known.insert(conn, Known { open: true, ..Known::default() });
                self.opened_or_not(conn, result);
            }
            Operation::Receive => {
                let (came, again) = self.slots.received(conn, result, more, rest);
                let known = self.known.get_mut(&conn);
                match came {
                    ReceiveOutcome::Nothing => {}
                    ReceiveOutcome::Starved => assert!(known.is_some_and(|known| known.open)),
                    ReceiveOutcome::Bytes(len) => {
                        assert_eq!(len, result as usize);
                        assert!(known.is_some_and(|known| known.open), "bytes of a closed connection");
                    }
                    ReceiveOutcome::End(CloseReason::Eof) => {
                        let known = known.expect("the end of a closed connection");
                        assert!(!known.ended && !known.broken);
                        known.ended = true;
                    }
                    ReceiveOutcome::End(_) | ReceiveOutcome::Failed => {
                        let known = known.expect("the end of a closed connection");
                        assert!(!std::mem::replace(&mut known.broken, true), "reported as broken twice");
                    }
                }
                if again {
                    self.await_bytes(conn);
                }
            }
            Operation::Readable => {
                let reading = self.slots.readable(conn, more, rest);
                self.read(conn, reading);
            }
            _ => {
                let wanted = self.slots.done(conn, operation);
                assert_eq!(wanted, self.known.contains_key(&conn) || self.leaving.contains(&conn));
            }
        }
    }

    fn read(&mut self, conn: ConnId, reading: ReceiveAction) {
        match reading {
            ReceiveAction::AsIs => {}
            ReceiveAction::Now => self.await_bytes(conn),
            ReceiveAction::Again => {
                let armed = self.under_way.contains(&(conn, Operation::Receive));
                assert!(armed && self.known.contains_key(&conn), "nothing to end");
            }
            ReceiveAction::Over => {
                let ReceiveOutcome::End(_) = self.slots.broke(conn, Errno(libc::EPIPE)) else {
                    panic!("{conn:?}: no end")
                };
                let known = self.known.get_mut(&conn).expect("the end of a closed connection");
                assert!(known.ended && !std::mem::replace(&mut known.broken, true));
            }
        }
    }

    fn opened_or_not(&mut self, conn: ConnId, result: i32) {
        if result >= 0 {
            self.await_bytes(conn);
        } else {
            self.known.remove(&conn);
            self.close(conn);
        }
    }

    fn nth_known(&self, which: usize) -> Option<ConnId> {
        let mut known: Vec<_> = self.known.keys().copied().collect();
        known.sort_by_key(|conn| conn.slot);
        (!known.is_empty()).then(|| known[which % known.len()])
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Dial { ring } => self.take(ring, Phase::Connecting, Operation::Connect),
            Step::Accept { ring } => self.take(ring, Phase::Accepting, Operation::Accept),
            Step::Complete { which, result, more, rest } if !self.under_way.is_empty() => {
                let at = which % self.under_way.len();
                let (conn, operation) = self.under_way[at];
                let lasting = matches!(operation, Operation::Receive | Operation::Readable);
                let more = more && lasting && result > 0;
                if !more {
                    self.under_way.swap_remove(at);
                }
                self.complete(conn, operation, result, more, rest);
            }
            Step::Complete { .. } => {}
            Step::Close { which } => {
                let Some(conn) = self.nth_known(which) else { return };
                self.known.remove(&conn);
                self.close(conn);
            }
            Step::Leave { which } => {
                let Some(conn) = self.nth_known(which).filter(|conn| self.known[conn].open) else { return };
                self.known.remove(&conn);
                self.slots.begin_close(conn);
                self.leaving.push(conn);
            }
            Step::SendFails { which } => {
                // Includes connections that were closed long ago.
                if self.given.is_empty() {
                    return;
                }
                let conn = self.given[which % self.given.len()];
                let reading = self.slots.sending_failed(conn);
                self.read(conn, reading);
                assert!(!self.slots.takes_sends(conn));
                // Its end was reported or will be: an operation in flight leads to it.
                let open = self.known.get(&conn).is_some_and(|known| known.open && !known.broken);
                assert!(
                    !open || self.under_way.contains(&(conn, Operation::Receive)),
                    "{conn:?} is forgotten"
                );
            }
            Step::Operate { which, operation } => {
                let Some(conn) = self.nth_known(which).filter(|conn| self.known[conn].open) else { return };
                if !self.slots.is_in_progress(conn, operation) {
                    self.begin(conn, operation);
                }
            }
        }
    }

    /// Closes everything; the kernel completes all operations in flight.
    fn end(mut self) {
        for conn in self.known.drain().map(|(conn, _)| conn).chain(self.leaving.drain(..)).collect::<Vec<_>>()
        {
            self.close(conn);
        }
        for (conn, operation) in std::mem::take(&mut self.under_way) {
            if operation == Operation::Accept {
                self.slots.accepted(conn, false);
                self.slots.close(conn);
            } else {
                self.complete(conn, operation, -libc::ECANCELED, false, false);
            }
        }
        // No slot is lost or duplicated: each ring gives out each of its slots exactly once more.
        for ring in 0..RINGS {
            let mut again: Vec<_> = std::iter::from_fn(|| self.slots.take(ring, Phase::Connecting, 0))
                .map(|conn| conn.slot)
                .collect();
            again.sort_unstable();
            let first = ring as u32 * PER_RING;
            assert_eq!(again, (first..first + PER_RING).collect::<Vec<_>>());
        }
        assert_eq!(self.slots.hot_left, HOT_MAX);
    }
}

proptest! {
    #[test]
    fn takes_completions_in_any_order(steps in steps()) {
        let mut world = World::new();
        for step in steps {
            world.step(step);
        }
        world.end();
    }
}
