//! The simulated run and its faults.

use wavetank_plan::Nanos;

/// One world's fate; instants are those of its clock, which begins at 0.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    /// Length of the load.
    pub(crate) plan: Nanos,
    pub(crate) lead_in: Nanos,
    pub(crate) margin: Nanos,
    /// How long a message takes at most.
    pub(crate) delay_max: Nanos,
    pub(crate) faults: Vec<Fault>,
    pub(crate) acts: Vec<(Nanos, Act)>,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            plan: Nanos::from_secs(5),
            lead_in: Nanos::ZERO,
            margin: Nanos::from_millis(100),
            delay_max: Nanos::ZERO,
            faults: Vec::new(),
            acts: Vec::new(),
        }
    }
}

/// An action of the user.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Order a change this long ahead.
    Change { ahead: Nanos },
    /// Drain, for five seconds at most.
    Drain,
    /// Stop.
    Stop,
}

/// A fault.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// Messages take up to that long, each its own time: they overtake each other.
    Delay { max: Nanos },
    /// This percentage of messages arrives twice.
    Duplicate { percent: u64 },
    /// This percentage of messages does not arrive.
    Lose { percent: u64 },
    /// Nothing passes between the controller and one agent for a while.
    Cut { agent: usize, from: Nanos, len: Nanos },
    /// An agent's process dies, and perhaps another one takes its place.
    Crash { agent: usize, at: Nanos, back: Option<Nanos> },
    /// The controller's process dies.
    CrashController { at: Nanos },
    /// Everything is suspended except the clock.
    Suspend { at: Nanos, len: Nanos },
    /// An agent's host cannot prepare.
    Unready { agent: usize },
    /// An agent's host does not end on a drain, only on a stop.
    Deaf { agent: usize },
}
