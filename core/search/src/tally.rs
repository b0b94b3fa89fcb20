//! [`LevelTallies`]: how often each level held.

/// One level's runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LevelTally {
    /// The load.
    pub level: f64,
    /// Runs that met the thresholds.
    pub passed: u32,
    /// Runs that did not.
    pub failed: u32,
}

impl LevelTally {
    /// Runs that say something of the target.
    pub(crate) const fn runs(&self) -> u32 {
        self.passed + self.failed
    }
}

/// How often each level held, lowest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LevelTallies(Vec<LevelTally>);

impl LevelTallies {
    /// The levels, lowest first.
    pub(crate) fn levels(&self) -> &[LevelTally] {
        &self.0
    }

    /// Counts a run.
    pub(crate) fn add(&mut self, level: f64, passed: bool) {
        let at = self.0.partition_point(|one| one.level.total_cmp(&level).is_lt());
        if self.0.get(at).is_none_or(|one| one.level.total_cmp(&level).is_ne()) {
            self.0.insert(at, LevelTally { level, passed: 0, failed: 0 });
        }
        let one = &mut self.0[at];
        *(if passed { &mut one.passed } else { &mut one.failed }) += 1;
    }
}
