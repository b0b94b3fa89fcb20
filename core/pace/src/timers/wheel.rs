//! [`Wheel`]: the slots in which timers wait.
//!
//! A *tick* is 2^10 ns (about a microsecond), a *turn* 2^12 ticks (4.2 ms). The near wheel has a
//! slot for each tick of the current turn. The far wheel has one for each of the next 65,535 turns
//! (4.6 minutes).
//!
//! A request timeout therefore moves once in its life, together only with those of its own 4 ms.
//! Timers of a whole second never move at the same moment.
//!
//! A deadline beyond the far wheel parks in the farther half of the far wheel, spread over its
//! slots. It is filed again when that slot is reached.

use super::slots::{PagePool, Slots};

/// No entry.
pub(super) const NONE: u32 = u32::MAX;

const TICK_BITS: u32 = 10;
const TURN_BITS: u32 = 12;
const NEAR_SLOTS: usize = 1 << TURN_BITS;
const FAR_SLOTS: usize = 1 << 16;
/// Masks of the position of an instant within its turn, and within its tick, in nanoseconds.
const TURN_NS_MASK: u64 = (1 << (TICK_BITS + TURN_BITS)) - 1;
const TICK_NS_MASK: u32 = (1 << TICK_BITS) - 1;
/// A parked timer counts as one of its slot's last tick.
const PARKED: u32 = (NEAR_SLOTS as u32 - 1) << TICK_BITS;

/// One timer, or a free place in the slab.
#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    pub(super) at: i64,
    /// The number of times this place was reused; a [`super::TimerId`] of an older generation
    /// matches nothing.
    pub(super) generation: u32,
    /// Next entry of the slot, or of the free list.
    pub(super) next: u32,
    previous: u32,
    pub(super) place: EntryState,
    value: Option<T>,
}

/// The list that contains an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryState {
    /// In no list: free, or being moved.
    Nowhere,
    /// The heap of due timers.
    Due,
    /// A slot of the near wheel.
    Near(u16),
    /// A slot of the far wheel.
    Far(u16),
}

/// When the wheel must be turned next.
#[derive(Clone, Copy, Debug)]
enum Next {
    Unknown,
    Known(Option<i64>),
}

#[derive(Clone, Debug)]
pub(super) struct Wheel<T> {
    entries: Vec<Entry<T>>,
    free: u32,
    used: usize,
    /// Ticks up to this one have left the wheels.
    tick: u64,
    near: Slots,
    far: Slots,
    spare: PagePool,
    /// The result of [`Wheel::next`], kept until a slot is filled or emptied. The event loop calls
    /// it in every turn.
    next: Next,
}

impl<T> Wheel<T> {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            entries: Vec::with_capacity(capacity),
            free: NONE,
            used: 0,
            // A run's clock starts at zero or a little before it; any other start costs one `jump`.
            tick: tick_of(0),
            near: Slots::new(NEAR_SLOTS),
            far: Slots::new(FAR_SLOTS),
            spare: PagePool::default(),
            next: Next::Unknown,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// The number of existing pages of slots.
    #[cfg(test)]
    pub(super) fn pages(&self) -> usize {
        self.near.pages() + self.far.pages()
    }

    pub(super) fn entry(&self, entry: u32) -> &Entry<T> {
        &self.entries[entry as usize]
    }

    /// Returns the entry if it still has this generation and is in use.
    pub(super) fn get(&self, entry: u32, generation: u32) -> Option<&Entry<T>> {
        self.entries
            .get(entry as usize)
            .filter(|found| found.generation == generation && found.value.is_some())
    }

    /// Allocates a place in the slab for a timer and returns it with its generation. It is in no
    /// list yet.
    pub(super) fn allocate(&mut self, at: i64, value: T) -> (u32, u32) {
        self.used += 1;
        if self.free == NONE {
            let entry = u32::try_from(self.entries.len()).ok().filter(|&entry| entry != NONE);
            let entry = entry.expect("fewer than 4 billion timers");
            let value = Some(value);
            let place = EntryState::Nowhere;
            self.entries.push(Entry { at, generation: 0, next: NONE, previous: NONE, place, value });
            return (entry, 0);
        }
        let entry = self.free;
        let found = &mut self.entries[entry as usize];
        self.free = found.next;
        found.at = at;
        found.value = Some(value);
        (entry, found.generation)
    }

    /// Frees an entry that is in no slot.
    pub(super) fn release(&mut self, entry: u32) -> Option<T> {
        let found = &mut self.entries[entry as usize];
        found.generation = found.generation.wrapping_add(1);
        found.place = EntryState::Nowhere;
        found.next = self.free;
        self.free = entry;
        self.used -= 1;
        found.value.take()
    }

    /// Files an entry by its deadline. Returns false, and marks the entry as due, if the wheel's
    /// tick has reached it.
    pub(super) fn link(&mut self, entry: u32) -> bool {
        let at = self.entries[entry as usize].at;
        let tick = tick_of(at);
        // The delay from the start of the slot.
        let in_turn = (ordinal(at) & TURN_NS_MASK) as u32;
        let (place, after) = if tick <= self.tick {
            (EntryState::Due, 0)
        } else if turn_of(tick) == turn_of(self.tick) {
            (EntryState::Near((tick % NEAR_SLOTS as u64) as u16), in_turn & TICK_NS_MASK)
        } else {
            let ahead = turn_of(tick) - turn_of(self.tick);
            let (turn, after) = if ahead < FAR_SLOTS as u64 {
                (turn_of(tick), in_turn)
            } else {
                // Spread by a multiplicative hash (Knuth): timers that were set together must not
                // return together. The deadline is later than the slot, but the slot must be
                // visited at its time all the same.
                let spread = u64::from(entry.wrapping_mul(0x9E37_79B1) >> 17);
                (turn_of(self.tick) + FAR_SLOTS as u64 - 1 - spread, PARKED)
            };
            (EntryState::Far((turn % FAR_SLOTS as u64) as u16), after)
        };
        self.entries[entry as usize].place = place;
        self.next = Next::Unknown;
        let next = match place {
            EntryState::Nowhere | EntryState::Due => return false,
            EntryState::Near(slot) => self.near.push(slot.into(), entry, after, &mut self.spare),
            EntryState::Far(slot) => self.far.push(slot.into(), entry, after, &mut self.spare),
        };
        let next = next.unwrap_or(NONE);
        let found = &mut self.entries[entry as usize];
        (found.next, found.previous) = (next, NONE);
        if next != NONE {
            self.entries[next as usize].previous = entry;
        }
        true
    }

    /// Takes an entry out of its slot.
    pub(super) fn unlink(&mut self, entry: u32) {
        let Entry { next, previous, place, .. } = self.entries[entry as usize];
        if next != NONE {
            self.entries[next as usize].previous = previous;
        }
        if previous != NONE {
            self.entries[previous as usize].next = next;
            return;
        }
        self.next = Next::Unknown;
        let (slots, slot) = match place {
            EntryState::Near(slot) => (&mut self.near, usize::from(slot)),
            EntryState::Far(slot) => (&mut self.far, usize::from(slot)),
            EntryState::Nowhere | EntryState::Due => return,
        };
        if next == NONE {
            slots.clear(slot, &mut self.spare);
        } else {
            slots.set_first(slot, next);
        }
    }

    /// Advances to the next filled slot that begins by `now` and returns its list, linked by
    /// `next`, to be filed again. Returns `None` if no such slot exists; the wheel is then at
    /// `now`.
    pub(super) fn turn(&mut self, now: i64) -> Option<u32> {
        let now = tick_of(now);
        if turn_of(now).saturating_sub(turn_of(self.tick)) >= FAR_SLOTS as u64 {
            return self.jump(now);
        }
        if let Some(slot) = self.near.first_from((self.tick % NEAR_SLOTS as u64) as usize) {
            // All slots of the near wheel are ticks of the current turn.
            let tick = turn_of(self.tick) << TURN_BITS | slot as u64;
            if tick <= now {
                (self.tick, self.next) = (tick, Next::Unknown);
                return self.near.take(slot, &mut self.spare);
            }
        } else if let Some((turn, slot)) = self.far_first() {
            let tick = turn << TURN_BITS;
            if tick <= now {
                (self.tick, self.next) = (tick, Next::Unknown);
                return self.far.take(slot, &mut self.spare);
            }
        }
        self.tick = self.tick.max(now);
        None
    }

    /// No call was made for longer than the far wheel spans. Returns all timers together instead of
    /// following each parked timer through its slots.
    fn jump(&mut self, now: u64) -> Option<u32> {
        (self.tick, self.next) = (now, Next::Unknown);
        let mut list = NONE;
        for (number, entry) in self.entries.iter_mut().enumerate() {
            match entry.place {
                EntryState::Nowhere | EntryState::Due => continue,
                EntryState::Near(slot) => self.near.clear(slot.into(), &mut self.spare),
                EntryState::Far(slot) => self.far.clear(slot.into(), &mut self.spare),
            }
            entry.next = list;
            list = number as u32;
        }
        (list != NONE).then_some(list)
    }

    /// Returns a lower bound of the deadlines in the wheels, later than the wheel's tick.
    #[inline]
    pub(super) fn next(&mut self) -> Option<i64> {
        if let Next::Known(next) = self.next {
            return next;
        }
        let next = self.find_next();
        self.next = Next::Known(next);
        next
    }

    fn find_next(&self) -> Option<i64> {
        if let Some(slot) = self.near.first_from(0) {
            let tick = turn_of(self.tick) << TURN_BITS | slot as u64;
            return Some(instant_of(tick, self.near.after(slot)));
        }
        self.far_first().map(|(turn, slot)| instant_of(turn << TURN_BITS, self.far.after(slot)))
    }

    /// Returns the first filled slot of the far wheel, as the turn it represents and its number.
    fn far_first(&self) -> Option<(u64, usize)> {
        let from = turn_of(self.tick) + 1;
        let begin = (from % FAR_SLOTS as u64) as usize;
        let slot = self.far.first_from(begin).or_else(|| self.far.first_from(0))?;
        let ahead = (slot + FAR_SLOTS - begin) % FAR_SLOTS;
        Some((from + ahead as u64, slot))
    }
}

/// Returns the nanoseconds since the earliest representable instant, which are never negative.
const fn ordinal(at: i64) -> u64 {
    at as u64 ^ 1 << 63
}

const fn tick_of(at: i64) -> u64 {
    ordinal(at) >> TICK_BITS
}

/// Returns the instant `after` ns from the start of a tick, limited to the last representable
/// instant.
const fn instant_of(tick: u64, after: u32) -> i64 {
    if tick >= 1 << (64 - TICK_BITS) {
        i64::MAX
    } else {
        (((tick << TICK_BITS) + after as u64) ^ 1 << 63) as i64
    }
}

const fn turn_of(tick: u64) -> u64 {
    tick >> TURN_BITS
}
