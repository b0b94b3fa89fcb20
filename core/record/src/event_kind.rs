//! [`EventKind`]: the kinds of events in `events.jsonl`.

/// Declares the kinds with their stored names, so that none is left out of [`EventKind::ALL`].
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// What happened. A stored event has the name, because a later version may have more kinds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum EventKind {
            $($(#[$doc])* $kind,)*
        }

        impl EventKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Its stored name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// The run's `before` is over; the event has the number of its requests.
    BeforeDone = "before_done",
    /// The run's `after` is over; the event has the number of its requests.
    AfterDone = "after_done",
    /// A phase's arrivals ended.
    PhaseEnded = "phase_ended",
    /// A session or a failed step ended the run.
    RunEnded = "run_ended",
    /// A stop condition ended the run.
    StopFired = "stop_fired",
    /// Nothing was done and every request failed, which ended the run.
    Hopeless = "hopeless",
    /// The target did not answer at all, which ended the level of a search.
    Silent = "silent",
    /// A signal asked the run to end.
    SignalReceived = "signal_received",
    /// The drain limit was reached with open requests.
    DrainOver = "drain_over",
    /// A journey logged a line.
    Log = "log",
    /// More lines were logged than are stored.
    LogUntold = "log_untold",
    /// Connections go to other addresses of a name from this moment on.
    NamesMoved = "names_moved",
    /// A repeated lookup of a name failed.
    NamesFailed = "names_failed",
    /// Some addresses of a name are not used.
    NamesRefused = "names_refused",
    /// More addresses changed than are stored.
    NamesUntold = "names_untold",
    /// The target was asked for its own count of connections and does not report one.
    TargetReportsNothing = "target_tells_nothing",
    /// A load thread failed.
    ThreadFailed = "thread_failed",
    /// The counts of an interval contradict each other.
    AccountingBroken = "accounting_broken",
    /// The archive could not be written.
    ArchiveFailed = "archive_failed",
    /// An agent was silent under load and is lost. Readers of the intervals count what it held as
    /// lost from this instant on, unless it has later intervals.
    AgentLost = "agent_lost",
    /// The loss of an agent ended the run, because the user wanted that.
    StoppedOnLoss = "stopped_on_loss",
    /// A lost agent responds again.
    AgentBack = "agent_back",
    /// The shares of agents changed.
    Rebalanced = "rebalanced",
    /// An agent refused a command.
    CommandRefused = "command_refused",
    /// One of the plan's events was carried out.
    EventDone = "event_done",
    /// One of the plan's events could not be carried out and had no effect.
    EventFailed = "event_failed",
    /// One of the plan's events was reverted.
    EventUndone = "event_undone",
    /// One of the plan's events could not be reverted.
    EventStuck = "event_stuck",
    /// The lab of the run is gone.
    LabLost = "lab_lost",
    /// A service of the lab ended without being asked to.
    ServiceEnded = "service_ended",
    /// The connection to an agent changed.
    AgentLink = "agent_link",
    /// An agent refused to start.
    StartRefused = "start_refused",
    /// An agent kept intervals that the controller does not have.
    SpoolKept = "spool_kept",
    /// Intervals that an agent had kept were added to the archive after the run.
    Settled = "settled",
    /// An interval of an agent could not be stored.
    IntervalUnstored = "interval_unstored",
    /// `wavetank stop` ended the run.
    StopRequested = "stop_requested",
    /// The load of a phase was changed while it ran. `at_ns` is the instant from which the new load
    /// applies.
    LoadChanged = "load_changed",
    /// The user marked an instant (`wavetank event`).
    Marked = "marked",
    /// A receiver of metrics lost intervals.
    MetricsLost = "metrics_lost",
}

impl EventKind {
    /// The kind with this stored name, if this version knows it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl PartialEq<EventKind> for String {
    fn eq(&self, kind: &EventKind) -> bool {
        self == kind.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_name_of_its_own() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_name(kind.name()), Some(*kind));
        }
        assert_eq!(EventKind::from_name("phase_began"), None, "a later version may have it");
    }
}
