//! The parts of a [`RunRecord`](crate::RunRecord) about sessions.

use wavetank_units::Sentence;

use serde::{Deserialize, Serialize};

use crate::{Number, Times};

/// Sessions of one scope: offered = done + failed + dropped + open. A session of a single request
/// is counted as that request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sessions {
    /// Wanted by the plan.
    pub offered: u64,
    /// Began: all but the dropped.
    pub started: u64,
    /// Came to their end without a failed request.
    pub done: u64,
    /// With a failed request, or ended for one.
    pub failed: u64,
    /// Never began; their requests are not offered.
    pub dropped: u64,
    /// Not ended at the end.
    pub open: u64,
}

/// One check of one step, over judged phases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckDoc {
    /// The given name, or the check as written.
    pub name: String,
    /// Name of the step.
    pub step: String,
    /// Name of the scenario; absent for the unnamed one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scenario: String,
    /// Responses that passed the check.
    pub held: u64,
    /// Responses that failed the check. A missing response is not checked.
    pub failed: u64,
}

/// One group of one scenario, over judged phases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupDoc {
    /// Its name.
    pub name: String,
    /// Name of the scenario; absent for the unnamed one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scenario: String,
    /// From the start of its first step to the end of its last.
    pub time_us: Times,
}

/// One rendezvous, over judged phases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RendezvousDoc {
    /// Its name.
    pub name: String,
    /// Number of releases.
    pub met: u64,
    /// Number of these releases that happened because the wait ended before all users had arrived.
    pub by_wait: u64,
    /// Users who left it, over all releases.
    pub present: u64,
    /// The longest time between the first and the last user of a release sending the next request.
    /// Absent if no user sent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew_us: Option<Number>,
    /// The first meetings, [`RendezvousDoc::MEETINGS_MAX`] at most.
    pub meetings: Vec<RendezvousReleaseDoc>,
}

impl RendezvousDoc {
    /// Most releases that are listed; the totals include all of them.
    pub const MEETINGS_MAX: usize = 20;
}

/// One time that users left a rendezvous together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RendezvousReleaseDoc {
    /// Name of the phase of the released users.
    pub phase: String,
    /// Number of users required for a release.
    pub of: u64,
    /// Number of users who were present and left.
    pub present: u64,
    /// The wait was over before all were there.
    pub by_wait: bool,
    /// Number of these users who sent a next request.
    pub sent: u64,
    /// When the first of these was sent, seconds on the run's clock; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_s: Option<Number>,
    /// From the first to the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew_us: Option<Number>,
}

/// The result of the run's `before` or `after`. Its requests are counted under `setup`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookDoc {
    /// Every check that was evaluated, in order.
    pub checks: Vec<HookCheckDoc>,
    /// Steps that failed in another way.
    pub faults: Vec<HookFailureDoc>,
}

/// A check of `before` or `after`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookCheckDoc {
    /// Name of the step.
    pub step: String,
    /// The given name, or the step as written.
    pub name: String,
    /// Whether it passed.
    pub ok: bool,
    /// What was found instead.
    #[serde(default, skip_serializing_if = "Sentence::is_empty")]
    pub found: Sentence,
}

/// A step of `before` or `after` that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookFailureDoc {
    /// Name of the step.
    pub step: String,
    /// A description of the failure.
    pub what: Sentence,
}
