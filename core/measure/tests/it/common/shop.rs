//! A shop with two scenarios, for tests of session counters.

use wavetank_measure::{CheckCount, CheckSeries, Interval, RendezvousRelease, SessionCounts};
use wavetank_plan::{
    Action, Check, CheckSubject, ConnectionOwner, Key, Op, Operand, Plan, Quantity, Rendezvous, RequestPlan,
    Scenario, Step, Test,
};
use wavetank_units::Nanos;

use crate::common::{Second, phase, plan};

const HOME: Key = Key { phase: 0, scenario: 0, step: 0 };
const CART: Key = Key { phase: 0, scenario: 1, step: 0 };
/// The step `buy` in the phase `calm`.
pub(crate) const BUY: Key = Key { phase: 0, scenario: 1, step: 1 };

/// Browsers only do `home`. Buyers do `cart` and `buy` in the group `checkout`, after they met at
/// `doors`. There are two phases of five seconds, `calm` and `rush`. `cart` and `buy` have the
/// check `fresh`; `buy` has the count `sold`.
pub(crate) fn shop() -> Plan {
    let check = |text: &str| Check {
        text: text.to_owned(),
        subject: CheckSubject::Answer("status".to_owned()),
        test: Test::Compare(Op::Equal, vec![Operand::Number(200.0.into(), Quantity::Bare)]),
    };
    let step = |name: &str| Step::plain(name, 0, RequestPlan::default());
    let cart = Step { checks: vec![check("fresh")], ..step("cart") };
    let checks = vec![check("status = 200"), check("fresh")];
    let buy = Step { checks, counts: vec![(1, check("status = 200"))], ..step("buy") };
    let doors = Rendezvous { place: 1, wait: Nanos::from_secs(9), of: Some(4) };
    let checkout = Action::Group(1, vec![Action::Request(0), Action::Repeat(2, vec![Action::Request(1)])]);
    let buyer = Scenario {
        groups: vec!["other".to_owned(), "checkout".to_owned()],
        journey: vec![Action::Rendezvous(doors), checkout],
        ..Scenario::from_steps("buyer", ConnectionOwner::User, vec![cart, buy])
    };
    let browser = Scenario::from_steps("browser", ConnectionOwner::Shared, vec![step("home")]);
    let mut plan = plan(10);
    plan.phases = vec![phase("calm", 0, 5), phase("rush", 5, 5)];
    plan.scenarios = vec![browser, buyer];
    plan.shared.counts = vec!["seen".to_owned(), "sold".to_owned()];
    plan.shared.rendezvous = vec!["gate".to_owned(), "doors".to_owned()];
    plan
}

/// `n` requests of `key` done after `ms`.
fn done(interval: &mut Interval, key: Key, n: u64, ms: u64) {
    let step = interval.step_mut(key);
    step.counters.offered += n;
    step.counters.sent += n;
    step.counters.done += n;
    step.wire.sent += n;
    step.response.record_n(ms * 1_000_000, n);
    step.service.record_n(ms * 1_000_000, n);
}

fn asked(interval: &mut Interval, key: Key, checks: &[(u64, u64)], sold: u64) {
    let series: &mut CheckSeries = interval.journeys.asked_mut(key);
    series.checks = checks.iter().map(|&(held, failed)| CheckCount { held, failed }).collect();
    series.add(1, sold);
}

/// Ten seconds, `calm` and `rush`. Each second has 100 homes of 10 ms, 40 carts of 20 ms and 80
/// buys of 30 ms. One of 40 carts and four of 80 buys are stale, and 50 are sold; in `rush` 8 buys
/// are stale and 20 sold. Checkouts take 100 ms, in `rush` 200 ms.
pub(crate) fn ten_seconds() -> impl Iterator<Item = Second> {
    (0..10).map(|at| {
        let phase = u16::from(at >= 5);
        let (stale, sold) = if phase == 0 { (4, 50) } else { (8, 20) };
        Second::at(at).with(|interval| {
            let of = |key: Key| Key { phase, ..key };
            done(interval, of(HOME), 100, 10);
            done(interval, of(CART), 40, 20);
            done(interval, of(BUY), 80, 30);
            asked(interval, of(CART), &[(39, 1)], 0);
            asked(interval, of(BUY), &[(80, 0), (80 - stale, stale)], sold);
            let ms = if phase == 0 { 100 } else { 200 };
            interval.journeys.group_mut(phase, 1, 1).times.record_n(ms * 1_000_000, 40);
            let sessions = interval.journeys.sessions_mut(phase, 1);
            sessions.counts =
                SessionCounts { offered: 40, started: 40, done: 39, failed: 1, ..SessionCounts::default() };
        })
    })
}

/// The seconds 3 and 4 with the requests of a release from `doors`, each sent this many ms after
/// second 3 started.
pub(crate) fn met(number: u64, sent: &[u64]) -> Vec<Second> {
    let mut reported = vec![
        RendezvousRelease { place: 1, number, of: 4, present: 4, ..RendezvousRelease::default() },
        RendezvousRelease { place: 1, number, of: 4, ..RendezvousRelease::default() },
    ];
    for &ms in sent {
        reported[usize::from(ms >= 1_000)].sent_at(Nanos::from_millis(3_000 + ms as i64));
    }
    let second = |(at, meeting): (i64, RendezvousRelease)| {
        Second::at(at).with(|it| it.journeys.add_rendezvous_release(&meeting))
    };
    (3..).zip(reported).map(second).collect()
}
