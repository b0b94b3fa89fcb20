//! [`HookResult`]: the result of the run's `before` or `after`.

use wavetank_units::{Sentence, phrase, sentence};

use crate::{Blame, Finding, FindingCode};

/// The result of the run's `before` or `after`, as plain values. The code that executes the steps
/// fills them in, and no counter of the load includes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookResult {
    /// Requests sent.
    pub sent: u64,
    /// Requests with the expected response.
    pub done: u64,
    /// Requests without a response, or with an unexpected one.
    pub failed: u64,
    /// Every check that was asked, in order.
    pub checks: Vec<HookCheck>,
    /// Steps that failed other than by a check, in order: no response, an unexpected status,
    /// nothing to extract, a missing variable. A step that failed only by a check is among the
    /// checks and not here.
    pub faults: Vec<HookFailure>,
}

/// A check of `before` or `after`, and whether it held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookCheck {
    /// The step's name.
    pub step: String,
    /// The check's text, or the name it was given.
    pub check: String,
    /// It held.
    pub held: bool,
    /// The actual value; empty if the check passed.
    pub found: Sentence,
}

/// A step of `before` or `after` that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookFailure {
    /// The step's name.
    pub step: String,
    /// How, e.g. `status 500`, `connection refused`, `${sku} was not extracted`.
    pub what: Sentence,
}

impl HookResult {
    /// Returns the failures, one line each, e.g. `GET /api: status 500`. Empty if nothing failed.
    pub fn failures(&self) -> Vec<Sentence> {
        let faults = self.faults.iter().map(|fault| sentence!("{}: {}", fault.step, fault.what));
        let checks = self.checks.iter().filter(|check| !check.held);
        let checks =
            checks.map(|check| sentence!("{}: `{}` broke: found {}", check.step, check.check, check.found));
        faults.chain(checks).collect()
    }
}

/// Broken steps of `before` or `after` that are findings.
const AROUND_SHOWN_MAX: usize = 3;

/// Returns a finding for each of the first failed steps of `before` or `after`. The record contains
/// the others.
pub(crate) fn around(code: FindingCode, blame: Blame, broken: &[Sentence]) -> Vec<Finding> {
    let finding = |(number, message): (usize, &Sentence)| Finding {
        fix: Vec::new(),
        code,
        blame,
        decisive: true,
        message: message.clone(),
        evidence: Sentence::empty(),
        hint: if number == 0 {
            phrase!("`wavetank try FILE` shows every request, answer and check of it")
        } else {
            Sentence::empty()
        },
    };
    broken.iter().take(AROUND_SHOWN_MAX).enumerate().map(finding).collect()
}
