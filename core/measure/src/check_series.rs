//! [`CheckSeries`]: checks and counts on the responses to one step.

use wavetank_plan::Key;

/// How often one check passed and failed. A missing response is not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckCount {
    /// Responses that passed the check.
    pub held: u64,
    /// Responses that failed the check.
    pub failed: u64,
}

/// Results of the step's checks and counts on the responses to one key's requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckSeries {
    /// The key under which the requests are counted.
    pub key: Key,
    /// By the check's place among those of the step ([`wavetank_plan::Step::checks`]).
    pub checks: Vec<CheckCount>,
    /// Answers that were counted: index into [`wavetank_plan::SharedPlan::counts`], and how many.
    pub counts: Vec<(u16, u64)>,
}

impl CheckSeries {
    /// Adds one checked response: every check passed except those at the places in `broken`.
    pub fn answer(&mut self, broken: &[u16]) {
        for (place, check) in (0_u16..).zip(&mut self.checks) {
            let failed = broken.contains(&place);
            check.failed += u64::from(failed);
            check.held += u64::from(!failed);
        }
    }

    /// Adds `n` responses to `count`.
    pub fn add(&mut self, count: u16, n: u64) {
        match self.counts.iter_mut().find(|(known, _)| *known == count) {
            Some((_, sum)) => *sum += n,
            None => self.counts.push((count, n)),
        }
    }

    /// Answers counted under `count`.
    pub fn counted(&self, count: u16) -> u64 {
        self.counts.iter().find(|(known, _)| *known == count).map_or(0, |&(_, n)| n)
    }

    /// Whether nothing was checked or counted.
    pub fn is_empty(&self) -> bool {
        self.checks.iter().all(|check| *check == CheckCount::default())
            && self.counts.iter().all(|&(_, n)| n == 0)
    }

    /// Adds the counts of `other`; lists end up sorted.
    pub fn merge(&mut self, other: &Self) {
        if self.checks.len() < other.checks.len() {
            self.checks.resize(other.checks.len(), CheckCount::default());
        }
        for (mine, theirs) in self.checks.iter_mut().zip(&other.checks) {
            mine.held += theirs.held;
            mine.failed += theirs.failed;
        }
        for &(count, n) in &other.counts {
            self.add(count, n);
        }
        self.counts.sort_unstable();
    }
}
