//! [`RunEnd`] and [`RunContext`]: how the run ended, and what surrounded it.

use wavetank_measure::ErrorClass;
use wavetank_plan::Nanos;

use crate::HookResult;

/// How the run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnd {
    /// As planned, drained or not.
    Finished,
    /// SIGINT or SIGTERM.
    Signal,
    /// Stopped from page or fleet.
    Stopped,
    /// A stop condition fired.
    StopFired {
        /// The condition's text.
        condition: String,
        /// The seal at which it was seen.
        at: Nanos,
    },
    /// A request failed in a step whose `on_failure` ends the run.
    StepFailed {
        /// The step's name.
        step: String,
        /// Its scenario's; empty where there is but one, without a name.
        scenario: String,
    },
    /// Nothing done in the first seconds, and everything failed alike.
    Hopeless {
        /// How everything failed.
        class: ErrorClass,
    },
    /// The uncounted probe got no answer; nothing else was sent.
    ProbeFailed {
        /// How it failed.
        class: ErrorClass,
        /// The probe's own words, e.g. `connection refused`.
        message: String,
    },
    /// The load threads did not get ready in time; no load was sent.
    NeverBegan {
        /// How long they were given.
        waited: Nanos,
    },
    /// A step or check of the run's `before` broke, as [`RunContext::before`] says; no load was sent.
    BeforeFailed,
}

/// What surrounded the run, as far as the caller knows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunContext {
    /// Load and target share this host.
    pub same_host: bool,
    /// CPUs this process was allowed.
    pub cpus: u32,
    /// Share of CPU time the hypervisor took.
    pub steal: Option<f64>,
    /// Intervals or agents that are missing, in words; each makes the run incomplete.
    pub lost: Vec<String>,
    /// Violations of conservation that single threads or agents found in themselves, in words; they void the run.
    pub accounting: Vec<String>,
    /// In what words the first failure of a class was told, where its cure depends on them: of TLS, and of tunnels
    /// through a proxy. A few at most.
    pub faults: Vec<(ErrorClass, String)>,
    /// A knee was sought: a full generator voids it.
    pub knee_sought: bool,
    /// `--scale` or `--speed`: a rehearsal, in which an undecided threshold is only noted.
    pub rehearsal: bool,
    /// What came of the run's `before`.
    pub before: HookResult,
    /// What came of the run's `after`. What broke in it makes the run fail, however the load ended.
    pub after: HookResult,
    /// What the doctor found on the way to what is under test: doubts.
    pub path: Vec<crate::Finding>,
}
