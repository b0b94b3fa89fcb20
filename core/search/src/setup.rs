//! [`Setup`]: what is sought, within which limits.

use wavetank_units::quantity::share_literal;
use wavetank_units::{Code, UserError};

use crate::Granularity;

/// Maximum number of runs of one search in any case.
const RUNS_MAX: u32 = 400;

/// The options of a search and its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// Which levels there are.
    pub grain: Granularity,
    /// Where the climb starts.
    pub from: f64,
    /// The highest level that may be tried.
    pub to: f64,
    /// From one level of the climb to the next.
    pub factor: f64,
    /// Levels inside the bracket.
    pub levels: u32,
    /// Runs of each of them.
    pub repeats: u32,
    /// How far they lie apart, as a share: 0.01 is 1 %.
    pub step: f64,
    /// A quick estimate: fewer levels and runs than prove anything, and no further ones.
    pub quick: bool,
    /// Runs at most.
    pub runs_max: u32,
    /// Seed of the order of levels.
    pub seed: u64,
}

impl Setup {
    /// Fewest levels inside the bracket.
    pub const LEVELS_MIN: u32 = 5;
    /// Fewest runs of each of them.
    pub const REPEATS_MIN: u32 = 3;
    /// Most of both: more would take days.
    pub const MOST: u32 = 50;
    /// Finest and coarsest distance of levels.
    pub const STEPS: (f64, f64) = (0.001, 0.25);

    /// Between `from` and `to`, the rest as usual.
    pub const fn new(grain: Granularity, from: f64, to: f64) -> Self {
        Self {
            grain,
            from,
            to,
            factor: 2.0,
            levels: Self::LEVELS_MIN,
            repeats: Self::REPEATS_MIN,
            step: 0.01,
            quick: false,
            runs_max: RUNS_MAX,
            seed: 1,
        }
    }

    /// The same as a quick estimate: a knee within about a tenth, after some twenty runs.
    #[must_use]
    pub const fn quickly(self) -> Self {
        Self { quick: true, factor: 4.0, levels: 3, repeats: 1, step: 0.1, ..self }
    }

    /// Refuses limits between which nothing can be found.
    ///
    /// # Errors
    /// A usage error that names the option.
    pub fn check(&self) -> Result<(), UserError> {
        let refused =
            |message: String, hint: String| Err(UserError::usage(Code::SearchLimits, message, hint));
        if self.from >= self.to {
            let message = format!("--from {} is not below --to {}", self.from, self.to);
            return refused(message, "the search climbs from the one to the other".to_owned());
        }
        let counts = [
            ("--levels", self.levels, Self::LEVELS_MIN, "levels inside the bracket"),
            ("--repeats", self.repeats, Self::REPEATS_MIN, "runs of each level"),
        ];
        for (name, given, least, what) in counts {
            if !self.quick && !(least..=Self::MOST).contains(&given) {
                let message = format!("{name} {given} is not between {least} and {}", Self::MOST);
                let hint = if given < least {
                    format!("fewer than {least} {what} prove nothing, and {least} is the default")
                } else {
                    format!("more than {} {what} would take days, and {least} is the default", Self::MOST)
                };
                return refused(message, hint);
            }
        }
        if !(Self::STEPS.0..=Self::STEPS.1).contains(&self.step) {
            let message = format!("--step {} is not between 0.1 % and 25 %", share_literal(self.step));
            return refused(message, "1 % is the default".to_owned());
        }
        let (fewest, most) = (self.runs_expected().0, self.runs_max);
        if fewest > most {
            let (levels, repeats) = (self.levels, self.repeats);
            let message = format!(
                "--levels {levels} with --repeats {repeats} take {fewest} runs at least, and a search makes {most} at most"
            );
            let fits = |setup: &Self| setup.runs_expected().0 <= most;
            let with_levels =
                (Self::LEVELS_MIN..levels).rev().map(|levels| Self { levels, ..*self }).find(fits);
            let with_repeats =
                (Self::REPEATS_MIN..repeats).rev().map(|repeats| Self { repeats, ..*self }).find(fits);
            let lower = [
                with_levels.map(|setup| format!("--levels {}", setup.levels)),
                with_repeats.map(|setup| format!("--repeats {}", setup.repeats)),
            ];
            let lower: Vec<String> = lower.into_iter().flatten().collect();
            return refused(message, format!("lower one of them: {}", lower.join(", or ")));
        }
        Ok(())
    }

    /// Width of a bracket that holds the levels at their distance: its upper end by its lower.
    pub(crate) fn bracket(&self) -> f64 {
        (1.0 + self.step).powi(self.levels as i32 + 1)
    }

    /// Returns the expected duration in seconds, where a run at a level takes `each`, overhead
    /// included: for the knee that is found soonest, and for the one that takes longest, if
    /// everything else goes as expected.
    pub fn seconds_expected(&self, each: &dyn Fn(f64) -> f64) -> (f64, f64) {
        let (fewest, _) = self.runs_expected();
        // Two of them at the level that fails, one at the lowest.
        let inside = f64::from(fewest - 3);
        let more = f64::from(2 * self.repeats);
        let (mut level, mut climbed) = (self.from, 0.0);
        let (mut soonest, mut longest) = (f64::INFINITY, 0.0_f64);
        while level < self.to {
            let above = (level * self.factor).min(self.to);
            climbed += each(level);
            let found = climbed + 2.0 * each(above) + inside * each(level);
            // Right above the lowest there is nothing to add below.
            let added = if level > self.from { more * each(level) } else { 0.0 };
            (soonest, longest) = (soonest.min(found), longest.max(found + added));
            level = above;
        }
        (soonest, longest)
    }

    /// Returns the expected number of runs: for a knee right above the lowest level, and for one
    /// right below the highest.
    pub fn runs_expected(&self) -> (u32, u32) {
        let climb = ((self.to / self.from).ln() / self.factor.ln()).ceil().max(1.0) as u32;
        let halvings = (self.factor.ln() / self.bracket().ln()).log2().ceil().max(0.0) as u32;
        let inside = halvings + (self.levels + 1) * self.repeats;
        // The level that fails is tried twice. Right above the lowest level there is nothing to add
        // below.
        let added = if climb > 1 { 2 * self.repeats } else { 0 };
        (3 + inside, climb + 2 + inside + added)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_runs_than_a_search_makes_are_refused() {
        let check = |levels: u32, repeats: u32, hint: Option<&str>| {
            let setup = Setup { levels, repeats, ..Setup::new(Granularity::Rate, 100.0, 1e6) };
            let reported = setup.check().map_err(|error| (error.code.as_str(), error.hint));
            let expected = hint.map_or(Ok(()), |hint| Err(("search_limits", hint.to_owned())));
            assert_eq!(reported, expected, "--levels {levels} --repeats {repeats}");
        };
        check(50, 9, Some("lower one of them: --levels 43, or --repeats 7"));
        check(50, 7, None);
        check(43, 9, None);
        check(5, 50, None);
        check(50, 50, Some("lower one of them: --levels 6, or --repeats 7"));
    }

    #[test]
    fn right_above_the_lowest_level_all_is_known() {
        let setup = Setup::new(Granularity::Rate, 100.0, 200.0);
        let (fewest, most) = setup.runs_expected();
        let (soonest, longest) = setup.seconds_expected(&|_| 1.0);
        assert_eq!((fewest, soonest), (most, longest));
        assert!((soonest - f64::from(fewest)).abs() < 1e-9, "{soonest} s, {fewest} runs");
    }

    #[test]
    fn a_step_is_shown_as_requested() {
        let setup = Setup { step: 0.29, ..Setup::new(Granularity::Rate, 100.0, 1e6) };
        let message = setup.check().unwrap_err().message;
        assert!(message.starts_with("--step 29% is not"), "{message}");
    }
}
