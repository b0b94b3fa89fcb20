//! Faults of a host: begun, and undone whatever happens to who asked for them.
//!
//! All of it happens inside the host: signals and limits to the processes of its services, filters on its interfaces,
//! weights of its pools, commands in its shell. What dies with the host need not be undone.

mod cable;
mod command;
mod files;
mod processes;
mod slow;

use serde_json::Value;
use wavetank_plan::UserError;
use wavetank_topology::{Deed, FaultKind, Lab, PoolDeed};

use crate::service::Services;
use cable::Filter;
use command::shell;
use files::Limited;
use processes::Held;
use slow::Slowdown;

/// Faults under way in one host at most.
const FAULTS_MAX: usize = 64;

/// The faults under way in one host, in the host's process.
#[derive(Debug)]
pub struct Faults {
    host: String,
    /// Number of the next one.
    next: u64,
    active: Vec<(u64, Active)>,
}

/// What it takes to undo one.
#[derive(Debug)]
enum Active {
    /// The service is started again.
    Start(String),
    /// The processes go on.
    Resume(Vec<Held>),
    /// The interface passes everything again.
    Filter(Filter),
    /// The processes may open as many files as before.
    Limited(Vec<Limited>),
    /// The processes stand still no more.
    Slow(Slowdown),
    /// Servers behind a balancer take as many connections as before.
    Pool(PoolDeed),
    /// A command of the user's.
    Command(Option<String>),
}

impl Faults {
    /// None so far, in `lab.hosts[host]`.
    pub fn new(lab: &Lab, host: usize) -> Self {
        Self { host: lab.hosts[host].name.clone(), next: 1, active: Vec::new() }
    }

    /// Begins what is asked for, a [`Deed`] as JSON; its number is for [`end`](Self::end).
    ///
    /// # Errors
    /// What the host does not do, or not any more: nothing has happened then.
    pub fn begin(&mut self, what: &Value, services: &mut Services) -> Result<u64, UserError> {
        if self.active.len() >= FAULTS_MAX {
            let message = format!("host {} has {FAULTS_MAX} faults under way", self.host);
            return Err(UserError::refused("lab_faults_many", message, "end some of them before"));
        }
        let deed: Deed = serde_json::from_value(what.clone()).map_err(|error| {
            let message = format!("host {} does not know this fault: {error}", self.host);
            UserError::refused("lab_message", message, "is the lab of another version of wavetank?")
        })?;
        let active = match deed {
            Deed::Fault(fault) => self.fault(fault, services)?,
            Deed::Pool(deed) => Active::Pool(services.change_pool(&deed)?),
            Deed::Command { run, undo } => {
                shell(&self.host, &run)?;
                Active::Command(undo)
            }
        };
        let id = self.next;
        self.next += 1;
        self.active.push((id, active));
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
        self.undo(active, services)
    }

    /// Undoes all of them, the last one first: what one stopped another may have slowed down before.
    pub fn end_all(&mut self, services: &mut Services) {
        while let Some((_, active)) = self.active.pop() {
            // Who ends all of them takes the host down, or has nobody left to tell.
            let _ = self.undo(active, services);
        }
    }

    fn fault(&self, fault: FaultKind, services: &mut Services) -> Result<Active, UserError> {
        Ok(match fault {
            FaultKind::Kill { service } => {
                processes::kill(&self.processes(&service, services)?).map_err(|error| self.failed(&error))?;
                Active::Start(service)
            }
            FaultKind::Stop { service } => {
                self.processes(&service, services)?;
                services.stop_one(&service)?;
                Active::Start(service)
            }
            FaultKind::Pause { service } => {
                let roots = self.processes(&service, services)?;
                Active::Resume(processes::frozen(&roots).map_err(|error| self.failed(&error))?)
            }
            FaultKind::Cut { interface } => {
                Active::Filter(Filter::begin(&self.host, self.next, &interface, None)?)
            }
            FaultKind::Drop { interface, share_ppm } => {
                Active::Filter(Filter::begin(&self.host, self.next, &interface, Some(share_ppm))?)
            }
            FaultKind::Files { service, limit } => {
                let roots = self.processes(&service, services)?;
                Active::Limited(files::limit(&roots, limit).map_err(|error| self.failed(&error))?)
            }
            FaultKind::Slow { service, delay } => {
                let roots = self.processes(&service, services)?;
                Active::Slow(Slowdown::begin(roots, delay).map_err(|error| self.failed(&error))?)
            }
        })
    }

    fn undo(&self, active: Active, services: &mut Services) -> Result<(), UserError> {
        match active {
            // Another fault's end may have started it already.
            Active::Start(service) if processes::any_alive(&services.pids(&service)) => Ok(()),
            Active::Start(service) => services.start_one(&service),
            Active::Resume(held) => {
                processes::resume(&held);
                Ok(())
            }
            Active::Filter(filter) => filter.end(),
            Active::Limited(limited) => files::restore(&limited).map_err(|error| self.failed(&error)),
            Active::Slow(slow) => {
                slow.end();
                Ok(())
            }
            Active::Pool(deed) => services.restore_pool(&deed),
            Active::Command(undo) => undo.map_or(Ok(()), |undo| shell(&self.host, &undo)),
        }
    }

    /// The processes of `service` that were started by us; never none.
    fn processes(&self, service: &str, services: &Services) -> Result<Vec<u32>, UserError> {
        let pids = services.pids(service);
        if processes::any_alive(&pids) {
            return Ok(pids);
        }
        let message = format!("service {service} of host {} has no process that runs", self.host);
        Err(UserError::refused("lab_fault_vacant", message, "wavetank lab status tells how services do"))
    }

    fn failed(&self, error: &std::io::Error) -> UserError {
        let message = format!("host {}: the fault did not work: {error}", self.host);
        UserError::refused("lab_fault_failed", message, "wavetank lab status tells how the host does")
    }
}
