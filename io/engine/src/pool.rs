//! [`Pool`]: connections that any session of a load thread may use, and the requests that wait for
//! one.
//!
//! One maximum applies to the connections of all targets together. The pool does not choose slots:
//! a slot is allocated by [`SlotAllocator`](crate::slot_allocator::SlotAllocator) when a connection
//! is opened, and returned when it has ended.

use std::collections::VecDeque;

use wavetank_units::Nanos;

use crate::conn_slot::{ConnSlot, NOT_IDLE};
use crate::request_queue::QueuedRequest;

/// If waiting requests have different timeouts, their queue is scanned at most this often.
const LOOK_THROUGH: Nanos = Nanos::from_millis(10);

/// One connection of this many may give up its place before it has ended.
const PARTING_SHARE: u32 = 8;

/// Shared connections by target, and the requests waiting for one of them.
pub(crate) struct Pool {
    /// The number of further connections that may be opened.
    room: u32,
    target_pools: Vec<TargetPool>,
    /// Requests wait for a target while every connection leads to other targets.
    starved: bool,
    /// The number of requests that a connection carries simultaneously.
    streams: usize,
    /// The number of further connections that may give up their places before they have ended.
    partings_left: u32,
}

/// The connections and waiting requests of one target.
struct TargetPool {
    /// Slots with an idle open connection, most recently used last. If connections carry several
    /// requests, slots with a connection that has room.
    idle: Vec<u32>,
    /// The place in `idle` of the slot that was chosen last, if connections carry several requests.
    last: usize,
    /// Waiting requests and their phases, in order of arrival.
    waiting: VecDeque<(QueuedRequest, u16)>,
    /// The deadlines of waiting requests are not in order of arrival.
    mixed: bool,
    /// The number of connections being opened.
    opening: u32,
    /// When the timer of waiting requests fires; [`Nanos::MAX`] if none is set.
    armed: Nanos,
}

impl Pool {
    /// Creates a pool of at most `most` connections to `targets` targets, which carry `streams`
    /// requests each.
    pub(crate) fn new(most: u32, targets: usize, streams: u32) -> Self {
        let target_pool = || TargetPool {
            idle: Vec::new(),
            last: 0,
            waiting: VecDeque::new(),
            mixed: false,
            opening: 0,
            armed: Nanos::MAX,
        };
        let target_pools = std::iter::repeat_with(target_pool).take(targets).collect();
        Self {
            room: most,
            target_pools,
            starved: false,
            streams: streams.max(1) as usize,
            partings_left: most.div_ceil(PARTING_SHARE),
        }
    }

    #[inline]
    fn target_pool(&mut self, target: u16) -> &mut TargetPool {
        &mut self.target_pools[usize::from(target)]
    }

    /// Returns a slot that can send to `target` immediately.
    #[inline]
    pub(crate) fn take_idle(&mut self, target: u16, slots: &mut [ConnSlot]) -> Option<u32> {
        let slot = self.target_pool(target).idle.pop()?;
        slots[slot as usize].idle_at = NOT_IDLE;
        Some(slot)
    }

    /// Returns a slot with a connection to `target` that has room, each in turn. It stays in the
    /// list.
    pub(crate) fn next_with_room(&mut self, target: u16) -> Option<u32> {
        let target_pool = self.target_pool(target);
        target_pool.last =
            if target_pool.last + 1 < target_pool.idle.len() { target_pool.last + 1 } else { 0 };
        target_pool.idle.get(target_pool.last).copied()
    }

    /// Adds an open slot to the idle ones.
    #[inline]
    pub(crate) fn put_idle(&mut self, slot: u32, entry: &mut ConnSlot) {
        if entry.idle_at == NOT_IDLE {
            let idle = &mut self.target_pool(entry.target).idle;
            entry.idle_at = u32::try_from(idle.len()).expect("fewer slots than 2^32");
            idle.push(slot);
        }
    }

    /// Removes a slot with a connection that has ended from the idle ones.
    pub(crate) fn unlink(&mut self, slot: u32, slots: &mut [ConnSlot]) {
        let entry = &mut slots[slot as usize];
        if !entry.is_idle() {
            return;
        }
        let (place, target) = (std::mem::replace(&mut entry.idle_at, NOT_IDLE), entry.target);
        let idle = &mut self.target_pool(target).idle;
        idle.swap_remove(place as usize);
        if let Some(&moved) = idle.get(place as usize) {
            slots[moved as usize].idle_at = place;
        }
    }

    /// Returns an idle slot of another target, one that has been idle for long.
    pub(crate) fn idle_elsewhere(&self, target: u16, slots: &[ConnSlot]) -> Option<u32> {
        let is_unused = |slot: &&u32| slots[**slot as usize].sent() == 0;
        let others = self.target_pools.iter().enumerate().filter(|(other, _)| *other != usize::from(target));
        others
            .max_by_key(|(_, target_pool)| target_pool.idle.len())
            .and_then(|(_, target_pool)| target_pool.idle.iter().find(is_unused).copied())
    }

    /// Reserves room for one more connection. Returns whether there was room.
    pub(crate) fn take_room(&mut self) -> bool {
        let any = self.room > 0;
        self.room -= u32::from(any);
        any
    }

    /// Whether further connections may be opened.
    pub(crate) const fn has_room(&self) -> bool {
        self.room > 0
    }

    /// Raises the maximum by this many connections.
    pub(crate) fn allow_more(&mut self, connections: u32) {
        self.room += connections;
    }

    /// Records that a connection is gone.
    pub(crate) fn connection_closed(&mut self) {
        self.room += 1;
    }

    /// Gives the place of a connection that the peer closes soon to another one. Returns whether it
    /// did: connections that do not end must not become more and more.
    pub(crate) fn part(&mut self) -> bool {
        let may_part = self.partings_left > 0;
        self.partings_left -= u32::from(may_part);
        self.room += u32::from(may_part);
        may_part
    }

    /// Records that a connection is gone that had given up its place.
    pub(crate) fn parted_closed(&mut self) {
        self.partings_left += 1;
    }

    /// Records that a connection to `target` is being opened.
    pub(crate) fn opening(&mut self, target: u16) {
        self.target_pool(target).opening += 1;
    }

    /// Records that a connection to `target` was opened or failed to open.
    pub(crate) fn no_longer_opening(&mut self, target: u16) {
        self.target_pool(target).opening -= 1;
    }

    /// Returns a target with more waiting requests than connections being opened: the one with the
    /// longest wait.
    pub(crate) fn next_target_to_dial(&self) -> Option<u16> {
        let wanted = (0_u16..).zip(&self.target_pools).filter(|(_, target_pool)| {
            (target_pool.opening as usize).saturating_mul(self.streams) < target_pool.waiting.len()
        });
        wanted
            .min_by_key(|(_, target_pool)| target_pool.waiting.front().map(|(request, _)| request.deadline))
            .map(|(target, _)| target)
    }

    /// Whether requests wait for a target while every connection leads to other targets.
    #[inline]
    pub(crate) const fn is_starved(&self) -> bool {
        self.starved
    }

    /// Sets [`is_starved`](Self::is_starved). With only one target, any connection that becomes
    /// free serves it anyway.
    pub(crate) fn set_starved(&mut self, starved: bool) {
        self.starved = starved && self.target_pools.len() > 1;
    }

    /// Returns the target with a first request that has waited longer than that for `target`, if
    /// the pool is starved.
    pub(crate) fn longest_waiting_other(&self, target: u16) -> Option<u16> {
        let mine = self.target_pools[usize::from(target)]
            .waiting
            .front()
            .map_or(Nanos::MAX, |(request, _)| request.deadline);
        let wanted = self.next_target_to_dial().filter(|&wanted| wanted != target)?;
        let (first, _) = self.target_pools[usize::from(wanted)].waiting.front()?;
        (first.deadline < mine).then_some(wanted)
    }

    /// Adds a request of `phase` that waits for any slot; a retried one goes before all others.
    /// Returns its deadline if a timer must be set for it.
    pub(crate) fn wait(&mut self, request: QueuedRequest, phase: u16) -> Option<Nanos> {
        let target_pool = self.target_pool(request.target);
        if request.again {
            target_pool.mixed |=
                target_pool.waiting.front().is_some_and(|(first, _)| first.deadline < request.deadline);
            target_pool.waiting.push_front((request, phase));
        } else {
            target_pool.mixed |=
                target_pool.waiting.back().is_some_and(|(last, _)| request.deadline < last.deadline);
            target_pool.waiting.push_back((request, phase));
        }
        if target_pool.armed <= request.deadline {
            return None;
        }
        target_pool.armed = request.deadline;
        Some(request.deadline)
    }

    /// Takes the request that has waited longest for `target`, and its phase.
    #[inline]
    pub(crate) fn take_waiting(&mut self, target: u16) -> Option<(QueuedRequest, u16)> {
        self.target_pool(target).waiting.pop_front()
    }

    /// Handles the timer of requests that wait for `target`, which was set for `fired` and fires at
    /// `now`.
    ///
    /// Requests that have timed out are moved to `up`. Returns when the next timer is due, if any,
    /// and whether a connection is being opened.
    pub(crate) fn expire(
        &mut self,
        target: u16,
        fired: Nanos,
        now: Nanos,
        mut up: impl FnMut(QueuedRequest, bool),
    ) -> Option<Nanos> {
        let target_pool = self.target_pool(target);
        if target_pool.armed != fired {
            // An earlier timer was set since then, and will check all requests.
            return None;
        }
        let opening = target_pool.opening > 0;
        let next = if target_pool.mixed {
            target_pool.waiting.retain(|(request, _)| {
                let expired = request.deadline <= now;
                if expired {
                    up(*request, opening);
                }
                !expired
            });
            let next = target_pool.waiting.iter().map(|(request, _)| request.deadline).min();
            target_pool.mixed = !target_pool.waiting.is_empty();
            next.map(|next| next.max(now.after(LOOK_THROUGH)))
        } else {
            while let Some((request, _)) =
                target_pool.waiting.pop_front_if(|(request, _)| request.deadline <= now)
            {
                up(request, opening);
            }
            target_pool.waiting.front().map(|(request, _)| request.deadline)
        };
        target_pool.armed = next.unwrap_or(Nanos::MAX);
        next
    }

    /// The number of requests that wait for `target`.
    pub(crate) fn waiting(&self, target: u16) -> usize {
        self.target_pools[usize::from(target)].waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request_flags::RequestFlags;
    use crate::slab::Slab;

    fn request(slab: &mut Slab<()>, target: u16, deadline: i64) -> QueuedRequest {
        let exchange = slab.insert(());
        let (deadline, flags) = (Nanos(deadline), RequestFlags::default());
        QueuedRequest { exchange, deadline, scenario: 0, step: 0, again: false, target, flags }
    }

    #[test]
    fn who_closes_while_idle_is_taken_from_the_middle() {
        let (mut pool, mut slots) = (Pool::new(4, 2, 1), Vec::new());
        for slot in 0..4 {
            let mut entry = ConnSlot::new();
            (entry.target, entry.idle_at) = (u16::from(slot == 3), NOT_IDLE);
            pool.put_idle(slot, &mut entry);
            pool.put_idle(slot, &mut entry);
            slots.push(entry);
        }
        pool.unlink(0, &mut slots);
        pool.unlink(0, &mut slots);
        let mut taken: Vec<_> = std::iter::from_fn(|| pool.take_idle(0, &mut slots)).collect();
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
        assert_eq!((pool.idle_elsewhere(0, &slots), pool.idle_elsewhere(1, &slots)), (Some(3), None));
    }

    #[test]
    fn a_reader_with_less_time_is_notified_in_time() {
        let (mut pool, mut slab) = (Pool::new(1, 1, 1), Slab::new());
        let waits = [50, 20, 30].map(|deadline| request(&mut slab, 0, deadline * 1_000_000));
        let timers = waits.map(|request| pool.wait(request, 0).map(|at| at.0 / 1_000_000));
        assert_eq!(timers, [Some(50), Some(20), None]);
        let mut reported = Vec::new();
        let mut expire = |pool: &mut Pool, fired: i64| {
            let (fired, mut up) = (Nanos::from_millis(fired), Vec::new());
            let next = pool.expire(0, fired, fired, |request, _| up.push(request.deadline.0 / 1_000_000));
            reported.push((up, next.map(|next| next.0 / 1_000_000)));
        };
        for fired in [20, 30, 50] {
            expire(&mut pool, fired);
        }
        assert_eq!(reported, [(vec![20], Some(30)), (vec![30], Some(50)), (vec![50], None)]);
        assert_eq!(pool.waiting(0), 0);
    }

    #[test]
    fn the_target_that_waited_longest_is_served_next() {
        let (mut pool, mut slab) = (Pool::new(1, 2, 1), Slab::new());
        assert!(pool.take_room() && !pool.take_room());
        for (target, deadline) in [(0, 20), (1, 10)] {
            let request = request(&mut slab, target, deadline);
            pool.wait(request, 0);
        }
        pool.set_starved(true);
        assert_eq!(
            (pool.next_target_to_dial(), pool.longest_waiting_other(0), pool.longest_waiting_other(1)),
            (Some(1), Some(1), None)
        );
        pool.opening(1);
        assert_eq!((pool.next_target_to_dial(), pool.is_starved()), (Some(0), true));
    }
}
