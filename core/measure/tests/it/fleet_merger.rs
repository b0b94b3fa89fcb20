//! The intervals of agents become those of the fleet, in whatever order they arrive.

use crate::{common, merge};

use common::plan;
use merge::{merged, thread};
use proptest::prelude::*;
use wavetank_measure::{FleetMerger, Interval, Ledger, Selection};
use wavetank_plan::Key;
use wavetank_units::Nanos;

/// One second of an agent that opened connections and offered requests in second 0. It resolves
/// one of each in every later second.
fn second(from: i64, held: u64) -> Interval {
    let mut interval = Interval { from: Nanos::from_secs(from), len: Nanos::SECOND, ..Interval::default() };
    let left = held.saturating_sub(from.unsigned_abs());
    let step = interval.step_mut(Key { phase: 1, scenario: 0, step: 0 });
    step.open = left;
    if from == 0 {
        (step.counters.offered, step.counters.sent, step.wire.sent) = (held, held, held);
        (interval.conns.offered, interval.conns.opened) = (held, held);
    } else {
        step.counters.done = 1;
        step.response.record(1_000_000);
        step.service.record(1_000_000);
        interval.conns.closed = 1;
    }
    (interval.conns.open, interval.conns.peak, interval.users) = (left, left, left);
    interval
}

fn polled(merger: &mut FleetMerger) -> Vec<Interval> {
    std::iter::from_fn(|| merger.poll()).collect()
}

proptest! {
    #[test]
    fn merged_intervals_do_not_depend_on_the_order_of_delivery(
        draws in prop::collection::vec(prop::collection::vec((any::<u8>(), 0_u64..50, 0_u64..3000), 0..5), 12),
        order in Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        // Three agents with two load threads each, for two seconds.
        let part = |agent: usize, second: usize| {
            let threads: Vec<_> = (0..2).map(|number| {
                let mut one = thread(number as u16, &draws[(agent * 2 + second) * 2 + number]);
                one.from = Nanos::from_secs(second as i64);
                one
            }).collect();
            threads
        };
        let mut expected = Vec::new();
        for second in 0..2 {
            let mut flat = Vec::new();
            for agent in 0..3 {
                let mut threads = part(agent, second);
                let stats = threads.iter_mut().flat_map(|it| &mut it.threads);
                stats.for_each(|stats| stats.agent = agent as u16);
                flat.append(&mut threads);
            }
            expected.push(merged(&flat));
        }
        let mut merger = FleetMerger::new(3);
        for at in order {
            let (agent, second) = (at / 2, at % 2);
            let late = merger.deliver(agent as u16, second as u64, merged(&part(agent, second)));
            prop_assert!(late.is_none());
            prop_assert!(merger.poll().is_none());
        }
        merger.seal(0);
        merger.seal(1);
        prop_assert_eq!(polled(&mut merger), expected);
    }

    #[test]
    fn nothing_leaves_the_data_when_agents_end_or_are_late(
        lengths in prop::collection::vec(1_i64..8, 2..5),
        late in prop::collection::vec(any::<bool>(), 40),
    ) {
        let mut ledger = Ledger::new(&plan(100));
        let mut merger = FleetMerger::new(lengths.len() as u16);
        let mut waiting: Vec<Vec<(u64, Interval)>> = vec![Vec::new(); lengths.len()];
        let mut amended = false;
        for now in 0..10_i64 {
            for (agent, &length) in lengths.iter().enumerate() {
                if now < length {
                    waiting[agent].push((now.unsigned_abs(), second(now, 20)));
                } else if waiting[agent].is_empty() {
                    merger.agent_ended(agent as u16);
                }
                // The last seconds are always in time, so that the run has an end.
                if now < 8 && late[agent * 8 + now.unsigned_abs() as usize] {
                    continue;
                }
                for (seq, interval) in waiting[agent].drain(..) {
                    if let Some(amendment) = merger.deliver(agent as u16, seq, interval) {
                        amended = true;
                        ledger.amend(&amendment);
                    }
                }
            }
            merger.seal(now.unsigned_abs());
            for interval in polled(&mut merger) {
                let checked = ledger.add(&interval);
                prop_assert!(checked.is_ok(), "{now}: {checked:?}");
            }
        }
        prop_assert_eq!(amended, merger.is_amended());
        let view = ledger.totals().view(Selection::Judged);
        prop_assert_eq!(view.counters.offered, 20 * lengths.len() as u64);
        prop_assert_eq!(view.counters.done, lengths.iter().map(|length| length.unsigned_abs() - 1).sum::<u64>());
    }
}

#[test]
fn a_lost_agent_loses_what_it_held_once() {
    let mut merger = FleetMerger::new(2);
    for now in 0..4 {
        assert!(merger.deliver(0, now, second(now as i64, 9)).is_none());
    }
    assert!(merger.deliver(1, 0, second(0, 5)).is_none());
    merger.agent_lost(1);
    merger.seal(3);
    let all = polled(&mut merger);
    let reported =
        |it: &Interval| (it.conns.open, it.conns.lost, it.steps[0].open, it.steps[0].counters.failed());
    let seconds: Vec<_> = all.iter().map(reported).collect();
    assert_eq!(seconds, [(14, 0, 14, 0), (8, 5, 8, 5), (7, 0, 7, 0), (6, 0, 6, 0)]);
    let users: Vec<_> = all.iter().map(|it| it.users).collect();
    assert_eq!(users, [14, 8, 7, 6]);
}

#[test]
fn an_agent_that_returns_has_lost_nothing() {
    let mut merger = FleetMerger::new(2);
    merger.deliver(0, 0, second(0, 3));
    merger.deliver(1, 0, second(0, 4));
    merger.agent_lost(1);
    merger.agent_back(1);
    merger.deliver(0, 1, second(1, 3));
    merger.seal(1);
    assert_eq!(polled(&mut merger)[1].conns.lost, 0);
    assert!(!merger.is_amended(), "it was not counted as lost");
    merger.agent_lost(1);
    merger.deliver(0, 2, second(2, 3));
    merger.seal(2);
    assert_eq!(polled(&mut merger)[0].conns.lost, 4);
    merger.agent_back(1);
    assert!(merger.is_amended(), "the archive has the truth");
}

#[test]
fn an_agent_that_ended_keeps_what_it_left_open_but_no_users() {
    let mut merger = FleetMerger::new(2);
    merger.deliver(0, 0, second(0, 3));
    merger.deliver(1, 0, second(0, 4));
    merger.deliver(0, 1, second(1, 3));
    merger.agent_ended(1);
    merger.seal(1);
    let all = polled(&mut merger);
    assert_eq!((all[1].users, all[1].steps[0].open, all[1].conns.open), (2, 6, 6));
}

#[test]
fn repeated_and_unknown_intervals_have_no_effect() {
    let mut merger = FleetMerger::new(1);
    assert!(!merger.has(0, 0));
    assert!(merger.deliver(0, 0, second(0, 3)).is_none());
    assert!(merger.has(0, 0) && !merger.has(0, 1) && !merger.has(7, 0));
    assert!(merger.deliver(0, 0, second(0, 3)).is_none());
    assert!(merger.deliver(7, 0, second(0, 3)).is_none());
    merger.seal(0);
    let all = polled(&mut merger);
    assert_eq!((all.len(), all[0].conns.opened), (1, 3));
    assert!(merger.deliver(0, 0, second(0, 3)).is_none() && !merger.is_amended());
    // The number is new, and its second was polled.
    assert!(merger.deliver(0, 1, second(0, 3)).is_some() && merger.is_amended());
}
