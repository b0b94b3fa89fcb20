//! [`PopulationSchedule`]: when the users or held connections of one share start and leave.

use wavetank_plan::{Phase, PopulationCurve};
use wavetank_units::Nanos;

use crate::Partition;

/// Walks the population curves of one track, that is, of the phases through which the same users
/// (or connections) carry over.
///
/// Number `i` of all users belongs to the share that contains `i`. The users of a share are its
/// ordinals 0, 1, 2 …. The lowest ordinals are always present, because the last to start are the
/// first to leave. No state is kept per user.
#[derive(Clone, Debug)]
pub struct PopulationSchedule {
    share: Partition,
    stretches: Vec<(Nanos, Option<Nanos>, PopulationCurve)>,
    stretch: usize,
    turn: u64,
    piece: usize,
    /// Whether the number has been set to the value at the piece's start.
    entered: bool,
    /// Whether it has changed in this turn of the pieces.
    moved: bool,
    /// Target number of this share after the last change: the ordinals below it are present.
    wanted: u64,
    next: Option<PopulationChange>,
    /// Instant of the last change popped; another number takes effect after it.
    popped_at: Option<Nanos>,
}

/// The share's number of users changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PopulationChange {
    /// When.
    pub at: Nanos,
    /// Ordinals below this one are present from then on, all others are absent.
    pub wanted: u64,
}

impl PopulationSchedule {
    /// Creates the share's part of consecutive phases (those of a track), in order of start.
    pub fn new<'a>(phases: impl IntoIterator<Item = &'a Phase>, share: Partition) -> Self {
        let stretch =
            |phase: &'a Phase| phase.load.levels().map(|levels| (phase.start, phase.end(), levels.clone()));
        let stretches = phases.into_iter().filter_map(stretch).collect();
        let mut this = Self {
            share,
            stretches,
            stretch: 0,
            turn: 0,
            piece: 0,
            entered: false,
            moved: false,
            wanted: 0,
            next: None,
            popped_at: None,
        };
        this.next = this.find();
        this
    }

    /// Returns when the next change is due.
    #[inline]
    pub const fn peek(&self) -> Option<Nanos> {
        match self.next {
            Some(next) => Some(next.at),
            None => None,
        }
    }

    /// Takes the next change. A jump is one change of any height; on a slope each ordinal has its
    /// own change.
    pub fn pop(&mut self) -> Option<PopulationChange> {
        let next = self.next?;
        self.wanted = next.wanted;
        self.popped_at = Some(next.at);
        self.next = self.find();
        Some(next)
    }

    /// Sets the number of all shares to `count` from `at` to the end of the phase that is active
    /// then. Later phases and changes are as before. Nothing changes where no phase is active.
    ///
    /// `at` must be later than every change popped for any share. An earlier instant is moved to
    /// just after the last change popped here, and then shares may differ.
    pub fn change(&mut self, at: Nanos, count: u64) {
        let at = self.popped_at.map_or(at, |popped| at.max(popped.after(Nanos(1))));
        let ends = |(start, end, levels): &(Nanos, Option<Nanos>, PopulationCurve)| {
            end.map_or(Nanos::MAX, |end| end).min(start.after(levels.length()))
        };
        let active = |one: &(Nanos, Option<Nanos>, PopulationCurve)| one.0 <= at && at < ends(one);
        let Some(changed) = self.stretches.iter().position(active) else { return };
        let length = ends(&self.stretches[changed]) - at;
        let end = self.stretches[changed].1.replace(at);
        self.stretches.insert(changed + 1, (at, end, PopulationCurve::constant(count, Some(length))));
        // What is due before it remains.
        if self.next.is_none_or(|next| next.at >= at) {
            self.stretch = changed;
            self.next_stretch();
            self.next = self.find();
        }
    }

    /// Finds the next instant at which the number differs from the current one.
    fn find(&mut self) -> Option<PopulationChange> {
        loop {
            let (start, end, levels) = self.stretches.get(self.stretch)?;
            let within = |at: Nanos| end.is_none_or(|end| at < end) && at < start.after(levels.length());
            let piece = levels.piece(self.turn, self.piece);
            let Some(piece) = piece.filter(|piece| within(start.after(piece.from))) else {
                self.next_stretch();
                continue;
            };
            let begin = start.after(piece.from);
            if !std::mem::replace(&mut self.entered, true) {
                let wanted = self.share.count_below(piece.begin);
                if wanted != self.wanted {
                    self.moved = true;
                    return Some(PopulationChange { at: begin, wanted });
                }
            }
            let end = self.share.count_below(piece.end);
            let (user, wanted) = match self.wanted {
                wanted if wanted < end => (self.share.nth(wanted), wanted + 1),
                wanted if wanted > end => (self.share.nth(wanted - 1), wanted - 1),
                _ => {
                    self.next_piece();
                    continue;
                }
            };
            let at = begin.after(piece.moves_at(user));
            if within(at) {
                self.moved = true;
                return Some(PopulationChange { at, wanted });
            }
            self.next_stretch();
        }
    }

    fn next_piece(&mut self) {
        self.entered = false;
        self.piece += 1;
        if self.stretches[self.stretch].2.pieces().len() > self.piece {
            return;
        }
        (self.turn, self.piece) = (self.turn + 1, 0);
        // A turn without a change is the same as every later turn, and there may be millions of
        // them.
        if !std::mem::replace(&mut self.moved, false) {
            self.next_stretch();
        }
    }

    fn next_stretch(&mut self) {
        (self.stretch, self.turn, self.piece) = (self.stretch + 1, 0, 0);
        (self.entered, self.moved) = (false, false);
    }
}
