//! [`HookResult`]: what came of the run's `before` or `after`.

/// What came of the run's `before` or of its `after`, as plain values: whoever walked it fills this in, and nothing here
/// is in any counter of the load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookResult {
    /// Requests sent.
    pub sent: u64,
    /// Of them, answered as wanted.
    pub done: u64,
    /// Of them, not answered, or not as wanted.
    pub failed: u64,
    /// Every check that was asked, in order.
    pub checks: Vec<HookCheck>,
    /// Steps that broke otherwise: no answer, an unexpected status, nothing to extract, a variable that is lacking. In order;
    /// a step that broke by a check alone stands among the checks and not here.
    pub faults: Vec<HookFailure>,
}

/// A check of `before` or `after`, and whether it held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookCheck {
    /// The step's name.
    pub step: String,
    /// The check's words, or the name it was given.
    pub check: String,
    /// It held.
    pub held: bool,
    /// What was found instead; empty if it held.
    pub found: String,
}

/// A step of `before` or `after` that broke.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookFailure {
    /// The step's name.
    pub step: String,
    /// How, e.g. `status 500`, `connection refused`, `${sku} was not extracted`.
    pub what: String,
}

impl HookResult {
    /// What broke, each in a line; empty if nothing did. `GET /api: status 500`.
    pub fn failures(&self) -> Vec<String> {
        let faults = self.faults.iter().map(|fault| format!("{}: {}", fault.step, fault.what));
        let checks = self.checks.iter().filter(|check| !check.held);
        let checks =
            checks.map(|check| format!("{}: `{}` broke: found {}", check.step, check.check, check.found));
        faults.chain(checks).collect()
    }
}
