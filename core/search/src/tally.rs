//! [`Tally`]: how often each level held.

/// One level's runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tallied {
    /// The load.
    pub level: f64,
    /// Runs that met the thresholds.
    pub passed: u32,
    /// Runs that did not.
    pub failed: u32,
}

impl Tallied {
    /// Runs that say something of the target.
    pub const fn runs(&self) -> u32 {
        self.passed + self.failed
    }
}

/// How often each level held, lowest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally(Vec<Tallied>);

impl Tally {
    /// The levels, lowest first.
    pub fn levels(&self) -> &[Tallied] {
        &self.0
    }

    /// Counts a run.
    pub fn add(&mut self, level: f64, passed: bool) {
        let at = self.0.partition_point(|one| one.level.total_cmp(&level).is_lt());
        if self.0.get(at).is_none_or(|one| one.level.total_cmp(&level).is_ne()) {
            self.0.insert(at, Tallied { level, passed: 0, failed: 0 });
        }
        let one = &mut self.0[at];
        *(if passed { &mut one.passed } else { &mut one.failed }) += 1;
    }

    /// Runs of `level` that passed and failed.
    pub fn of(&self, level: f64) -> (u32, u32) {
        let found = self.0.iter().find(|one| one.level.total_cmp(&level).is_eq());
        found.map_or((0, 0), |one| (one.passed, one.failed))
    }
}
