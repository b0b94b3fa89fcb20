//! [`Examples`]: notable requests.

use wavetank_plan::Plan;
use wavetank_record::{RunRecord, SampleLine};

/// Failed requests kept: the first of each step and class.
const FAILED_MAX: usize = 100;
/// Slow answers kept of each step.
const SLOW_MAX: usize = 10;

/// The first failures and the slowest responses of each step, of all load threads. They are
/// gathered line by line, live or from the lines of an archive. A failure of the measured load
/// replaces one of the warm-up, which is not judged.
#[derive(Clone, Debug, Default)]
pub struct Examples {
    /// Names of the warm-up phases.
    warmup: Vec<String>,
    failed: Vec<SampleLine>,
    slow: Vec<SampleLine>,
}

impl Examples {
    /// Selects among the lines of an archive, which has every candidate in the order of writing.
    pub fn select(plan: &Plan, lines: &[SampleLine]) -> Vec<SampleLine> {
        let mut examples = Self::new(plan);
        for line in lines {
            examples.add(line);
        }
        examples.lines()
    }

    /// An empty collection for a run of `plan`.
    pub fn new(plan: &Plan) -> Self {
        let warmup = plan.phases.iter().filter(|phase| phase.warmup).map(|phase| phase.name.clone());
        Self { warmup: warmup.collect(), ..Self::default() }
    }

    /// Keep `line`, unless there are better ones. Returns whether it was kept.
    pub fn add(&mut self, line: &SampleLine) -> bool {
        let step = |of: &SampleLine| (of.scenario.clone(), of.step.clone());
        if line.kind != "slow" {
            let warms_up = |of: &SampleLine| self.warmup.contains(&of.phase);
            let known = self.failed.iter().position(|own| own.class == line.class && step(own) == step(line));
            return match known {
                Some(at) if warms_up(&self.failed[at]) && !warms_up(line) => {
                    self.failed[at] = line.clone();
                    true
                }
                None if self.failed.len() < FAILED_MAX => {
                    self.failed.push(line.clone());
                    true
                }
                _ => false,
            };
        }
        let same = self.slow.iter().enumerate().filter(|(_, own)| step(own) == step(line));
        let same: Vec<_> = same.map(|(at, own)| (at, own.total_us.0)).collect();
        let quickest = same.iter().min_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| same.len() >= SLOW_MAX);
        match quickest {
            Some(&(_, us)) if us >= line.total_us.0 => return false,
            Some(&(at, _)) => self.slow[at] = line.clone(),
            None => self.slow.push(line.clone()),
        }
        true
    }

    /// Returns all examples: failures in order of arrival, then the slowest responses by scenario
    /// and step, slowest first.
    pub fn lines(&self) -> Vec<SampleLine> {
        let mut slow = self.slow.clone();
        slow.sort_by(|a, b| {
            let step = (&a.scenario, &a.step).cmp(&(&b.scenario, &b.step));
            step.then(b.total_us.0.total_cmp(&a.total_us.0)).then(a.intended_ns.cmp(&b.intended_ns))
        });
        self.failed.iter().cloned().chain(slow).collect()
    }
}

/// Whether `sample` belongs to a warm-up: reports have judged phases only, and its phase is not one
/// of them.
pub(crate) fn is_of_warmup(record: &RunRecord, sample: &SampleLine) -> bool {
    let is_judged = || record.phases.iter().any(|phase| phase.name == sample.phase);
    record.warmup.requests.is_some() && !record.phases.is_empty() && !is_judged()
}

#[cfg(test)]
mod tests {
    use wavetank_record::Number;

    use super::*;

    fn slow(step: &str, ms: u64) -> SampleLine {
        let total_us = Number(ms as f64 * 1e3);
        SampleLine { kind: "slow".to_owned(), step: step.to_owned(), total_us, ..SampleLine::default() }
    }

    fn failed(step: &str, class: &str, ms: u64) -> SampleLine {
        SampleLine { kind: "failed".to_owned(), class: class.to_owned(), ..slow(step, ms) }
    }

    #[track_caller]
    fn check(lines: &[SampleLine], expected: &[(&str, &str, u64)]) {
        let mut examples = Examples::default();
        for line in lines {
            examples.add(line);
        }
        let kept = examples.lines();
        let kept: Vec<_> = kept
            .iter()
            .map(|line| (line.class.as_str(), line.step.as_str(), (line.total_us.0 / 1e3) as u64))
            .collect();
        assert_eq!(kept, expected);
        // Reading an archive back keeps the same examples.
        let mut again = Examples::default();
        assert!(examples.lines().iter().all(|line| again.add(line)));
        assert_eq!(again.lines(), examples.lines());
    }

    #[test]
    fn first_failures_and_slowest_answers_of_each_step() {
        check(&[], &[]);
        check(
            &[failed("a", "reset", 1), slow("b", 2), failed("a", "reset", 9), failed("b", "reset", 3)],
            &[("reset", "a", 1), ("reset", "b", 3), ("", "b", 2)],
        );
        let many: Vec<_> = (1..=30).map(|ms| slow("a", ms)).chain([slow("b", 1)]).collect();
        let slowest: Vec<_> = (21..=30).rev().map(|ms| ("", "a", ms)).chain([("", "b", 1)]).collect();
        check(&many, &slowest);
    }

    #[test]
    fn failures_of_the_measured_load_are_preferred() {
        let mut examples = Examples { warmup: vec!["warm".to_owned()], ..Examples::default() };
        let of = |phase: &str, ms: u64| SampleLine { phase: phase.to_owned(), ..failed("a", "reset", ms) };
        let taken = [of("warm", 1), of("warm", 2), of("main", 3), of("main", 4), of("warm", 5)]
            .map(|line| examples.add(&line));
        assert_eq!(taken, [true, false, true, false, false]);
        assert_eq!(examples.lines(), [of("main", 3)]);
    }

    #[test]
    fn failures_are_limited() {
        let mut examples = Examples::default();
        let taken = (0..200).filter(|n| examples.add(&failed(&format!("step {n}"), "reset", 1))).count();
        assert_eq!((taken, examples.lines().len()), (FAILED_MAX, FAILED_MAX));
    }
}
