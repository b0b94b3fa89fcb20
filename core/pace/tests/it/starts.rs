//! Tests users that start and leave against a simple list of all of them, for any division into
//! shares.

use wavetank_pace::{Partition, Philox, PopulationSchedule};
use wavetank_plan::shape::Segment;
use wavetank_plan::{Load, MaxOpenLimit, Phase, PopulationCurve, ScenarioMix};
use wavetank_units::{Nanos, Rate};

const fn s(seconds: i64) -> Nanos {
    Nanos::from_secs(seconds)
}

fn phase(start: Nanos, users: PopulationCurve, length: Option<Nanos>) -> Phase {
    Phase {
        name: String::new(),
        warmup: false,
        start,
        length,
        requests_max: None,
        sessions_max: None,
        load: Load::Closed { users, sessions_each: None },
        mix: ScenarioMix::one(0),
        max_open: 1,
        max_open_by: MaxOpenLimit::Plan,
        connections: 1,
        open_before: false,
    }
}

/// Returns consecutive phases from -5 s on.
fn follow(all: &[PopulationCurve]) -> Vec<Phase> {
    let mut start = s(-5);
    let phases = all.iter().map(|levels| {
        let phase = phase(start, levels.clone(), Some(levels.length()));
        start = start.after(levels.length());
        phase
    });
    phases.collect()
}

/// Returns the target number of a share at `at`, found by checking each user.
fn asked(phases: &[Phase], share: Partition, at: Nanos) -> u64 {
    let wanted = phases.iter().filter_map(|phase| phase.users_at(at)).sum::<u64>();
    (0..wanted).filter(|&user| share.contains(user)).count() as u64
}

/// Checks the number at, just before and just after each change, and that no user changes twice in
/// one step.
fn check(seed: u64, phases: &[Phase], agents: &[Partition]) -> usize {
    let moves = |share| {
        let mut starts = PopulationSchedule::new(phases, share);
        let mut all = Vec::new();
        while let Some(at) = starts.peek() {
            let moved = starts.pop().expect("peek saw it");
            assert_eq!(moved.at, at);
            all.push(moved);
        }
        assert_eq!(starts.pop(), None);
        all
    };
    let end = phases.iter().filter_map(Phase::end).max().expect("an end");
    let mut count = 0;
    for &share in agents {
        let all = moves(share);
        count += all.len();
        assert!(all.is_sorted_by_key(|moved| moved.at), "seed {seed} {share:?}: {all:?}");
        let changes = [0].into_iter().chain(all.iter().map(|moved| moved.wanted)).collect::<Vec<_>>();
        assert!(
            changes.windows(2).all(|pair| pair[0] != pair[1]),
            "seed {seed} {share:?}: a move to where it was"
        );
        let at = |at: Nanos| {
            let known = all.partition_point(|moved| moved.at <= at);
            if known == 0 { 0 } else { all[known - 1].wanted }
        };
        let instants = all.iter().flat_map(|moved| [moved.at - Nanos(1), moved.at, moved.at.after(Nanos(1))]);
        let seconds = (-6..).map(s).take_while(|&at| at < end);
        for instant in instants.chain(seconds).filter(|&instant| instant < end) {
            assert_eq!(
                at(instant),
                asked(phases, share, instant),
                "seed {seed} {share:?} at {instant:?} of {phases:?}"
            );
        }
    }
    count
}

fn check_all(seed: u64, levels: &[PopulationCurve]) -> usize {
    let phases = follow(levels);
    let weighted = [(0, 5), (5, 1), (6, 3)].map(|(first, width)| Partition { first, width, of: 9 });
    let parts = |parts: u64| (0..parts).map(|k| Partition::WHOLE.split(parts, k)).collect::<Vec<_>>();
    [parts(1), parts(2), parts(7), weighted.to_vec()].iter().map(|shares| check(seed, &phases, shares)).sum()
}

#[test]
fn users_come_and_go_when_the_shape_says_so() {
    let levels = |made: Result<PopulationCurve, _>| made.expect("a shape");
    let up = levels(PopulationCurve::climb(0, 100, Rate::per_second(30)));
    let keep = PopulationCurve::constant(100, Some(s(2)));
    let down = levels(PopulationCurve::climb(100, 0, Rate::per_second(70)));
    check_all(0, &[up.clone(), keep.clone(), down.clone()]);
    // Jumps in between, in both directions, also into the middle of a slope.
    check_all(0, &[keep.clone(), up.clone(), keep, PopulationCurve::constant(30, Some(s(1))), down, up]);
    let ramp = Nanos::from_millis(300);
    let stairs = |begin, end, step| levels(PopulationCurve::stairs(begin, end, step, s(1), ramp));
    check_all(0, &[stairs(0, 300, 50), PopulationCurve::constant(300, Some(s(6))), stairs(300, 0, 100)]);
    check_all(0, &[levels(PopulationCurve::wave(3, 40, s(2), Nanos(7_654_321_012)))]);
    check_all(
        0,
        &[
            levels(PopulationCurve::ramp(5, 5, s(1))),
            levels(PopulationCurve::ramp(0, 1, Nanos(1))),
            stairs(1, 1, 1),
        ],
    );
}

#[test]
fn any_pieces_at_all() {
    let mut moves = 0;
    for seed in 0..80 {
        let mut random = Philox::keyed(seed, 5, 5);
        let mut levels = || {
            let highest = 1 + random.below(60);
            let pieces = (0..=random.below(5)).map(|_| {
                let length = Nanos(1 + random.below(700_000_000) as i64);
                Segment { length, begin: random.below(highest), end: random.below(highest) }
            });
            let pieces = pieces.collect();
            PopulationCurve::new(pieces, Nanos(1 + random.below(3_000_000_000) as i64)).expect("a shape")
        };
        moves += check_all(seed, &[levels(), levels(), levels()]);
    }
    assert!(moves > 10_000, "{moves} moves are no test");
}

#[test]
fn a_million_users_of_one_instant_are_one_move_and_a_quiet_year_costs_nothing() {
    let phases = [phase(Nanos::ZERO, PopulationCurve::constant(1_000_000, None), None)];
    let mut starts = PopulationSchedule::new(&phases, Partition::WHOLE.split(4, 3));
    assert_eq!(starts.pop().map(|moved| (moved.at, moved.wanted)), Some((Nanos::ZERO, 250_000)));
    assert_eq!(starts.pop(), None);
    // With 11 and 12 users one more starts and leaves each second, and it belongs to another share.
    let year = s(86_400 * 365);
    let wave = PopulationCurve::wave(11, 12, s(1), year).expect("a wave");
    let mut starts = PopulationSchedule::new(
        &[phase(Nanos::ZERO, wave, Some(year))],
        Partition { first: 3, width: 1, of: 7 },
    );
    assert_eq!(starts.pop().map(|moved| moved.wanted), Some(2));
    assert_eq!(starts.pop(), None);
}

/// Returns the changes of a share, with `change` applied before the first one or once everything
/// before it has been popped.
fn changed(phases: &[Phase], share: Partition, change: (Nanos, u64), ahead: bool) -> Vec<(Nanos, u64)> {
    let mut starts = PopulationSchedule::new(phases, share);
    let mut all = Vec::new();
    if !ahead {
        while starts.peek().is_some_and(|at| at < change.0) {
            all.extend(starts.pop().map(|moved| (moved.at, moved.wanted)));
        }
    }
    starts.change(change.0, change.1);
    all.extend(std::iter::from_fn(|| starts.pop()).map(|moved| (moved.at, moved.wanted)));
    all
}

/// Checks a change of the number at `at`: what was before it stays, the rest of that phase has the
/// new number, and later phases are as planned.
fn check_change(seed: u64, phases: &[Phase], share: Partition, at: Nanos, count: u64) {
    let all = changed(phases, share, (at, count), true);
    assert_eq!(all, changed(phases, share, (at, count), false), "seed {seed}: early and late changes differ");
    let active = phases.iter().find(|phase| phase.is_active_at(at)).and_then(Phase::end);
    let end = phases.iter().filter_map(Phase::end).max().expect("an end");
    let instants = all.iter().map(|moved| moved.0).chain((-6..).map(s).take_while(|&at| at < end));
    for instant in instants.filter(|&instant| instant < end) {
        let known = all.partition_point(|moved| moved.0 <= instant);
        let found = if known == 0 { 0 } else { all[known - 1].1 };
        let is_changed = instant >= at && active.is_some_and(|end| instant < end);
        let expected = if is_changed { share.count_below(count) } else { asked(phases, share, instant) };
        assert_eq!(
            found, expected,
            "seed {seed} {share:?} at {instant:?}, {count} from {at:?} of {phases:?}"
        );
    }
}

#[test]
fn a_change_lasts_to_the_end_of_its_phase() {
    for seed in 0..300 {
        let mut random = Philox::keyed(seed, 7, 7);
        let mut levels = || {
            let highest = 1 + random.below(40);
            let pieces = (0..=random.below(3)).map(|_| Segment {
                length: Nanos(1 + random.below(700_000_000) as i64),
                begin: random.below(highest),
                end: random.below(highest),
            });
            let pieces = pieces.collect();
            PopulationCurve::new(pieces, Nanos(1 + random.below(3_000_000_000) as i64)).expect("a shape")
        };
        let phases = follow(&[levels(), levels(), levels()]);
        let at = s(-6).after(Nanos(random.below(12_000_000_000) as i64));
        for share in [Partition::WHOLE, Partition { first: 2, width: 3, of: 7 }] {
            check_change(seed, &phases, share, at, random.below(60));
        }
    }
    // A number without an end, and a change to the same number.
    let endless = [phase(Nanos::ZERO, PopulationCurve::constant(5, None), None)];
    let all = changed(&endless, Partition::WHOLE, (s(3), 9), true);
    assert_eq!(all, [(Nanos::ZERO, 5), (s(3), 9)]);
    assert_eq!(changed(&endless, Partition::WHOLE, (s(3), 5), false), [(Nanos::ZERO, 5)]);
    // Each change lasts until the next one.
    let mut starts = PopulationSchedule::new(&endless, Partition::WHOLE);
    starts.change(s(3), 9);
    starts.change(s(2), 7);
    starts.change(s(4), 1);
    let all: Vec<_> = std::iter::from_fn(|| starts.pop()).map(|moved| (moved.at, moved.wanted)).collect();
    assert_eq!(all, [(Nanos::ZERO, 5), (s(2), 7), (s(3), 9), (s(4), 1)]);
}
