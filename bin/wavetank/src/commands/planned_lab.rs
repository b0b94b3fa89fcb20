//! [`PlannedLab`]: a lab that a run is to be made in.

use wavetank_experiment::Experiment;
use wavetank_lab::check_events;
use wavetank_plan::{Condition, Nanos, UserError};
use wavetank_topology::{HostAction, Lab, planned_events};

use crate::run::{LabRun, check_host_condition};

/// A lab on paper, and the way into it. What a run asks of it is held against the paper, so that a mistake is told before a
/// lab is made for nothing.
pub(super) struct PlannedLab<'a> {
    /// What it is.
    pub(super) lab: &'a Lab,
    /// Brings it up, unless it is up already, and moves this process into it.
    pub(super) enter: Box<dyn FnOnce() -> Result<LabRun, UserError> + 'a>,
}

impl PlannedLab<'_> {
    /// Whether the lab has the hosts that conditions are about.
    pub(super) fn check_hosts_exist<'c>(
        &self,
        mut conditions: impl Iterator<Item = &'c Condition>,
    ) -> Result<(), UserError> {
        conditions.try_for_each(|one| check_host_condition(self.lab, &one.subject, &one.text))
    }

    /// Whether what the experiment does to hosts can be done in the lab, and on this machine.
    pub(super) fn check_events(&self, experiment: &Experiment) -> Result<(), UserError> {
        let events = planned_events(self.lab, &experiment.event_plans(Nanos::ZERO))?;
        let deeds: Result<Vec<HostAction>, _> =
            events.iter().map(|event| HostAction::from_event(event, self.lab)).collect();
        check_events(self.lab, &deeds?)
    }

    /// Into the lab; there is none in most runs.
    pub(super) fn enter(ahead: Option<Self>) -> Result<Option<LabRun>, UserError> {
        ahead.map(|ahead| (ahead.enter)()).transpose()
    }
}
