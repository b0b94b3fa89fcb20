//! The wheel against a sorted map, on a virtual clock.

use std::collections::BTreeMap;

use super::*;
use crate::Philox;

const MS: i64 = 1_000_000;

/// Timers next to a sorted map, the simplest structure that could do the same.
struct Pair {
    timers: Timers<u64>,
    model: BTreeMap<(i64, u64), TimerId>,
    next_value: u64,
    now: i64,
    seed: u64,
}

impl Pair {
    fn new(seed: u64, now: i64) -> Self {
        Self { timers: Timers::new(), model: BTreeMap::new(), next_value: 0, now, seed }
    }

    fn insert(&mut self, at: i64) {
        let id = self.timers.insert(Nanos(at), self.next_value);
        self.model.insert((at, self.next_value), id);
        self.next_value += 1;
    }

    fn cancel(&mut self, pick: u64) {
        if self.model.is_empty() {
            return;
        }
        let &key = self.model.keys().nth(pick as usize % self.model.len()).unwrap();
        let id = self.model.remove(&key).unwrap();
        assert_eq!(self.timers.cancel(id), Some(key.1), "seed {}", self.seed);
        assert_eq!(self.timers.cancel(id), None, "seed {}", self.seed);
    }

    /// Pops everything due; checks that it is sorted by deadline and complete.
    fn pop_all(&mut self, now: i64) -> usize {
        self.now = now;
        let (mut popped, mut last) = (0, i64::MIN);
        while let Some((at, value)) = self.timers.pop(Nanos(now)) {
            let id = self.model.remove(&(at.0, value));
            assert!(id.is_some(), "seed {}: popped what was not set: {at:?}", self.seed);
            assert!(at.0 <= now, "seed {}: early", self.seed);
            assert!(last <= at.0, "seed {}: out of order", self.seed);
            assert_eq!(self.timers.cancel(id.unwrap()), None, "seed {}", self.seed);
            last = at.0;
            popped += 1;
        }
        let first = self.model.keys().next().map(|key| key.0);
        assert!(first.is_none_or(|at| at > now), "seed {}: {first:?} not popped at {now}", self.seed);
        self.agree();
        popped
    }

    fn agree(&mut self) {
        assert_eq!(self.timers.len(), self.model.len(), "seed {}", self.seed);
        let next = self.timers.next().map(|at| at.0);
        let first = self.model.keys().next().map(|key| key.0);
        assert_eq!(next.is_some(), first.is_some(), "seed {}", self.seed);
        if let (Some(next), Some(first)) = (next, first) {
            assert!(next <= first, "seed {}: next {next} after the first {first}", self.seed);
        }
    }

    /// Follows `next` to the end: it must lead to every timer in a bounded number of steps.
    fn run_out(&mut self, steps_max: usize) {
        let mut steps = 0;
        while let Some(next) = self.timers.next() {
            assert!(next.0 > self.now || steps == 0, "seed {}: no progress at {}", self.seed, self.now);
            self.pop_all(next.0.max(self.now));
            steps += 1;
            assert!(steps <= steps_max, "seed {}: still {} timers", self.seed, self.timers.len());
        }
        assert!(self.model.is_empty(), "seed {}", self.seed);
    }
}

/// A distance up to `reach`, of any magnitude.
fn spread(random: &mut Philox, reach: u64) -> i64 {
    let shift = random.below(38);
    random.below(1 + (reach >> shift)) as i64
}

/// Random inserts, cancels and turns with deadlines up to `reach` away.
fn check(seed: u64, start: i64, reach: u64, steps: usize) {
    let mut random = Philox::keyed(seed, 1, reach);
    let mut pair = Pair::new(seed, start);
    for _ in 0..steps {
        match random.below(10) {
            0..=5 => {
                // A tenth of them in the past; distances spread over all magnitudes.
                let distance = spread(&mut random, reach);
                let past = random.below(10) == 0;
                let at =
                    if past { pair.now.saturating_sub(distance) } else { pair.now.saturating_add(distance) };
                pair.insert(at);
                pair.agree();
            }
            6 | 7 => pair.cancel(random.next_u64()),
            8 => {
                if let Some(next) = pair.timers.next() {
                    pair.pop_all(next.0.max(pair.now));
                }
            }
            _ => {
                let now = pair.now.saturating_add(spread(&mut random, reach));
                pair.pop_all(now);
            }
        }
    }
    pair.run_out(steps * 10 + 1000);
}

#[test]
fn agrees_with_a_sorted_map() {
    for seed in 0..60 {
        check(seed, 0, 3 * MS as u64, 400);
        check(seed, -5_000 * MS, 30_000 * MS as u64, 400);
        check(seed, 123, 1_800_000 * MS as u64, 300);
    }
}

#[test]
fn takes_any_instant_there_is() {
    for seed in 0..20 {
        check(seed, i64::MIN + 7, 5_000 * MS as u64, 200);
        check(seed, 1 << 60, 5_000 * MS as u64, 200);
    }
    let mut pair = Pair::new(0, 0);
    for at in [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX] {
        pair.insert(at);
    }
    assert_eq!(pair.pop_all(i64::MIN), 1);
    assert_eq!(pair.pop_all(0), 3);
    assert_eq!(pair.pop_all(i64::MAX - 1), 2);
    assert_eq!(pair.pop_all(i64::MAX), 1);
}

#[test]
fn next_is_exact_where_nothing_was_cancelled() {
    let mut random = Philox::keyed(9, 2, 0);
    let mut pair = Pair::new(9, 0);
    pair.pop_all(0);
    for _ in 0..3_000 {
        // Up to four minutes ahead: nothing parks.
        pair.insert(pair.now + 1 + spread(&mut random, 240_000 * MS as u64));
        let first = pair.model.keys().next().unwrap().0;
        assert_eq!(pair.timers.next(), Some(Nanos(first)));
        if random.below(3) == 0 {
            pair.pop_all(first);
        }
    }
    while let Some(first) = pair.model.keys().next().map(|key| key.0) {
        assert_eq!(pair.timers.next(), Some(Nanos(first)));
        assert!(pair.pop_all(first) > 0);
    }
}

#[test]
fn cancelled_due_timers_do_not_pile_up() {
    let mut timers = Timers::new();
    for k in 0..10_000_u64 {
        let id = timers.insert(Nanos(-1), k);
        assert_eq!(timers.cancel(id), Some(k));
        assert!(timers.due.len() < 200);
    }
    assert_eq!(timers.next(), None);
    assert_eq!(timers.pop(Nanos::MAX), None);
}

#[test]
fn a_million_timers_move_in_small_steps() {
    let mut timers = Timers::with_capacity(1_000_000);
    assert_eq!(timers.pop(Nanos::ZERO), None);
    let ids: Vec<TimerId> = (0..1_000_000_u64)
        .map(|k| {
            timers.insert(Nanos::from_secs(3_600).after(Nanos((k * 977_777 % 1_000_000) as i64 * 1000)), k)
        })
        .collect();
    // Nearly all are cancelled, as timeouts are; the hour passes in steps of a millisecond.
    for (k, &id) in ids.iter().enumerate() {
        if k % 1000 != 0 {
            assert_eq!(timers.cancel(id), Some(k as u64));
        }
    }
    assert_eq!(timers.len(), 1_000);
    let (mut now, mut popped, mut wakes) = (0, 0, 0);
    while let Some(next) = timers.next() {
        assert!(next.0 > now);
        now = next.0;
        wakes += 1;
        while let Some((at, value)) = timers.pop(Nanos(now)) {
            assert_eq!(at, Nanos::from_secs(3_600).after(Nanos((value * 977_777 % 1_000_000) as i64 * 1000)));
            popped += 1;
        }
    }
    assert_eq!(popped, 1_000);
    // Each of a thousand timers parks once in 137 to 275 s, and then fires.
    assert!(wakes < 30_000, "{wakes} wake-ups");
}

#[test]
fn time_that_has_gone_by_takes_no_memory() {
    let mut timers = Timers::new();
    let mut pages_max = 0;
    // Twenty minutes of a thread with users that return after a minute; each has a timeout that is
    // cancelled.
    for step in 0..1_200_000 / 5 {
        let now = Nanos::from_millis(step * 5);
        while timers.pop(now).is_some() {}
        timers.insert(now.after(Nanos::from_secs(60)), step);
        let timeout = timers.insert(now.after(Nanos::from_secs(50)), step);
        assert_eq!(timers.cancel(timeout), Some(step));
        pages_max = pages_max.max(timers.wheel.pages());
    }
    // A page of the far wheel is 2.1 s.
    assert!((29..=33).contains(&pages_max), "{pages_max} pages");
    while let Some(next) = timers.next() {
        while timers.pop(next).is_some() {}
    }
    assert_eq!((timers.len(), timers.wheel.pages()), (0, 0));
}

#[test]
fn the_name_of_nothing_cancels_nothing() {
    let mut timers = Timers::new();
    timers.insert(Nanos(1), 'a');
    assert_eq!((timers.cancel(TimerId::default()), timers.len()), (None, 1));
}
