//! [`PlannedLab`]: the lab that a run will use.

use wavetank_experiment::Experiment;
use wavetank_lab::check_events;
use wavetank_plan::{Condition, Subject, THIS_HOST, matches_host};
use wavetank_topology::{HostAction, Lab, planned_events};
use wavetank_units::{Code, Nanos, UserError};

use super::lab_run::{LabRun, check_host_condition};

/// A lab before it is entered. The run is checked against the topology, so that a mistake is
/// reported before the lab is created.
pub struct PlannedLab<'a> {
    /// The topology.
    pub lab: &'a Lab,
    /// Brings the lab up, unless it is already up, and moves this process into it.
    pub enter: Box<dyn FnOnce() -> Result<LabRun, UserError> + 'a>,
}

impl PlannedLab<'_> {
    /// Checks that the lab has the hosts that conditions refer to.
    ///
    /// # Errors
    /// A host that the lab does not have.
    pub fn check_hosts_exist<'c>(
        &self,
        mut conditions: impl Iterator<Item = &'c Condition>,
    ) -> Result<(), UserError> {
        conditions.try_for_each(|one| check_host_condition(self.lab, &one.subject, &one.text))
    }

    /// Checks that the lab and this machine support the events of the experiment.
    pub fn check_events(&self, experiment: &Experiment) -> Result<(), UserError> {
        let events = planned_events(self.lab, &experiment.event_plans(Nanos::ZERO))?;
        let actions: Result<Vec<HostAction>, _> =
            events.iter().map(|event| HostAction::from_event(event, self.lab)).collect();
        check_events(self.lab, &actions?)
    }

    /// Enters the lab, if the run has one.
    pub fn enter(ahead: Option<Self>) -> Result<Option<LabRun>, UserError> {
        ahead.map(|ahead| (ahead.enter)()).transpose()
    }
}

/// Refuses features of a file that a run on one host does not support.
pub fn check_supported(
    experiment: &Experiment,
    rehearsal: bool,
    lab: Option<&PlannedLab<'_>>,
    observed: &[String],
) -> Result<(), UserError> {
    let refused = |code, message: String, hint: &str| Err(UserError::usage(code, message, hint));
    if let (Some(event), None) = (experiment.events.first(), lab) {
        let message = format!("events: cannot run a command on {}", event.host.value);
        return refused(
            Code::EventsAlone,
            message,
            "wavetank lab run LAB FILE runs them in a lab; or leave events out",
        );
    }
    let conditions = experiment.thresholds.iter().chain(&experiment.stop);
    if let Some(lab) = lab {
        return lab
            .check_hosts_exist(conditions.map(|one| &one.value))
            .and_then(|()| lab.check_events(experiment));
    }
    let is_unobserved = |subject: &Subject| {
        let Subject::Host(_, pattern) = subject else { return false };
        let mut sampled = observed.iter().map(String::as_str).chain([THIS_HOST]);
        !sampled.any(|name| matches_host(pattern, name))
    };
    let mut unobserved = conditions.filter(|one| is_unobserved(&one.value.subject));
    if let Some(condition) = unobserved.next()
        && !rehearsal
    {
        let message = format!("`{}`: that host is not sampled", condition.value.text);
        let hint = "`local` is this host: cpu(local) < 90%; --observe HOST samples another one; --scale or --speed rehearse without it; in a lab hosts are observed: wavetank lab run LAB FILE";
        return refused(Code::HostUnobserved, message, hint);
    }
    Ok(())
}
