//! Faults of a host: begun, and undone whatever happens to who asked for them.
//!
//! All of it happens inside the host: signals and limits to the processes of its services, filters on its interfaces,
//! weights of its pools, commands in its shell. What dies with the host need not be undone.

mod command;
mod desired;
mod fd_limit;
mod packet_loss;
mod processes;
mod service_fault;
mod slow;

use serde_json::Value;
use wavetank_plan::UserError;
use wavetank_topology::{FaultKind, HostAction, Lab, PoolAction};

use crate::service::Services;
use command::shell;
use desired::DesiredFault;
use packet_loss::LossFilter;
use service_fault::ServiceFault;

/// Faults under way in one host at most.
pub(crate) const FAULTS_MAX: usize = 64;

/// The faults under way in one host, in the host's process.
#[derive(Debug)]
pub struct Faults {
    host: String,
    /// Number of the next one.
    next: u64,
    active: Vec<(u64, Active)>,
    /// Services that faults were at.
    grips: Vec<ServiceFault>,
}

/// What it takes to undo one.
#[derive(Debug)]
enum Active {
    /// A service does what is wanted of it by those that are left.
    Service(String, FaultKind),
    /// The interface passes everything again.
    Filter(LossFilter),
    /// Servers behind a balancer take as many connections as before, and meanwhile as many as was wished.
    Pool { wished: PoolAction, before: PoolAction },
    /// A command of the user's, which takes back another one.
    Command(String),
}

impl Faults {
    /// None so far, in `lab.hosts[host]`.
    pub fn new(lab: &Lab, host: usize) -> Self {
        Self { host: lab.hosts[host].name.clone(), next: 1, active: Vec::new(), grips: Vec::new() }
    }

    /// Begins what is asked for, a [`HostAction`] as JSON; its number is for [`end`](Self::end), which what does not
    /// [last](lasts) has none of.
    ///
    /// # Errors
    /// What the host does not do, or not any more: nothing has happened then.
    pub fn begin(&mut self, what: &Value, services: &mut Services) -> Result<u64, UserError> {
        let deed: HostAction = serde_json::from_value(what.clone()).map_err(|error| {
            let message = format!("host {} does not know this fault: {error}", self.host);
            UserError::refused("lab_message", message, "is the lab of another version of wavetank?")
        })?;
        if lasts(what) && self.active.len() >= FAULTS_MAX {
            let message = format!("host {} has {FAULTS_MAX} faults under way", self.host);
            return Err(UserError::refused("lab_faults_many", message, "end some of them before"));
        }
        let active = match deed {
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
    /// One that is not under way, or what kept it from being undone: it is forgotten all the same.
    pub fn end(&mut self, id: u64, services: &mut Services) -> Result<(), UserError> {
        let Some(place) = self.active.iter().position(|(own, _)| *own == id) else {
            let message = format!("host {} has no fault {id}", self.host);
            return Err(UserError::usage("lab_fault_unknown", message, "it may have ended already"));
        };
        let (_, active) = self.active.remove(place);
        self.undo(place, active, services)
    }

    /// The host is about to end: what stands still goes on, so that it can `stop` in order, and beside that commands are
    /// undone, the last one first, since either may take longer than there is time for both. Nothing is started again for
    /// that.
    pub fn end_all(&mut self, stop: impl FnOnce()) {
        self.grips.iter_mut().for_each(ServiceFault::resume);
        let (host, all) = (self.host.as_str(), std::mem::take(&mut self.active));
        let undo = || {
            for (_, active) in all.iter().rev() {
                if let Active::Command(undo) = active {
                    // There is nobody left to tell.
                    let _ = shell(host, undo);
                }
            }
        };
        std::thread::scope(|scope| {
            let beside = std::thread::Builder::new().name("undo".to_owned()).spawn_scoped(scope, undo);
            stop();
            if beside.is_err() {
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
        let service = fault.service().expect("all others are about one").to_owned();
        self.can_be_felt(&fault, &service, services)?;
        if let Err(error) = self.settle(&service, Some(&fault), services) {
            // What was under way before goes on as it did; why it might not is not what was asked.
            let _ = self.settle(&service, None, services);
            return Err(error);
        }
        Ok(Active::Service(service, fault))
    }

    /// Undoes `active`, which was at `place` of all.
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

    /// Makes `service` do what the faults under way want of it, `more` among them.
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

    /// A balancer that was started again may know of its pool what the topology file says and nothing else.
    fn renew_pool(&self, service: &str, services: &mut Services) -> Result<(), UserError> {
        let wished = self.active.iter().filter_map(|(_, active)| match active {
            Active::Pool { wished, .. } if wished.service == service => Some(wished),
            _ => None,
        });
        // What one wish comes to is nothing to the others.
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

    /// Whether there are processes that would feel the fault, or whoever ended them has yet to let them start again.
    fn can_be_felt(
        &mut self,
        fault: &FaultKind,
        service: &str,
        services: &Services,
    ) -> Result<(), UserError> {
        let ends = matches!(fault, FaultKind::Kill { .. } | FaultKind::Stop { .. });
        let pids = services.pids(service);
        if matches!(fault, FaultKind::Files { .. }) && fd_limit::any_on_io_uring(&pids) {
            let message = format!(
                "service {service} of host {} has an io_uring, whose sockets may be no files that a limit counts",
                self.host
            );
            let hint = "have it use epoll; `wavetank serve` does with `options: [--engine, epoll]` in the topology file";
            return Err(UserError::refused("lab_fault_failed", message, hint));
        }
        if processes::any_alive(&pids) || (ends && self.grip(service).down) {
            return Ok(());
        }
        let message = format!("service {service} of host {} has no process that runs", self.host);
        Err(UserError::refused("lab_fault_vacant", message, "wavetank lab status tells how services do"))
    }
}

/// Whether `what`, a [`HostAction`] as JSON, is under way until it is ended: a command that nothing takes back is not.
pub(crate) fn lasts(what: &Value) -> bool {
    let deed = serde_json::from_value(what.clone());
    !matches!(deed, Ok(HostAction::Command { undo: None, .. }))
}

/// What of a pool is left to restore: what was changed again by one of those that began `later` is theirs to restore.
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
    let message = format!("host {host}: the fault did not work: {error}");
    UserError::refused("lab_fault_failed", message, "wavetank lab status tells how the host does")
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

    fn deed(undo: Option<&str>) -> Value {
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
            faults.begin(&deed(Some(&undo)), &mut services).expect("it is done");
        }
        faults.end_all(|| std::fs::write(&stopped, "").expect("can be written"));
        assert_eq!(std::fs::read_to_string(&undone).expect("it is there"), "two\none\n");
    }

    #[test]
    fn a_command_that_nothing_takes_back_is_not_under_way() {
        let (mut faults, mut services) = faults();
        assert!(
            !lasts(&deed(None))
                && lasts(&deed(Some("true")))
                && lasts(&json!("what this version does not know"))
        );
        for _ in 0..=FAULTS_MAX {
            faults.begin(&deed(None), &mut services).expect("there is room for any number");
        }
        let id = faults.begin(&deed(Some("true")), &mut services).expect("there is room");
        assert_eq!(faults.active.len(), 1);
        faults.end(id, &mut services).expect("it is under way");
    }

    #[test]
    fn what_was_changed_again_is_restored_by_whom_it_was_changed_last() {
        let deed = |service: &str, wishes: &[(usize, ServerMode)]| PoolAction {
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
        let first = deed("a", &[(0, ready), (1, three)]);
        check(&first, &[], &first, &[]);
        // Of those that changed it again the next one.
        let later =
            [deed("b", &[(0, drain)]), deed("a", &[(0, drain)]), deed("a", &[(0, three), (2, drain)])];
        let then = [deed("b", &[(0, drain)]), deed("a", &[(0, ready)]), deed("a", &[(0, three), (2, drain)])];
        check(&first, &later, &deed("a", &[(1, three)]), &then);
    }
}
