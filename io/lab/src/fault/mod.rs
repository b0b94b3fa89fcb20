//! Faults of a host: started on request, and undone in any case, whatever happens to the requester.
//!
//! All of them act inside the host: signals and limits for the processes of its services, filters
//! on its interfaces, weights of its pools, commands in its shell. Effects that die with the host
//! need not be undone.

mod command;
mod desired;
mod fd_limit;
mod packet_loss;
mod processes;
mod service_fault;
mod slow;

use serde_json::Value;
use wavetank_topology::{FaultKind, HostAction, Lab, PoolAction};
use wavetank_units::{Code, UserError, sentence};

use crate::service::Services;
use command::shell;
use desired::DesiredFault;
use packet_loss::LossFilter;
use service_fault::ServiceFault;

/// Maximum number of active faults in one host.
pub(crate) const FAULTS_MAX: usize = 64;

/// The active faults of one host, in the host's process.
#[derive(Debug)]
pub struct Faults {
    host: String,
    /// The number of the next fault.
    next: u64,
    active: Vec<(u64, Active)>,
    /// The state of each service that had a fault.
    grips: Vec<ServiceFault>,
}

/// What is needed to undo a fault.
#[derive(Debug)]
enum Active {
    /// Puts the service into the state that the remaining faults require.
    Service(String, FaultKind),
    /// Removes the filter, so that the interface passes all packets.
    Filter(LossFilter),
    /// Restores the server modes behind a balancer; `wished` is the change while the fault is
    /// active.
    Pool { wished: PoolAction, before: PoolAction },
    /// Runs a user's command that undoes another one.
    Command(String),
}

impl Faults {
    /// Returns the empty set of faults of `lab.hosts[host]`.
    pub fn new(lab: &Lab, host: usize) -> Self {
        Self { host: lab.hosts[host].name.clone(), next: 1, active: Vec::new(), grips: Vec::new() }
    }

    /// Starts the requested fault, a [`HostAction`] as JSON. Returns its number for
    /// [`end`](Self::end). An action that does not [last](lasts) does not need an end.
    ///
    /// # Errors
    /// An action that the host does not support, or not any more. Nothing has changed in that case.
    pub fn begin(&mut self, what: &Value, services: &mut Services) -> Result<u64, UserError> {
        let action: HostAction = serde_json::from_value(what.clone()).map_err(|error| {
            let message = sentence!("host {} does not know this fault: {error}", self.host);
            UserError::refused(Code::LabMessage, message, "is the lab of another version of wavetank?")
        })?;
        if lasts(what) && self.active.len() >= FAULTS_MAX {
            let message = sentence!("host {} has {FAULTS_MAX} active faults", self.host);
            return Err(UserError::refused(Code::LabFaultsMany, message, "end some of them first"));
        }
        let active = match action {
            HostAction::Fault(fault) => Some(self.fault(fault, services)?),
            HostAction::Pool(wished) => Some(Active::Pool { before: services.change_pool(&wished)?, wished }),
            HostAction::Command { run, undo } => {
                shell(&self.host, &run)?;
                undo.map(Active::Command)
            }
        };
        let id = self.next;
        self.next += 1;
        self.active.extend(active.map(|active| (id, active)));
        Ok(id)
    }

    /// Undoes the fault of this number.
    ///
    /// # Errors
    /// A fault that is not active, or the reason why it cannot be undone. The fault is removed from
    /// the list in any case.
    pub fn end(&mut self, id: u64, services: &mut Services) -> Result<(), UserError> {
        let Some(place) = self.active.iter().position(|(own, _)| *own == id) else {
            let message = sentence!("host {} has no fault {id}", self.host);
            return Err(UserError::usage(Code::LabFaultUnknown, message, "it may have ended already"));
        };
        let (_, active) = self.active.remove(place);
        self.undo(place, active, services)
    }

    /// Ends all faults because the host is about to end. Stopped processes are resumed, so that
    /// `stop` can end them in order. Commands are undone in parallel, the last one first, since
    /// either may take longer than there is time for both. Services are not started again for this.
    pub fn end_all(&mut self, stop: impl FnOnce()) {
        self.grips.iter_mut().for_each(ServiceFault::resume);
        let (host, all) = (self.host.as_str(), std::mem::take(&mut self.active));
        let undo = || {
            for (_, active) in all.iter().rev() {
                if let Active::Command(undo) = active {
                    // The requester is gone, so an error cannot be reported.
                    let _ = shell(host, undo);
                }
            }
        };
        std::thread::scope(|scope| {
            let alongside = std::thread::Builder::new().name("undo".to_owned()).spawn_scoped(scope, undo);
            stop();
            if alongside.is_err() {
                undo();
            }
        });
    }

    fn fault(&mut self, fault: FaultKind, services: &mut Services) -> Result<Active, UserError> {
        let lost = |interface: &str, share: Option<u32>| {
            LossFilter::begin(&self.host, self.next, interface, share).map(Active::Filter)
        };
        match &fault {
            FaultKind::Cut { interface } => return lost(interface, None),
            FaultKind::Drop { interface, share_ppm } => return lost(interface, Some(*share_ppm)),
            _ => {}
        }
        let service = fault.service().expect("all other faults name a service").to_owned();
        self.can_be_felt(&fault, &service, services)?;
        if let Err(error) = self.settle(&service, Some(&fault), services) {
            // The previously active faults continue. A failure to restore them is not the error to
            // report.
            let _ = self.settle(&service, None, services);
            return Err(error);
        }
        Ok(Active::Service(service, fault))
    }

    /// Undoes `active`, which was at index `place` of the list.
    fn undo(&mut self, place: usize, active: Active, services: &mut Services) -> Result<(), UserError> {
        match active {
            Active::Service(service, _) => self.settle(&service, None, services),
            Active::Filter(filter) => filter.end(),
            Active::Pool { before, .. } => {
                let left = handed_on(before, &mut self.active[place..]);
                if left.wishes.is_empty() { Ok(()) } else { services.restore_pool(&left) }
            }
            Active::Command(undo) => shell(&self.host, &undo),
        }
    }

    /// Puts `service` into the state that its active faults and `more` require.
    fn settle(
        &mut self,
        service: &str,
        more: Option<&FaultKind>,
        services: &mut Services,
    ) -> Result<(), UserError> {
        let under_way = self.active.iter().filter_map(|(_, active)| match active {
            Active::Service(own, fault) if own == service => Some(fault),
            _ => None,
        });
        let wanted = DesiredFault::required_by(under_way.chain(more));
        let was_down = self.grip(service).down;
        self.grip(service).apply(&wanted, services)?;
        if was_down && wanted.down.is_none() { self.renew_pool(service, services) } else { Ok(()) }
    }

    /// Repeats the pool changes on a restarted balancer, which may only know the topology file's
    /// pool.
    fn renew_pool(&self, service: &str, services: &mut Services) -> Result<(), UserError> {
        let wished = self.active.iter().filter_map(|(_, active)| match active {
            Active::Pool { wished, .. } if wished.service == service => Some(wished),
            _ => None,
        });
        // The changes are independent; a failed one does not stop the others.
        let all: Vec<_> = wished.map(|wished| services.change_pool(wished).map(drop)).collect();
        all.into_iter().collect()
    }

    fn grip(&mut self, service: &str) -> &mut ServiceFault {
        let place = self.grips.iter().position(|grip| grip.service == service).unwrap_or_else(|| {
            self.grips.push(ServiceFault::for_service(&self.host, service));
            self.grips.len() - 1
        });
        &mut self.grips[place]
    }

    /// Fails unless there are processes that the fault can affect, or an active fault has ended
    /// them and not yet restarted them.
    fn can_be_felt(
        &mut self,
        fault: &FaultKind,
        service: &str,
        services: &Services,
    ) -> Result<(), UserError> {
        let ends = matches!(fault, FaultKind::Kill { .. } | FaultKind::Stop { .. });
        let pids = services.pids(service);
        if matches!(fault, FaultKind::Files { .. }) && fd_limit::any_on_io_uring(&pids) {
            let message = sentence!(
                "service {service} of host {} uses io_uring, so a file limit may not count its sockets",
                self.host
            );
            let hint = "make it use epoll; for `wavetank serve` set `options: [--engine, epoll]` in the topology file";
            return Err(UserError::refused(Code::LabFaultFailed, message, hint));
        }
        if processes::any_alive(&pids) || (ends && self.grip(service).down) {
            return Ok(());
        }
        let message = sentence!("service {service} of host {} has no running process", self.host);
        Err(UserError::refused(
            Code::LabFaultVacant,
            message,
            "check the services with `wavetank lab status`",
        ))
    }
}

/// Whether `what`, a [`HostAction`] as JSON, stays active until it is ended. A command without an
/// undo command does not.
pub(crate) fn lasts(what: &Value) -> bool {
    let action = serde_json::from_value(what.clone());
    !matches!(action, Ok(HostAction::Command { undo: None, .. }))
}

/// Returns what is left to restore of a pool. A server that was changed again by a fault started
/// `later` is left to that fault.
fn handed_on(before: PoolAction, later: &mut [(u64, Active)]) -> PoolAction {
    let PoolAction { service, mut wishes } = before;
    let mut pools: Vec<&mut PoolAction> = later
        .iter_mut()
        .filter_map(|(_, active)| match active {
            Active::Pool { before, .. } if before.service == service => Some(before),
            _ => None,
        })
        .collect();
    wishes.retain(|&(server, wish)| {
        let mut all = pools.iter_mut().flat_map(|pool| &mut pool.wishes);
        all.find(|(own, _)| *own == server).map(|(_, back)| *back = wish).is_none()
    });
    PoolAction { service, wishes }
}

fn failed(host: &str, error: &std::io::Error) -> UserError {
    let message = sentence!("host {host}: the fault failed: {error}");
    UserError::refused(Code::LabFaultFailed, message, "check the host with `wavetank lab status`")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;
    use wavetank_topology::{Input, MachineFacts, ServerMode, read};

    use super::*;

    /// The faults of a host without services.
    fn faults() -> (Faults, Services) {
        let text =
            "wavetank_lab: 1\nname: x\nnetworks: {net: 10.30.0.0/24}\nhosts:\n  a1: {networks: [net]}\n";
        let files = |_: &str| Err("no such file".to_owned());
        let input = Input {
            name: "lab.yaml",
            bytes: text.as_bytes(),
            files: &files,
            machine: MachineFacts::default(),
        };
        let lab = read(&input).lab.expect("nothing is wrong with it");
        (Faults::new(&lab, 0), Services::new(&lab, 0, Path::new("/"), "lab.yaml"))
    }

    fn action(undo: Option<&str>) -> Value {
        json!(HostAction::Command { run: "true".to_owned(), undo: undo.map(str::to_owned) })
    }

    #[test]
    fn at_the_end_commands_are_undone_while_services_stop() {
        let (mut faults, mut services) = faults();
        let folder = tempfile::tempdir().expect("temporary folders can be made");
        let (stopped, undone) = (folder.path().join("stopped"), folder.path().join("undone"));
        let waiting = format!(
            "until test -e {}; do sleep 0.01; done; echo two >> {}",
            stopped.display(),
            undone.display()
        );
        for undo in [format!("echo one >> {}", undone.display()), waiting] {
            faults.begin(&action(Some(&undo)), &mut services).expect("it is done");
        }
        faults.end_all(|| std::fs::write(&stopped, "").expect("can be written"));
        assert_eq!(std::fs::read_to_string(&undone).expect("it is there"), "two\none\n");
    }

    #[test]
    fn a_command_without_a_revert_is_not_in_progress() {
        let (mut faults, mut services) = faults();
        assert!(
            !lasts(&action(None))
                && lasts(&action(Some("true")))
                && lasts(&json!("what this version does not know"))
        );
        for _ in 0..=FAULTS_MAX {
            faults.begin(&action(None), &mut services).expect("there is room for any number");
        }
        let id = faults.begin(&action(Some("true")), &mut services).expect("there is room");
        assert_eq!(faults.active.len(), 1);
        faults.end(id, &mut services).expect("it is active");
    }

    #[test]
    fn what_was_changed_again_is_restored_by_whom_it_was_changed_last() {
        let action = |service: &str, wishes: &[(usize, ServerMode)]| PoolAction {
            service: service.to_owned(),
            wishes: wishes.to_vec(),
        };
        let active =
            |before: &PoolAction| (1, Active::Pool { wished: before.clone(), before: before.clone() });
        let check = |before: &PoolAction, later: &[PoolAction], left: &PoolAction, then: &[PoolAction]| {
            let mut all: Vec<_> = later.iter().map(active).collect();
            assert_eq!(handed_on(before.clone(), &mut all), *left, "{later:?}");
            let befores: Vec<&PoolAction> = all
                .iter()
                .filter_map(|(_, active)| match active {
                    Active::Pool { before, .. } => Some(before),
                    _ => None,
                })
                .collect();
            assert_eq!(befores, then.iter().collect::<Vec<_>>(), "{before:?}");
        };
        let (drain, ready, three) = (ServerMode::Drain, ServerMode::Ready, ServerMode::Weight(3));
        let first = action("a", &[(0, ready), (1, three)]);
        check(&first, &[], &first, &[]);
        // The restoration passes to the next fault that changed the server again.
        let later =
            [action("b", &[(0, drain)]), action("a", &[(0, drain)]), action("a", &[(0, three), (2, drain)])];
        let then =
            [action("b", &[(0, drain)]), action("a", &[(0, ready)]), action("a", &[(0, three), (2, drain)])];
        check(&first, &later, &action("a", &[(1, three)]), &then);
    }
}
