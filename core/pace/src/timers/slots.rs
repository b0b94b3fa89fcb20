//! [`Slots`]: the lists of one wheel, in pages that are there only while something is in them.
//!
//! A wheel spans minutes, and time goes over all of it: a page for each slot that was ever used would in the end be all
//! of them, in each of dozens of load threads. What is here follows how far ahead timers are set, not how long a run is.

use super::bits::SlotBitmap;

/// Slots of a page, which then is one page of memory.
const PAGE_SLOTS: usize = 512;
/// Pages kept for the next slots that are filled: wheels turn from one page to the next, and would else ask for memory
/// and give it back all the time.
const SPARE_MAX: usize = 2;

/// The first entry of a slot, and a lower bound of how long after the slot's begin its deadlines are, in nanoseconds
/// (exact unless one was cancelled). Both are meaningless while the slot's bit is clear.
#[derive(Clone, Copy, Debug)]
struct Slot {
    first: u32,
    after: u32,
}

type Page = Box<[Slot]>;

/// See the module's description.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    pages: Vec<Option<Page>>,
    filled: SlotBitmap,
}

/// Pages that no wheel has at the moment.
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

    /// Put an entry at the head of a slot; the former head, if there is one.
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

    /// Another entry is the head of a filled slot.
    pub(super) fn set_first(&mut self, slot: usize, entry: u32) {
        if let Some(page) = &mut self.pages[slot / PAGE_SLOTS] {
            page[slot % PAGE_SLOTS].first = entry;
        }
    }

    /// The first filled slot at or after `from`.
    pub(super) fn first_from(&self, from: usize) -> Option<usize> {
        self.filled.first_from(from)
    }

    /// How long after its begin a filled slot's deadlines are at least, nanoseconds.
    pub(super) fn after(&self, slot: usize) -> u32 {
        self.slot(slot).map_or(0, |found| found.after)
    }

    /// Empty a filled slot; the head of its list.
    pub(super) fn take(&mut self, slot: usize, spare: &mut PagePool) -> Option<u32> {
        let first = self.slot(slot).map(|found| found.first);
        self.clear(slot, spare);
        first
    }

    /// Nothing is in a slot any more.
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

    /// Pages that are there.
    #[cfg(test)]
    pub(super) fn pages(&self) -> usize {
        self.pages.iter().flatten().count()
    }
}
