//! Describes a run in short form, and compares its diagnosis.
use wavetank_diagnose::{Diagnosis, RunContext, RunEnd, diagnose};
use wavetank_measure::{Interval, Ledger};
use wavetank_plan::Plan;

use crate::common::{Second, condition, plan};

/// A run to be diagnosed.
pub(crate) struct Run {
    pub(crate) plan: Plan,
    pub(crate) seconds: Vec<Interval>,
    pub(crate) ending: RunEnd,
    pub(crate) circumstances: RunContext,
}

/// Twenty seconds of 100 requests each, done after 5 ms; the seconds in `special` are others.
pub(crate) fn run(special: impl IntoIterator<Item = (i64, Second)>) -> Run {
    let mut seconds: Vec<_> = (0..20).map(|at| Second::at(at).done(100, 5).seal()).collect();
    for (at, second) in special {
        seconds[at as usize] = second.seal();
    }
    Run { plan: plan(20), seconds, ending: RunEnd::Finished, circumstances: RunContext::default() }
}

/// Twenty seconds, all made alike.
pub(crate) fn alike(make: impl Fn(Second) -> Second) -> Run {
    run((0..20).map(|at| (at, make(Second::at(at)))))
}

impl Run {
    pub(crate) fn asking(mut self, thresholds: &[&str]) -> Self {
        self.plan.thresholds = thresholds.iter().map(|text| condition(text)).collect();
        self
    }

    pub(crate) fn stopping(mut self, stop: &str) -> Self {
        self.plan.stop = vec![condition(stop)];
        self
    }

    pub(crate) fn closed(mut self) -> Self {
        self.plan = crate::common::closed(self.plan);
        self
    }

    pub(crate) fn on_loopback(mut self) -> Self {
        self.plan.targets[0].addresses = vec!["127.0.0.1:80".parse().expect("an address")];
        self
    }

    pub(crate) fn ending(mut self, ending: RunEnd) -> Self {
        self.ending = ending;
        self
    }

    pub(crate) fn around(mut self, change: impl FnOnce(&mut RunContext)) -> Self {
        change(&mut self.circumstances);
        self
    }

    pub(crate) fn diagnosis(&self) -> Diagnosis {
        let mut book = Ledger::new(&self.plan);
        let mut ending = self.ending.clone();
        for interval in &self.seconds {
            let _ = book.add(interval);
            if let Some((condition, at)) = book.stop_fired() {
                ending = RunEnd::StopFired { condition: condition.to_owned(), at };
                break;
            }
        }
        diagnose(&self.plan, &book, &ending, &self.circumstances)
    }

    /// `status blame exit: reasons`.
    pub(crate) fn said(&self) -> String {
        let Diagnosis { verdict, exit, .. } = self.diagnosis();
        let reasons = verdict.reasons.join("; ");
        format!("{} {} {}: {reasons}", verdict.status.name(), verdict.blame.name(), exit as u8)
            .trim_end_matches(": ")
            .to_owned()
    }

    /// The codes of the findings; a `!` marks decisive ones.
    pub(crate) fn findings(&self) -> Vec<String> {
        let mark = |decisive| if decisive { "!" } else { "" };
        let findings = self.diagnosis().findings;
        findings.iter().map(|finding| format!("{}{}", finding.code, mark(finding.decisive))).collect()
    }
}
