//! [`PlannedLab`]: the lab that a run will use.

use wavetank_experiment::Experiment;
use wavetank_lab::check_events;
use wavetank_plan::Condition;
use wavetank_topology::{HostAction, Lab, planned_events};
use wavetank_units::{Nanos, UserError};

use wavetank_runner::{LabRun, check_host_condition};

/// A lab before it is entered. The run is checked against the topology, so that a mistake is
/// reported before the lab is created.
pub(super) struct PlannedLab<'a> {
    /// The topology.
    pub(super) lab: &'a Lab,
    /// Brings the lab up, unless it is already up, and moves this process into it.
    pub(super) enter: Box<dyn FnOnce() -> Result<LabRun, UserError> + 'a>,
}

impl PlannedLab<'_> {
    /// Checks that the lab has the hosts that conditions refer to.
    pub(super) fn check_hosts_exist<'c>(
        &self,
        mut conditions: impl Iterator<Item = &'c Condition>,
    ) -> Result<(), UserError> {
        conditions.try_for_each(|one| check_host_condition(self.lab, &one.subject, &one.text))
    }

    /// Checks that the lab and this machine support the events of the experiment.
    pub(super) fn check_events(&self, experiment: &Experiment) -> Result<(), UserError> {
        let events = planned_events(self.lab, &experiment.event_plans(Nanos::ZERO))?;
        let deeds: Result<Vec<HostAction>, _> =
            events.iter().map(|event| HostAction::from_event(event, self.lab)).collect();
        check_events(self.lab, &deeds?)
    }

    /// Enters the lab, if the run has one.
    pub(super) fn enter(ahead: Option<Self>) -> Result<Option<LabRun>, UserError> {
        ahead.map(|ahead| (ahead.enter)()).transpose()
    }
}
