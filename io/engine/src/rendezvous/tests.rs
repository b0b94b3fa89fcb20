//! Tests of rendezvous, on real threads and step by step.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

const fn at(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

/// Returns a rendezvous for `all` users of one phase, or for any users that wait for a number.
fn places(all: u64, lead: Nanos) -> RendezvousTable {
    let crowd = vec![PhaseMembers { phase: 0, numbers: all, all, gone: AtomicU64::new(0) }];
    RendezvousTable {
        spots: vec![RendezvousSlot::new(Vec::new()), RendezvousSlot::new(crowd)],
        tracks: 1,
        visits: vec![vec![0]],
        lead,
        is_shared: false,
    }
}

const EVERYBODY: Quorum = Quorum::everybody(0);

const fn number(of: u64) -> Quorum {
    Quorum { phase: 3, of: QuorumSize::Number(of) }
}

#[test]
fn the_last_to_come_lets_all_go() {
    let places = places(3, at(25));
    let spot = places.point_index(0, Some(0), true);
    let (first, began) = places.arrive(spot, EVERYBODY, at(1));
    assert!(began);
    let (second, began) = places.arrive(spot, EVERYBODY, at(2));
    assert_eq!((second, began, places.released(first, at(2))), (first, false, None));
    let (third, _) = places.arrive(spot, EVERYBODY, at(3));
    let gone = RoundRelease { at: at(28), of: 3, phase: 0, by_wait: false, round: 0 };
    assert_eq!((third, places.released(first, at(3))), (first, Some(gone)));
    // The next round is a separate one with a separate timeout.
    let (next, began) = places.arrive(spot, EVERYBODY, at(4));
    assert!(began && next != first && next.round != first.round);
    places.wait_is_over(first, EVERYBODY, at(90));
    assert_eq!(places.released(next, at(90)), None, "the wait of a round that was released");
    places.wait_is_over(next, EVERYBODY, at(94));
    assert_eq!(
        places.released(next, at(94)),
        Some(RoundRelease { at: at(119), of: 3, phase: 0, by_wait: true, round: 1 })
    );
}

#[test]
fn no_user_waits_for_users_that_left() {
    let places = places(3, Nanos::ZERO);
    let spot = places.point_index(0, Some(0), true);
    let (first, _) = places.arrive(spot, EVERYBODY, at(1));
    places.count_out(0, 0, 0, 2, false, at(2));
    places.count_out(0, 0, 0, 2, true, at(3));
    places.arrive(spot, EVERYBODY, at(4));
    assert_eq!(places.released(first, at(4)), None, "the user came again");
    places.count_out(0, 0, 0, 9, false, at(5));
    assert_eq!(places.released(first, at(5)), None, "a user outside this phase is not waited for");
    places.count_out(0, 0, 0, 2, false, at(6));
    let gone = places.released(first, at(6)).expect("two of two are there");
    assert_eq!((gone.at, gone.of, gone.by_wait), (at(6), 2, false));
    // When all others have left, the remaining user is released immediately.
    places.count_out(0, 0, 0, 1, false, at(7));
    places.count_out(0, 0, 0, 0, false, at(8));
    let (alone, _) = places.arrive(spot, EVERYBODY, at(9));
    assert_eq!(places.released(alone, at(9)).map(|gone| gone.at), Some(at(9)));
}

#[test]
fn a_user_that_leaves_alone_does_not_count() {
    let places = places(9, Nanos::ZERO);
    let spot = places.point_index(0, None, false);
    let (first, _) = places.arrive(spot, number(2), at(1));
    places.depart(first, at(2));
    assert!(places.released(first, at(2)).is_some(), "its list can be thrown away");
    let (second, began) = places.arrive(spot, number(2), at(3));
    assert!(began && second != first && places.released(second, at(3)).is_none());
    places.depart(first, at(4));
    places.arrive(spot, number(2), at(5));
    let gone = places.released(second, at(5)).expect("two are there");
    assert_eq!((gone.of, gone.phase), (2, 3));
}

#[test]
fn a_round_that_was_missed_is_long_past() {
    let places = places(9, Nanos::ZERO);
    let spot = places.point_index(0, None, false);
    let (first, _) = places.arrive(spot, number(1), at(1));
    for millis in 2..=i64::from(ROUNDS) {
        places.arrive(spot, number(1), at(millis));
    }
    assert_eq!(places.released(first, at(99)).map(|gone| gone.at), Some(at(1)), "the oldest known round");
    places.arrive(spot, number(1), at(98));
    assert_eq!(
        places.released(first, at(99)).map(|gone| gone.at),
        Some(at(99)),
        "now, because the instant is unknown"
    );
}

/// Users of several threads meet again and again, and some leave. Every round is released, and no
/// user stays behind.
fn check(threads: u64, users: u64, rounds: u64, leaving: u64) {
    let all = threads * users;
    let places = Arc::new(places(all, Nanos::ZERO));
    let spot = places.point_index(0, Some(0), true);
    let (went, waited_for) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (places, went, waited_for) = (&places, &went, &waited_for);
            scope.spawn(move || {
                let mut left = users;
                for round in 0..rounds {
                    let mine: Vec<RoundId> =
                        (0..left).map(|_| places.arrive(spot, EVERYBODY, at(1)).0).collect();
                    for waiting in mine {
                        let gone = loop {
                            match places.released(waiting, at(2)) {
                                Some(gone) => break gone,
                                None => std::thread::yield_now(),
                            }
                        };
                        went.fetch_add(1, Ordering::Relaxed);
                        waited_for.fetch_add(gone.of, Ordering::Relaxed);
                    }
                    for _ in 0..leaving.min(left) {
                        left -= 1;
                        places.count_out(0, 0, 0, thread * users + round % users, false, at(3));
                    }
                }
                for _ in 0..left {
                    places.count_out(0, 0, 0, 0, false, at(4));
                }
            });
        }
    });
    let expected: u64 = (0..rounds).map(|round| users.saturating_sub(round * leaving)).sum();
    assert_eq!(went.into_inner(), expected * threads);
    assert_eq!(places.spots[spot as usize].state.load(Ordering::SeqCst) as u32, 0, "no user waits any more");
    assert!(waited_for.into_inner() > 0);
}

#[test]
fn threads_meet_without_leaving_a_user_behind() {
    check(1, 10, 100, 0);
    check(2, 5, 300, 0);
    check(3, 20, 30, 1);
    check(7, 3, 50, 0);
}

#[test]
fn users_of_several_hosts_wait_for_the_controller() {
    let places = RendezvousTable { is_shared: true, ..places(2, at(25)) };
    let spot = places.point_index(0, Some(0), true);
    let report = |round, present, is_over, releases| WaitingUsers {
        point: spot,
        round,
        present,
        phase: 0,
        quorum: FleetQuorum::Phase(0),
        is_over,
        releases,
        members: vec![PhaseCount { phase: 0, users: 2 }],
    };
    let (first, began) = places.arrive(spot, EVERYBODY, at(1));
    places.arrive(spot, EVERYBODY, at(2));
    assert!(began && places.released(first, at(9)).is_none(), "users of other hosts are missing");
    assert_eq!(places.waiting(), [report(0, 2, false, 0)]);
    places.wait_is_over(first, EVERYBODY, at(90));
    assert_eq!((places.waiting(), places.released(first, at(90))), (vec![report(0, 2, true, 0)], None));
    let release =
        FleetRelease { point: spot, round: Some(0), number: 4, at: at(100), of: 7, phase: 0, by_wait: true };
    // Releases of other points, of other rounds and of this round for a second time do nothing.
    for _ in 0..2 {
        places.release(&FleetRelease { point: 99, ..release });
        places.release(&FleetRelease { round: Some(5), ..release });
        places.release(&release);
    }
    let gone = RoundRelease { at: at(100), of: 7, phase: 0, by_wait: true, round: 4 };
    assert_eq!(
        (places.released(first, at(91)), places.waiting()),
        (Some(gone), vec![report(1, 0, false, 5)])
    );
    // A user who leaves while it waits is not counted, and its round ends.
    let (second, _) = places.arrive(spot, EVERYBODY, at(101));
    places.depart(second, at(102));
    places.count_out(0, 0, 0, 1, false, at(102));
    let mut left = report(2, 0, false, 5);
    left.members[0].users = 1;
    assert_eq!(places.waiting(), [left]);
}
