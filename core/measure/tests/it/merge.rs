//! Intervals merge exactly, in any order; totals are what was entered.

use crate::common;

use common::{Second, plan};
use proptest::prelude::*;
use wavetank_measure::{
    CheckCount, DropReason, ErrorClass, Interval, Ledger, RendezvousRelease, Selection, ThreadStats, Totals,
};
use wavetank_plan::Key;
use wavetank_units::Nanos;

/// Data of one load thread in a second: counts and times from random `draws`.
pub(crate) fn thread(thread: u16, draws: &[(u8, u64, u64)]) -> Interval {
    let mut second = Second::at(3);
    for &(what, n, ms) in draws {
        second = match what % 6 {
            0 => second.phase(0).done(n, ms + 1),
            1 => second.phase(1).done(n, ms + 1),
            2 => second.phase(1).failed(n, ErrorClass::Reset, ms),
            3 => second.failed(n, ErrorClass::RequestTimeout, ms),
            4 => second.dropped(n, DropReason::Behind),
            _ => second.open(n),
        };
    }
    second
        .with(|interval| {
            let total: u64 = draws.iter().map(|&(_, n, _)| n).sum();
            interval.conns.offered = total;
            interval.conns.opening = total;
            interval.conns.peak = total;
            interval.bytes.sent = total * 100;
            interval.users = total;
            interval.target_mut(0, thread % 2).connect.record_n(total, total);
            interval.threads = vec![ThreadStats { thread, turns: total, ..ThreadStats::default() }];
            journey(interval, thread, total);
            // A series in other places of the list than on other threads.
            interval.step_mut(Key { phase: 5 - thread % 3, scenario: thread, step: 1 });
        })
        .seal()
}

/// Data of its sessions: all threads share one release, and each pair of threads another one.
fn journey(interval: &mut Interval, thread: u16, total: u64) {
    let journeys = &mut interval.journeys;
    let sessions = journeys.sessions_mut(0, thread % 2);
    (sessions.counts.offered, sessions.open) = (total, total);
    let asked = journeys.asked_mut(Key { phase: 0, scenario: thread % 2, step: 0 });
    asked.checks = vec![CheckCount { held: total, failed: 1 }; 1 + usize::from(thread % 3)];
    asked.add(thread % 2, total);
    asked.add(7, 1);
    journeys.group_mut(1, 0, thread % 2).times.record_n(total, total);
    for number in [0, 1 + u64::from(thread / 2)] {
        let mut meeting = RendezvousRelease { number, of: 9, present: total, ..RendezvousRelease::default() };
        (0..total).for_each(|n| meeting.sent_at(Nanos((n * 100) as i64 - i64::from(thread))));
        journeys.add_rendezvous_release(&meeting);
    }
}

pub(crate) fn merged(parts: &[Interval]) -> Interval {
    let mut whole = Interval::default();
    for part in parts {
        whole.merge(part);
    }
    whole
}

proptest! {
    #[test]
    fn order_of_merging_does_not_matter(
        draws in prop::collection::vec(prop::collection::vec((any::<u8>(), 0_u64..50, 0_u64..3000), 0..8), 2..6),
        order in any::<prop::sample::Index>(),
    ) {
        let parts: Vec<_> = draws.iter().enumerate().map(|(ix, draws)| thread(ix as u16, draws)).collect();
        let forward = merged(&parts);
        let mut other = parts.clone();
        other.rotate_left(order.index(parts.len()));
        prop_assert_eq!(&merged(&other), &forward);
        other.reverse();
        prop_assert_eq!(&merged(&other), &forward);
        // In a tree: pairs first, as agents do.
        let pairs: Vec<_> = other.chunks(2).map(merged).collect();
        prop_assert_eq!(&merged(&pairs), &forward);
        let offered: u64 = forward.steps.iter().map(|series| series.counters.offered).sum();
        prop_assert_eq!(offered, draws.iter().flatten().map(|&(_, n, _)| n).sum::<u64>());
        let journeys = &forward.journeys;
        prop_assert_eq!(journeys.sessions.iter().map(|series| series.open).sum::<u64>(), offered);
        prop_assert_eq!(journeys.meetings[0].present, offered);
        prop_assert_eq!(journeys.meetings[0].sent, offered);
    }

    #[test]
    fn totals_are_the_sum_of_their_intervals_however_threads_were_cut(
        draws in prop::collection::vec((0_u8..5, 0_u64..50, 0_u64..3000), 0..40),
    ) {
        let plan = plan(100);
        let (mut one, mut many) = (Totals::new(&plan), Totals::new(&plan));
        one.add(&merged(&[thread(0, &draws)]));
        let parts: Vec<_> = draws.chunks(7).map(|draws| thread(0, draws)).collect();
        many.add(&merged(&parts));
        let of = |totals: &Totals| {
            let view = totals.view(Selection::Judged);
            (view.counters, view.status, view.response, view.failed, view.in_window, view.duration)
        };
        if !draws.is_empty() {
            prop_assert_eq!(of(&one), of(&many));
        }
    }
}

#[test]
fn the_span_of_a_merge_covers_both() {
    let mut whole = Second::at(4).seal();
    whole.merge(&Second::at(3).seal());
    assert_eq!((whole.from.0, whole.len.0, whole.end().0), (3_000_000_000, 2_000_000_000, 5_000_000_000));
    whole.merge(&Interval::default());
    assert_eq!(whole.len.0, 2_000_000_000, "an empty one has no place in time");
}

#[test]
fn a_book_entered_from_merged_intervals_is_the_same_for_any_number_of_threads() {
    let plan = plan(10);
    let mut books: Vec<Ledger> = (0..2).map(|_| Ledger::new(&plan)).collect();
    for at in 0..10 {
        let whole = Second::at(at).done(90, 5).failed(10, ErrorClass::Reset, 3).seal();
        let mut halves = Second::at(at).done(45, 5).failed(5, ErrorClass::Reset, 3).seal();
        halves.merge(&Second::at(at).done(45, 5).failed(5, ErrorClass::Reset, 3).seal());
        for (book, interval) in books.iter_mut().zip([whole, halves]) {
            let entered = book.add(&interval);
            // These seconds do not count resets in `sent`: the test needs only conservation of
            // outcomes.
            assert_eq!(entered, Ok(()), "second {at}");
        }
    }
    let [one, two] = &books[..] else { unreachable!("two were made") };
    assert_eq!(one.results(), two.results());
    assert_eq!(one.totals().view(Selection::Judged), two.totals().view(Selection::Judged));
}
