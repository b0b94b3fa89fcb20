//! [`SearchWithLiveness`]: a search that notices when its target is gone.

use crate::{RunOutcome, RunRequest, Search, SearchResult, Setup, Stage, StopReason};

/// Silent runs in a row after which the lowest level that passed is tried again. The number doubles
/// each time the target answers.
const SILENT_ASKS: u32 = 2;
/// Silent runs well below a load that passed, with answers in between, that show an intermittent
/// target.
const GAPS_MAX: u32 = 3;
/// Levels this far below one that held are not the other side of one knee.
const APART: f64 = 0.95;

/// A [`Search`] that ends when a target that answered before no longer answers, even at the lowest
/// level that passed.
///
/// Too much load may leave no request done, so silence alone proves nothing: the lowest level is
/// tried again. If that is silent too, the search returns to what it knew before the silence and
/// ends.
#[derive(Clone, Debug)]
pub struct SearchWithLiveness {
    search: Search,
    /// The lowest and the highest level that held.
    held: Option<(f64, f64)>,
    /// Silent runs in a row.
    silent: u32,
    /// How many of them ask the lowest level.
    asks: u32,
    /// Silent runs well below a level that held.
    gaps: u32,
    /// The search before the first silent run of the row.
    before: Option<Box<Search>>,
    asking: bool,
}

impl SearchWithLiveness {
    /// A search that has not begun. `setup` is one that [`Setup::check`] lets pass.
    pub fn new(setup: Setup) -> Self {
        let search = Search::new(setup);
        Self { search, held: None, silent: 0, asks: SILENT_ASKS, gaps: 0, before: None, asking: false }
    }

    /// Returns the next run to make; `None` when the search is over.
    pub fn next(&self) -> Option<RunRequest> {
        let wanted = self.search.next();
        match self.held.filter(|_| self.asking) {
            Some((level, _)) => {
                let stretch = wanted.map_or(1, |wanted| wanted.stretch);
                Some(RunRequest { level, stage: Stage::Check, stretch })
            }
            None => wanted,
        }
    }

    /// Handles the outcome of the requested run. `silent`: it sent requests and none was done.
    /// `kept`: as in [`Search::result`].
    pub fn result(&mut self, seen: RunOutcome, silent: bool, kept: f64) {
        let Some(wanted) = self.next() else { return };
        let silent = silent && seen != RunOutcome::Pass;
        if self.asking {
            return self.asked(silent);
        }
        if silent && self.held.is_some() && self.before.is_none() {
            self.before = Some(Box::new(self.search.clone()));
        }
        self.search.result(seen, kept);
        if seen == RunOutcome::Pass {
            let (low, high) = self.held.unwrap_or((wanted.level, wanted.level));
            self.held = Some((low.min(wanted.level), high.max(wanted.level)));
        }
        if !silent {
            self.answers();
            return;
        }
        let Some((_, high)) = self.held else { return };
        self.silent += 1;
        self.gaps += u32::from(wanted.level <= high * APART);
        // A result must not rest on a silence that was not checked.
        self.asking = self.silent >= self.asks || self.search.next().is_none();
    }

    /// How the lowest level that held went, asked once more.
    fn asked(&mut self, silent: bool) {
        self.asking = false;
        if !silent {
            self.answers();
            self.asks *= 2;
        } else if let Some(before) = self.before.take() {
            self.search = *before;
            self.search.stop(StopReason::Target);
        }
    }

    fn answers(&mut self) {
        self.silent = 0;
        self.before = None;
        if self.gaps >= GAPS_MAX {
            self.search.stop(StopReason::Unsteady);
        }
    }

    /// Ends it before its time.
    pub fn stop(&mut self, why: StopReason) {
        self.asking = false;
        self.search.stop(why);
    }

    /// Returns the result so far, or the final one.
    pub fn answer(&self) -> SearchResult {
        self.search.answer()
    }
}
