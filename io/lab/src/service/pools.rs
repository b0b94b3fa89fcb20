//! Pools: the servers behind a host's balancers, their state and their changes.

use serde_json::{Value, json};
use wavetank_driver::Clock;
use wavetank_topology::{NftBalancer, PoolAction, ServerMode, ServiceKind};
use wavetank_units::{Code, Nanos, UserError, registered, sentence};

use super::process::pause;
use super::running_service::RunningService;
use super::{Services, haproxy_pool};
use crate::routing::{DirectorState, ServerState, Weights, flows};

/// A director that has not applied new weights by then is stopped. A swap of the largest table
/// takes it a second.
const TAKEN_WITHIN: Nanos = Nanos::from_secs(5);
/// Polling interval for the director's state.
const LOOK_EVERY: Nanos = Nanos::from_millis(5);

/// The state of a server in a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoolServer {
    /// Its weight while it is alive; 0 if it is drained.
    pub(super) wanted: u32,
    /// Whether it is alive according to the balancer.
    pub(super) alive: bool,
    /// Open connections to it; `None` if unknown.
    pub(super) flows: Option<u64>,
}

impl Services {
    /// Returns the state of the pools of `names`, in the form for a client.
    pub(super) fn pools(&mut self, names: &Value) -> Result<Value, UserError> {
        let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
        let all: Result<Vec<Value>, UserError> = names.map(|name| self.pool(name)).collect();
        Ok(json!({ "pools": all? }))
    }

    fn pool(&mut self, name: &str) -> Result<Value, UserError> {
        let host = self.host.clone();
        let running = self.one(name)?;
        let failed = |reason: String| failed(name, &host.name, &reason);
        let servers = if let ServiceKind::Haproxy(haproxy) = &running.service.kind {
            haproxy_pool::server_states(&host, haproxy, &folders(running)).map_err(failed)?
        } else {
            let steering = NftBalancer::for_service(&running.service, &host)
                .ok_or_else(|| failed(NO_POOL.to_owned()))?;
            let state = DirectorState::read(&folders(running)[0]).map_err(failed)?;
            let flows = flows(&steering);
            let one = |(index, server): (usize, &ServerState)| PoolServer {
                wanted: server.wanted,
                alive: server.alive,
                flows: flows.as_ref().and_then(|flows| flows.get(index).copied()),
            };
            state.servers.iter().enumerate().map(one).collect()
        };
        let checked = running.service.checks().is_some();
        let one = |(server, condition): (&wavetank_topology::Backend, &PoolServer)| {
            let PoolServer { wanted, alive, flows } = *condition;
            json!({
                "name": server.name, "port": server.port, "weight": wanted, "of_file": server.weight,
                "alive": checked.then_some(alive), "flows": flows,
            })
        };
        let servers: Vec<Value> = running.service.backends().iter().zip(&servers).map(one).collect();
        Ok(json!({ "service": name, "running": !running.is_down(), "servers": servers }))
    }

    /// Changes a pool, and waits until the balancer has applied it. Returns the change that
    /// restores the previous state.
    ///
    /// # Errors
    /// A service that has no pool or is not running, or a change that it rejects. The pool is as
    /// before in that case.
    pub fn change_pool(&mut self, action: &PoolAction) -> Result<PoolAction, UserError> {
        let back = self.before(action)?;
        self.wish(action).inspect_err(|_| {
            // A part may have been applied. An error of the restoration is not the error to report.
            let _ = self.wish(&back);
        })?;
        Ok(back)
    }

    /// Reverts a change with the value that [`change_pool`](Self::change_pool) returned, as far as
    /// the balancer accepts it. A balancer that is not running starts in the state before the
    /// change. A `HAProxy` needs nothing for that, because it starts with the topology file's
    /// values.
    ///
    /// # Errors
    /// A service that the host does not have, or a change that it rejects.
    pub fn restore_pool(&mut self, action: &PoolAction) -> Result<(), UserError> {
        let host = self.host.name.clone();
        let running = self.one(&action.service)?;
        if !running.is_down() {
            return self.wish(action);
        }
        if !matches!(running.service.kind, ServiceKind::DirectRouting(_) | ServiceKind::Nat(_)) {
            return Ok(());
        }
        weighed(running, &action.wishes).map(drop).map_err(|reason| failed(&action.service, &host, &reason))
    }

    /// Returns the change that would undo `action`; an error if `action` is impossible.
    fn before(&mut self, action: &PoolAction) -> Result<PoolAction, UserError> {
        let host = self.host.clone();
        let running = self.one(&action.service)?;
        let failed = |reason: String| failed(&action.service, &host.name, &reason);
        let backends = running.service.backends();
        if action.wishes.iter().any(|(server, _)| *server >= backends.len()) {
            return Err(failed(registered!("it does not have that many servers").to_owned()));
        }
        if running.is_down() {
            return Err(failed(registered!("it is not running").to_owned()));
        }
        let before: Vec<u32> = match &running.service.kind {
            ServiceKind::Haproxy(haproxy) => {
                let standing =
                    haproxy_pool::server_states(&host, haproxy, &folders(running)).map_err(failed)?;
                standing.iter().map(|server| server.wanted).collect()
            }
            ServiceKind::DirectRouting(_) | ServiceKind::Nat(_) => weights(running).map_err(failed)?,
            _ => return Err(failed(NO_POOL.to_owned())),
        };
        let back = |(server, _): &(usize, ServerMode)| {
            (*server, ServerMode::restoring(before[*server], backends[*server].weight))
        };
        Ok(PoolAction { service: action.service.clone(), wishes: action.wishes.iter().map(back).collect() })
    }

    /// Has a running balancer apply the change, and waits until it has.
    fn wish(&mut self, action: &PoolAction) -> Result<(), UserError> {
        let (host, clock) = (self.host.clone(), self.clock);
        let running = self.one(&action.service)?;
        let done = match &running.service.kind {
            ServiceKind::Haproxy(haproxy) => {
                haproxy_pool::change(&host, haproxy, &folders(running), &action.wishes)
            }
            ServiceKind::DirectRouting(_) | ServiceKind::Nat(_) => steered(running, &action.wishes, clock),
            _ => Err(NO_POOL.to_owned()),
        };
        done.map_err(|reason| failed(&action.service, &host.name, &reason))
    }
}

const NO_POOL: &str = registered!("it has no pool that can be changed while it runs");

/// Returns the weights in the director's file.
fn weights(running: &RunningService) -> Result<Vec<u32>, String> {
    let read = Weights::in_folder(&folders(running)[0]).read(running.service.backends());
    read.map_err(|why| sentence!("its weights.json cannot be read: {why}").into())
}

/// Writes weights into the director's file; returns the weights of all servers from the next
/// reading on.
fn weighed(running: &RunningService, wishes: &[(usize, ServerMode)]) -> Result<Vec<u32>, String> {
    let servers = running.service.backends();
    let mut wanted = weights(running)?;
    for (server, wish) in wishes {
        wanted[*server] = wish.weight(servers[*server].weight);
    }
    let written = Weights::in_folder(&folders(running)[0]).write(servers, &wanted);
    written.map_err(|error| sentence!("its weights cannot be written: {error}"))?;
    Ok(wanted)
}

/// Has the director read new weights, and waits until the kernel has them.
fn steered(running: &RunningService, wishes: &[(usize, ServerMode)], clock: Clock) -> Result<(), String> {
    let wanted = weighed(running, wishes)?;
    running.hang_up();
    let deadline = clock.now().after(TAKEN_WITHIN);
    loop {
        let state = DirectorState::read(&folders(running)[0])?;
        if state.servers.iter().map(|server| server.wanted).eq(wanted.iter().copied()) {
            return Ok(());
        }
        if clock.now() >= deadline {
            return Err(sentence!("its director has not applied the weights within {TAKEN_WITHIN}").into());
        }
        pause(LOOK_EVERY);
    }
}

/// Returns the folders of its copies; a service with a pool has at least one.
fn folders(running: &RunningService) -> Vec<std::path::PathBuf> {
    running.plan.launches.iter().map(|launch| launch.folder.clone()).collect()
}

fn failed(service: &str, host: &str, reason: &str) -> UserError {
    let message = sentence!("the pool of `{service}` on {host}: {reason}");
    let hint = format!("check it with `wavetank lab status` and `wavetank lab logs {host} {service}`");
    UserError::refused(Code::LabPoolFailed, message, hint)
}
