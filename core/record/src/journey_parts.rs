//! What sessions bring to a [`RunRecord`](crate::RunRecord) beside their requests.

use serde::{Deserialize, Serialize};

use crate::{Number, Times};

/// Sessions of one scope: offered = done + failed + dropped + open. A session that is one request is counted as that.
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
    /// The name it was given, or its words.
    pub name: String,
    /// Name of the step.
    pub step: String,
    /// Name of the scenario; absent for the unnamed one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scenario: String,
    /// Answers that were as wanted.
    pub held: u64,
    /// Answers that were not. One that never came was not asked.
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
    /// From the beginning of its first step to the end of its last.
    pub time_us: Times,
}

/// One rendezvous, over judged phases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RendezvousDoc {
    /// Its name.
    pub name: String,
    /// How many times users left it together.
    pub met: u64,
    /// How many of these times not all came before the wait was over.
    pub by_wait: u64,
    /// Users who left it, over all times.
    pub present: u64,
    /// The longest time from the first to the last of those who left together sending their next request; absent where
    /// nobody sent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew_us: Option<Number>,
    /// The first meetings, [`RendezvousDoc::MEETINGS_MAX`] at most.
    pub meetings: Vec<RendezvousReleaseDoc>,
}

impl RendezvousDoc {
    /// Meetings listed at most; the numbers beside them are of all.
    pub const MEETINGS_MAX: usize = 20;
}

/// One time that users left a rendezvous together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RendezvousReleaseDoc {
    /// Name of the phase of those who met.
    pub phase: String,
    /// How many were waited for.
    pub of: u64,
    /// How many were there and left.
    pub present: u64,
    /// The wait was over before all were there.
    pub by_wait: bool,
    /// How many of them sent a next request.
    pub sent: u64,
    /// When the first of these was sent, seconds on the run's clock; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_s: Option<Number>,
    /// From the first to the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew_us: Option<Number>,
}

/// What came of the run's `before` or `after`. Its requests are counted under `setup`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookDoc {
    /// Every check that was asked, in order.
    pub checks: Vec<HookCheckDoc>,
    /// Steps that broke otherwise.
    pub faults: Vec<HookFailureDoc>,
}

/// A check of `before` or `after`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookCheckDoc {
    /// Name of the step.
    pub step: String,
    /// The name it was given, or its words.
    pub name: String,
    /// It held.
    pub ok: bool,
    /// What was found instead.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub found: String,
}

/// A step of `before` or `after` that broke.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookFailureDoc {
    /// Name of the step.
    pub step: String,
    /// How, in words.
    pub what: String,
}
