//! Random loads and journeys: no session stays behind, nothing is counted twice, and everything
//! ends.

use wavetank_engine::Command;
use wavetank_measure::{Interval, SessionCounts};
use wavetank_pace::Philox;
use wavetank_plan::{
    Action, Arrivals, Check, CheckSubject, Choice, ConnectionOwner, Expr, Load, OnFailure, Op, Operand, Plan,
    PopulationCurve, Quantity, RateCurve, Rendezvous, Scenario, Template, Test, Think,
};
use wavetank_units::Rate;

use super::support::{engines, run_early};
use super::{get, left_open, merged, ms, plan, scenario, server};

/// Returns true one time in `n`.
pub(crate) fn one_in(random: &mut Philox, n: u64) -> bool {
    random.below(n) == 0
}

/// Returns a few actions, nested at most `depth` levels deep.
fn actions(random: &mut Philox, depth: u64) -> Vec<Action> {
    (0..=random.below(3)).map(|_| action(random, depth)).collect()
}

fn action(random: &mut Philox, depth: u64) -> Action {
    if depth > 0 && one_in(random, 3) {
        let steps = actions(random, depth - 1);
        return match random.below(4) {
            0 => Action::Repeat(1 + random.below(3), steps),
            1 => Action::Group(0, steps),
            2 => Action::If { check: Box::new(last_was_bad()), then: steps, otherwise: Vec::new() },
            _ => Action::Choose(vec![
                Choice { weight: 2, steps },
                Choice { weight: 1, steps: vec![Action::EndSession] },
            ]),
        };
    }
    match random.below(12) {
        0..6 => Action::Request(random.below(4) as u16),
        6..9 => Action::Think(Think::Even { from: ms(0), to: ms(30) }),
        9 => {
            let of = one_in(random, 2).then(|| 1 + random.below(4));
            Action::Rendezvous(Rendezvous { place: random.below(2) as u16, wait: ms(40), of })
        }
        10 => Action::Set(0, Template::from("x")),
        _ => Action::Log(Template::from("here")),
    }
}

fn last_was_bad() -> Check {
    let five_hundred = Operand::Number(500.0.into(), Quantity::Bare);
    Check {
        text: "status = 500".to_owned(),
        subject: CheckSubject::Answer("status".to_owned()),
        test: Test::Compare(Op::Equal, vec![five_hundred]),
    }
}

pub(crate) fn random_scenario(random: &mut Philox) -> Scenario {
    // The last step lacks its variable until it was set.
    let steps =
        vec![get("/a", &[]), get("/b", &[Expr::User]), get("/bad", &[]), get("/c", &[Expr::Variable(0)])];
    let mut made = scenario(steps, actions(random, 2));
    if one_in(random, 2) {
        made.before = actions(random, 1);
    }
    if one_in(random, 2) {
        made.after = actions(random, 1);
    }
    made.pace = one_in(random, 3).then(|| ms(20 + random.below(50) as i64));
    made.on_failure = if one_in(random, 2) { OnFailure::EndSession } else { OnFailure::Continue };
    let kinds =
        [ConnectionOwner::User, ConnectionOwner::Session, ConnectionOwner::Request, ConnectionOwner::Shared];
    made.connection = kinds[random.below(4) as usize];
    (made.groups, made.variables) = (vec!["group".to_owned()], vec!["v".to_owned()]);
    made
}

pub(crate) fn random_load(random: &mut Philox, open: bool, holds: bool) -> Load {
    let length = ms(100 + random.below(200) as i64);
    let [from, to] = [0, 1].map(|_| random.below(20));
    if open {
        let rate = RateCurve::constant(Rate::per_second(20 + random.below(200)), Some(length));
        let arrivals = if one_in(random, 2) { Arrivals::Even } else { Arrivals::Poisson };
        return Load::Open { rate, arrivals, requests_each: None };
    }
    let levels = PopulationCurve::ramp(from, to + 1, length).expect("a ramp");
    match random.below(5) {
        0 => Load::Pause,
        1 | 2 if holds => Load::Hold { connections: levels, sessions_each: None },
        _ => {
            let sessions_each = one_in(random, 3).then(|| 1 + random.below(3));
            Load::Closed { users: levels, sessions_each }
        }
    }
}

pub(crate) fn random_plan(random: &mut Philox, address: std::net::SocketAddr) -> Plan {
    let open = one_in(random, 3);
    let made = random_scenario(random);
    // Held connections belong to a user.
    let holds = made.connection == ConnectionOwner::User;
    let loads = (0..=random.below(4)).map(|_| random_load(random, open, holds)).collect();
    let mut plan = plan(address, made, loads, 1 + random.below(3) as u32);
    plan.shared.rendezvous = vec!["doors".to_owned(), "gates".to_owned()];
    let known = engines();
    plan.engine = known[random.below(known.len() as u64) as usize];
    plan
}

/// Checks that everything ended and adds up, and that the target saw `seen` requests. A stop cuts
/// sessions of the open loop that think or wait, if `may_be_cut`; users leave.
pub(crate) fn check_counts(intervals: &[Interval], seen: u64, may_be_cut: bool) {
    let mut counts = SessionCounts::default();
    merged(intervals).sessions.iter().for_each(|series| counts.merge(&series.counts));
    let open = left_open(intervals);
    assert!(open == 0 || may_be_cut, "{open} are left");
    assert_eq!(counts.offered, counts.done + counts.failed + counts.dropped() + open, "{counts:?}");
    let steps = || intervals.iter().flat_map(|interval| &interval.steps);
    let offered: u64 = steps().map(|series| series.counters.offered).sum();
    let sent: u64 = steps().map(|series| series.wire.sent).sum();
    let ended: u64 = steps()
        .map(|series| series.counters.done + series.counters.failed() + series.counters.dropped())
        .sum();
    assert_eq!(offered, ended, "every request ended");
    assert_eq!(sent, seen, "the target saw all sent requests");
    assert_eq!(intervals.last().expect("an interval").users, 0, "all users are gone");
    for meeting in merged(intervals).meetings {
        assert!(meeting.sent <= meeting.present, "{meeting:?}");
    }
}

/// The run ends on its own, or soon after it was stopped, and no user is left then.
fn check(seed: u64) {
    let mut random = Philox::keyed(seed, 0xf10, 0);
    let (address, seen) = server(|path| if path.starts_with("/bad") { 500 } else { 200 });
    let plan = random_plan(&mut random, address);
    let early = one_in(&mut random, 3).then(|| Command::Drain(ms(random.below(300) as i64)));
    let shown = format!("seed {seed}: {:?} {:?} {early:?}", plan.scenarios[0], plan.phases);
    let stopped = early.is_some();
    let arrives = plan.phases.iter().any(|phase| matches!(phase.load, Load::Open { .. }));
    let caught = std::panic::catch_unwind(|| {
        let (intervals, _) = run_early(plan, Vec::new(), early);
        let seen = seen.lock().expect("no thread panics with it").len() as u64;
        check_counts(&intervals, seen, arrives && stopped);
    });
    assert!(caught.is_ok(), "{shown}");
}

#[test]
fn every_user_ends_whatever_it_does() {
    for seed in 0..4 {
        check(seed);
    }
}
