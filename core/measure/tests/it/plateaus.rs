//! Held connections: the results of hold phases, and their conservation.

use crate::common;

use common::{Second, phase, plan};
use wavetank_measure::{Downsampled, HeldPhase, HeldSecond, Plateau, Totals};
use wavetank_plan::{Load, Phase, Plan, PopulationCurve};
use wavetank_units::{Nanos, Rate};

fn hold(name: &str, start: i64, connections: PopulationCurve) -> Phase {
    let seconds = connections.length().0 / Nanos::SECOND.0;
    Phase { load: Load::Hold { connections, sessions_each: None }, ..phase(name, start, seconds) }
}

/// Opens `count` in 2 s, keeps them for `seconds`, closes them in 1 s.
fn holding(count: u64, seconds: i64) -> Plan {
    let climb = PopulationCurve::climb(0, count, Rate::per_second(count / 2)).expect("a climb");
    let fall = PopulationCurve::climb(count, 0, Rate::per_second(count)).expect("a fall");
    let keep = PopulationCurve::constant(count, Some(Nanos::from_secs(seconds)));
    let phases = vec![hold("open", 0, climb), hold("keep", 2, keep), hold("close", 2 + seconds, fall)];
    Plan { phases, ..plan(1) }
}

/// The second from `at` with these numbers of opened, reopened, lost and closed connections, and of
/// those open at its end.
fn second(at: i64, [opened, reopened, lost, closed, open]: [u64; 5]) -> Second {
    Second::at(at).with(|interval| {
        let conns = &mut interval.conns;
        (conns.offered, conns.opened, conns.reopened) = (opened, opened, reopened);
        (conns.lost, conns.closed, conns.open, conns.peak) = (lost, closed, open, open + lost);
    })
}

fn totals(plan: &Plan, seconds: impl IntoIterator<Item = Second>) -> Totals {
    let mut totals = Totals::new(plan);
    for second in seconds {
        totals.add(&second.seal());
        assert_eq!(totals.check(), Ok(()));
    }
    totals
}

/// Five are lost in the plateau's second second and come back in its fourth.
fn troubled() -> Totals {
    let seconds = [
        second(0, [90, 0, 0, 0, 90]),
        second(1, [110, 0, 0, 0, 200]),
        second(2, [0, 0, 0, 0, 200]),
        second(3, [0, 0, 5, 0, 195]).with(|interval| interval.conns.late = 0),
        second(4, [0, 0, 0, 0, 195]),
        second(5, [5, 5, 0, 0, 200]),
        second(6, [0, 0, 0, 200, 0]),
    ];
    totals(&holding(200, 4), seconds)
}

#[test]
fn each_hold_phase_has_its_own_time() {
    let totals = troubled();
    let of = |held: &HeldPhase| {
        let conns = held.conns;
        (held.planned, held.open_before, conns.opened, conns.lost, conns.reopened, conns.closed, conns.open)
    };
    let phases: Vec<_> = totals.held.phases().iter().map(of).collect();
    assert_eq!(
        phases,
        [(200, 0, 200, 0, 0, 0, 200), (200, 200, 5, 5, 5, 0, 200), (200, 200, 0, 0, 0, 200, 0)]
    );
    assert_eq!(
        totals.held.phases().iter().map(|held| held.held_min).collect::<Vec<_>>(),
        [Some(90), Some(195), Some(0)]
    );
}

#[test]
fn the_lowest_second_is_the_first_of_the_fewest() {
    let totals = troubled();
    let all: Vec<(&HeldPhase, &Plateau)> = totals.held.plateaus().collect();
    let [(held, plateau)] = all[..] else { panic!("one plateau: {all:?}") };
    assert_eq!((held.phase, plateau.seconds, plateau.kept.as_slice().len()), (1, 4, 4));
    let lowest = plateau.lowest;
    assert_eq!((lowest.at, lowest.held, lowest.planned), (Nanos::from_secs(4), 195, 200));
    // The last second of a plateau is compared with the plateau, not with the decrease that starts
    // at its seal.
    assert!(plateau.kept.as_slice().iter().all(|second| second.planned == 200), "{plateau:?}");
}

/// A signal at 4.5 s: what is open at the second's end is what closing has left.
#[test]
fn the_second_in_which_a_plateau_was_cut_is_not_one_of_its() {
    let mut totals = Totals::new(&holding(200, 4));
    for second in [second(0, [200, 0, 0, 0, 200]), second(2, [0, 0, 0, 0, 200]), second(3, [0, 0, 1, 0, 199])]
    {
        totals.add(&second.seal());
    }
    totals.phase_ended(1, Nanos::from_millis(4_500));
    totals.add(&second(4, [0, 0, 0, 199, 0]).seal());
    assert_eq!(totals.check(), Ok(()));
    let (held, plateau) = totals.held.plateaus().next().expect("a plateau");
    assert_eq!((plateau.seconds, plateau.lowest.held, held.held_min), (2, 199, Some(199)));
    assert_eq!((held.conns.closed, held.conns.open), (199, 0), "its counters are whole");
    assert_eq!(totals.held_min, Some(199));
}

#[test]
fn seconds_have_requests_too() {
    let busy = second(2, [0, 0, 0, 0, 200]).phase(1).done(99, 2).answered(0, 1).done(1, 9).open(7);
    let totals = totals(&holding(200, 4), [second(0, [200, 0, 0, 0, 200]), busy]);
    let (_, plateau) = totals.held.plateaus().next().expect("a plateau");
    let second = plateau.kept.as_slice()[0];
    assert_eq!((second.in_flight, second.answered), (7, 100));
    assert!((2_000_000..2_100_000).contains(&second.p99_ns), "{second:?}");
}

#[test]
fn what_does_not_add_up_in_a_phase_is_found() {
    let mut totals = Totals::new(&holding(200, 4));
    totals.add(&second(0, [200, 0, 0, 0, 200]).seal());
    // Ten connections are missing without a counted reason.
    totals.add(&second(2, [0, 0, 0, 0, 190]).seal());
    assert!(totals.check().is_err());
}

#[test]
fn a_long_plateau_keeps_some_of_its_seconds() {
    let seconds = 3_000;
    let quiet = (0..seconds).map(|at| second(2 + at, [0, 0, 0, 0, 200]));
    let totals = totals(&holding(200, seconds), [second(0, [200, 0, 0, 0, 200])].into_iter().chain(quiet));
    let (_, plateau) = totals.held.plateaus().next().expect("a plateau");
    assert_eq!((plateau.seconds, plateau.kept.stride()), (3_000, 4));
    let kept = plateau.kept.as_slice();
    assert!(kept.len() <= Downsampled::<HeldSecond>::KEPT_MAX && kept.len() >= 700, "{}", kept.len());
    let apart = kept.windows(2).all(|two| two[1].at - two[0].at == Nanos::from_secs(4));
    assert!(apart, "one of every four, to the last");
}

#[test]
fn runs_without_holds_keep_nothing() {
    let totals = totals(&plan(3), (0..3).map(|at| second(at, [0, 0, 0, 0, 0])));
    assert!(totals.held.phases().is_empty() && totals.held.plateaus().next().is_none());
}
