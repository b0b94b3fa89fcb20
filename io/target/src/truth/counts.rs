//! [`Counts`]: what one thread has seen.

use std::collections::HashMap;

use wavetank_plan::Nanos;

use super::HandshakeCounts;
use super::arrival_log::ArrivalLog;
use crate::connection::Handshake;

/// Most paths told apart.
pub(crate) const PATHS_MAX: usize = 256;
/// Longer paths count as `other`.
const PATH_BYTES_MAX: usize = 200;
/// Where a path without a counter of its own is counted.
const OTHER: u32 = u32::MAX;

/// What one thread has seen. Plain numbers: its lock is taken once a turn.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) bad_requests: u64,
    pub(crate) accepted: u64,
    /// A gauge; survives a reset.
    pub(crate) open: i64,
    pub(crate) control: u64,
    pub(crate) accept_failed: u64,
    pub(crate) handshakes: HandshakeCounts,
    pub(crate) bytes_received: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) other_paths: u64,
    pub(crate) arrivals: ArrivalLog,
    /// By status code.
    statuses: Vec<u64>,
    paths: Vec<(Box<[u8]>, u64)>,
    slots: HashMap<Box<[u8]>, u32>,
    /// Raised by each reset: slots given out before name nothing any more.
    generation: u64,
}

/// Which counter a path has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathSlot(u32);

impl Default for Counts {
    fn default() -> Self {
        Self {
            requests: 0,
            bad_requests: 0,
            accepted: 0,
            open: 0,
            control: 0,
            accept_failed: 0,
            handshakes: HandshakeCounts::default(),
            bytes_received: 0,
            bytes_sent: 0,
            other_paths: 0,
            arrivals: ArrivalLog::default(),
            statuses: vec![0; 600],
            paths: Vec::new(),
            slots: HashMap::new(),
            generation: 0,
        }
    }
}

impl Counts {
    /// Count anew. Open connections stay open.
    pub(crate) fn reset(&mut self) {
        *self = Self { open: self.open, generation: self.generation + 1, ..Self::default() };
    }

    /// See the field.
    #[inline]
    pub(crate) const fn generation(&self) -> u64 {
        self.generation
    }

    /// The counter of a path, a new one if there is room.
    pub(crate) fn slot(&mut self, path: &[u8]) -> PathSlot {
        if let Some(&slot) = self.slots.get(path) {
            return PathSlot(slot);
        }
        if self.paths.len() == PATHS_MAX || path.len() > PATH_BYTES_MAX {
            return PathSlot(OTHER);
        }
        let slot = self.paths.len() as u32;
        self.paths.push((path.into(), 0));
        self.slots.insert(path.into(), slot);
        PathSlot(slot)
    }

    /// The connection asked for the truth first: it is in no count but that of its kind.
    pub(crate) fn is_control(&mut self, handshake: Handshake) {
        self.accepted = self.accepted.saturating_sub(1);
        self.open -= 1;
        self.control += 1;
        let counted = match handshake {
            Handshake::None => return,
            Handshake::Full => &mut self.handshakes.full,
            Handshake::Resumed => &mut self.handshakes.resumed,
        };
        *counted = counted.saturating_sub(1);
    }

    /// A request came, on a path with this counter. `first`: when the first of all came.
    #[inline]
    pub(crate) fn request(&mut self, slot: PathSlot, now: Nanos, first: Nanos) {
        self.requests += 1;
        match self.paths.get_mut(slot.0 as usize) {
            Some((_, count)) => *count += 1,
            None => self.other_paths += 1,
        }
        self.arrivals.note(now, first);
    }

    /// An answer was given.
    #[inline]
    pub(crate) fn answered(&mut self, status: u16) {
        if let Some(count) = self.statuses.get_mut(usize::from(status)) {
            *count += 1;
        }
    }

    /// Statuses that were given, and how often.
    pub(crate) fn statuses(&self) -> impl Iterator<Item = (u16, u64)> {
        (0..).zip(self.statuses.iter().copied()).filter(|(_, count)| *count > 0)
    }

    /// Paths that were asked for, and how often.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.paths.iter().map(|(path, count)| (&path[..], *count)).filter(|(_, count)| *count > 0)
    }
}
