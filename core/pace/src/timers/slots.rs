//! [`Slots`]: the lists of one wheel, in pages that exist only while they hold a timer.
//!
//! A wheel spans minutes, and time passes over all of its slots. If a page stayed for each slot
//! that was ever used, all pages would exist in the end, in each of dozens of load threads. The
//! memory used here depends on how far ahead timers are set, not on the duration of a run.

use super::bits::SlotBitmap;

/// Slots of a page, chosen so that a page takes one page of memory.
const PAGE_SLOTS: usize = 512;
/// Empty pages kept for the next slots that are filled. Wheels turn from one page to the next, and
/// would otherwise allocate and free memory continually.
const SPARE_MAX: usize = 2;

/// The first entry of a slot, and a lower bound of the delay from the slot's start to its
/// deadlines, in nanoseconds. The bound is exact unless a timer was cancelled. Both are meaningless
/// while the slot's bit is clear.
#[derive(Clone, Copy, Debug)]
struct Slot {
    first: u32,
    after: u32,
}

type Page = Box<[Slot]>;

/// The lists of one wheel; see the module documentation.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    pages: Vec<Option<Page>>,
    filled: SlotBitmap,
}

/// Pages that no wheel uses at the moment.
#[derive(Clone, Debug, Default)]
pub(super) struct PagePool(Vec<Page>);

impl PagePool {
    fn take(&mut self) -> Page {
        let empty = Slot { first: super::wheel::NONE, after: 0 };
        self.0.pop().unwrap_or_else(|| vec![empty; PAGE_SLOTS].into_boxed_slice())
    }

    fn put(&mut self, page: Option<Page>) {
        if self.0.len() < SPARE_MAX {
            self.0.extend(page);
        }
    }
}

impl Slots {
    /// `slots` empty slots, a multiple of 4096.
    pub(super) fn new(slots: usize) -> Self {
        Self { pages: vec![None; slots / PAGE_SLOTS], filled: SlotBitmap::new(slots) }
    }

    /// Puts an entry at the head of a slot and returns the former head, if any.
    pub(super) fn push(&mut self, slot: usize, entry: u32, after: u32, spare: &mut PagePool) -> Option<u32> {
        let page = self.pages[slot / PAGE_SLOTS].get_or_insert_with(|| spare.take());
        let found = &mut page[slot % PAGE_SLOTS];
        if self.filled.contains(slot) {
            found.after = found.after.min(after);
            return Some(std::mem::replace(&mut found.first, entry));
        }
        self.filled.set(slot);
        *found = Slot { first: entry, after };
        None
    }

    /// Makes another entry the head of a filled slot.
    pub(super) fn set_first(&mut self, slot: usize, entry: u32) {
        if let Some(page) = &mut self.pages[slot / PAGE_SLOTS] {
            page[slot % PAGE_SLOTS].first = entry;
        }
    }

    /// Returns the first filled slot at or after `from`.
    pub(super) fn first_from(&self, from: usize) -> Option<usize> {
        self.filled.first_from(from)
    }

    /// Returns a lower bound of the delay from the slot's start to its deadlines, in nanoseconds.
    /// The slot is filled.
    pub(super) fn after(&self, slot: usize) -> u32 {
        self.slot(slot).map_or(0, |found| found.after)
    }

    /// Empties a filled slot and returns the head of its list.
    pub(super) fn take(&mut self, slot: usize, spare: &mut PagePool) -> Option<u32> {
        let first = self.slot(slot).map(|found| found.first);
        self.clear(slot, spare);
        first
    }

    /// Marks a slot as empty.
    pub(super) fn clear(&mut self, slot: usize, spare: &mut PagePool) {
        self.filled.clear(slot);
        let page = slot / PAGE_SLOTS;
        if self.filled.is_clear(page * PAGE_SLOTS..(page + 1) * PAGE_SLOTS) {
            spare.put(self.pages[page].take());
        }
    }

    fn slot(&self, slot: usize) -> Option<&Slot> {
        self.pages[slot / PAGE_SLOTS].as_ref().map(|page| &page[slot % PAGE_SLOTS])
    }

    /// The number of existing pages.
    #[cfg(test)]
    pub(super) fn pages(&self) -> usize {
        self.pages.iter().flatten().count()
    }
}
