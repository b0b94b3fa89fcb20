//! Pools: the servers behind a host's balancers, how they stand, and what becomes of them.

use serde_json::{Value, json};
use wavetank_driver::Clock;
use wavetank_plan::{Nanos, UserError};
use wavetank_topology::{NftBalancer, PoolAction, ServerMode, ServiceKind};

use super::process::pause;
use super::running_service::RunningService;
use super::{Services, haproxy_pool};
use crate::routing::{DirectorState, ServerState, Weights, flows};

/// A director that has not taken new weights by then stands still: a swap of the largest table takes it a second.
const TAKEN_WITHIN: Nanos = Nanos::from_secs(5);
/// How often its word is looked at.
const LOOK_EVERY: Nanos = Nanos::from_millis(5);

/// How a server of a pool stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoolServer {
    /// What it is to weigh while it lives; 0 for who is drained.
    pub(super) wanted: u32,
    /// Whether it lives, as far as the balancer knows.
    pub(super) alive: bool,
    /// Connections under way to it; `None` where nobody knows.
    pub(super) flows: Option<u64>,
}

impl Services {
    /// How the pools of `names` stand, as a client is told.
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
        let one = |(server, stands): (&wavetank_topology::Backend, &PoolServer)| {
            let PoolServer { wanted, alive, flows } = *stands;
            json!({
                "name": server.name, "port": server.port, "weight": wanted, "of_file": server.weight,
                "alive": checked.then_some(alive), "flows": flows,
            })
        };
        let servers: Vec<Value> = running.service.backends().iter().zip(&servers).map(one).collect();
        Ok(json!({ "service": name, "running": !running.is_down(), "servers": servers }))
    }

    /// Changes a pool, and waits until the balancer has taken it. What takes it back is returned.
    ///
    /// # Errors
    /// A service that has no pool or does not run, or what it has against it: then all is as it was before.
    pub fn change_pool(&mut self, deed: &PoolAction) -> Result<PoolAction, UserError> {
        let back = self.before(deed)?;
        self.wish(deed).inspect_err(|_| {
            // It may have taken a part of it. What it says against this, too, is not what was asked.
            let _ = self.wish(&back);
        })?;
        Ok(back)
    }

    /// Takes a change back, by what [`change_pool`](Self::change_pool) returned, as far as the balancer takes that. One
    /// that does not run begins as it was before the change, which for a `HAProxy` needs nothing: it begins as the
    /// topology file says.
    ///
    /// # Errors
    /// A service that the host does not have, or what it has against it.
    pub fn restore_pool(&mut self, deed: &PoolAction) -> Result<(), UserError> {
        let host = self.host.name.clone();
        let running = self.one(&deed.service)?;
        if !running.is_down() {
            return self.wish(deed);
        }
        if !matches!(running.service.kind, ServiceKind::DirectRouting(_) | ServiceKind::Nat(_)) {
            return Ok(());
        }
        weighed(running, &deed.wishes).map(drop).map_err(|reason| failed(&deed.service, &host, &reason))
    }

    /// What would take `deed` back; an error if it cannot be done at all.
    fn before(&mut self, deed: &PoolAction) -> Result<PoolAction, UserError> {
        let host = self.host.clone();
        let running = self.one(&deed.service)?;
        let failed = |reason: String| failed(&deed.service, &host.name, &reason);
        let backends = running.service.backends();
        if deed.wishes.iter().any(|(server, _)| *server >= backends.len()) {
            return Err(failed("there are not so many servers".to_owned()));
        }
        if running.is_down() {
            return Err(failed("it does not run".to_owned()));
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
        Ok(PoolAction { service: deed.service.clone(), wishes: deed.wishes.iter().map(back).collect() })
    }

    /// Has a balancer that runs do what is wished, and waits until it has.
    fn wish(&mut self, deed: &PoolAction) -> Result<(), UserError> {
        let (host, clock) = (self.host.clone(), self.clock);
        let running = self.one(&deed.service)?;
        let done = match &running.service.kind {
            ServiceKind::Haproxy(haproxy) => {
                haproxy_pool::change(&host, haproxy, &folders(running), &deed.wishes)
            }
            ServiceKind::DirectRouting(_) | ServiceKind::Nat(_) => steered(running, &deed.wishes, clock),
            _ => Err(NO_POOL.to_owned()),
        };
        done.map_err(|reason| failed(&deed.service, &host.name, &reason))
    }
}

const NO_POOL: &str = "it has no pool that can be changed while it runs";

/// What servers are to weigh by the director's file.
fn weights(running: &RunningService) -> Result<Vec<u32>, String> {
    let read = Weights::in_folder(&folders(running)[0]).read(running.service.backends());
    read.map_err(|why| format!("its weights.json cannot be read: {why}"))
}

/// Writes weights into the director's file; what servers weigh from the next reading on.
fn weighed(running: &RunningService, wishes: &[(usize, ServerMode)]) -> Result<Vec<u32>, String> {
    let servers = running.service.backends();
    let mut wanted = weights(running)?;
    for (server, wish) in wishes {
        wanted[*server] = wish.weight(servers[*server].weight);
    }
    let written = Weights::in_folder(&folders(running)[0]).write(servers, &wanted);
    written.map_err(|error| format!("its weights cannot be written: {error}"))?;
    Ok(wanted)
}

/// Has the director take new weights, and waits until the kernel has them.
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
            return Err(format!("its director has not taken the weights within {TAKEN_WITHIN}"));
        }
        pause(LOOK_EVERY);
    }
}

/// The folders of its copies, never none for what has a pool.
fn folders(running: &RunningService) -> Vec<std::path::PathBuf> {
    running.plan.launches.iter().map(|launch| launch.folder.clone()).collect()
}

fn failed(service: &str, host: &str, reason: &str) -> UserError {
    let message = format!("the pool of `{service}` on {host}: {reason}");
    let hint =
        format!("wavetank lab status tells how it does, wavetank lab logs {host} {service} what it said");
    UserError::refused("lab_pool_failed", message, hint)
}
