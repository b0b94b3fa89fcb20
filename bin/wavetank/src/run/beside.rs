//! What is seen beside a load: this host each second, and the target's own count where it tells one.

use std::net::SocketAddr;

use wavetank_driver::Clock;
use wavetank_observe::{Beside, HostWatch, TargetAsker, Watched};
use wavetank_plan::{Nanos, Plan, Target, UserError};

/// What is looked at beside a load.
#[derive(Clone, Copy, Default)]
pub(crate) struct Looking<'a> {
    /// Whether the target is asked for its own count of connections; `None`: if it is on this host.
    pub(crate) truth: Option<bool>,
    /// The hosts of a lab, by name.
    pub(crate) hosts: &'a [(String, HostWatch)],
    /// Whether a target that answers nothing at all is worth no more waiting: in a level of a search.
    pub(crate) silence: bool,
}

/// Begin to look, if anybody would ask for it: `clock` is the run's.
///
/// Only runs with hold phases are looked at, and the hosts of a lab. A sample costs the load nothing (a thread beside it reads five small files a
/// second, about 0.2 ms), but the archive of a run of requests has nothing that would be laid beside it.
pub(super) fn start(plan: &Plan, clock: Clock, looking: Looking<'_>) -> Option<Beside> {
    let holding = plan.is_holding();
    let others: Vec<_> = looking.hosts.iter().map(|(_, watch)| watch.clone()).collect();
    let asker = || if holding { asker(plan, clock, looking.truth) } else { None };
    let wanted = holding || !others.is_empty();
    wanted.then(|| Beside::start(move || clock.now(), Watched { this: holding, others }, asker()))
}

/// Who asks the target for its own count: one with one address, spoken to in the clear and without a proxy; without a
/// word of the user's only one on this host. A server that is no `wavetank serve` gets one request and no more.
fn asker(plan: &Plan, clock: Clock, truth: Option<bool>) -> Option<TargetAsker> {
    let (target, address) = only_address(plan).ok()?;
    let asked = truth.unwrap_or_else(|| address.ip().to_canonical().is_loopback());
    asked.then(|| TargetAsker::new(address, &target.host, clock.monotonic(Nanos::ZERO)))
}

/// Whether the target can be asked, as the user wishes.
///
/// # Errors
/// A usage error that says why not.
pub(crate) fn askable(plan: &Plan) -> Result<(), UserError> {
    let why = if plan.is_holding() { only_address(plan).err() } else { Some("no phase holds connections") };
    why.map_or(Ok(()), |why| {
        let message = format!("truth: true: the target cannot be asked how many connections it has: {why}");
        let hint =
            "leave truth: true (or --truth) out; a wavetank serve tells its count at /truth/connections";
        Err(UserError::usage("truth_unaskable", message, hint))
    })
}

/// The one address that all connections go to, or why there is none that can be asked.
fn only_address(plan: &Plan) -> Result<(&Target, SocketAddr), &'static str> {
    let [target] = plan.targets.as_slice() else { return Err("there are several targets") };
    if plan.http.proxy.is_some() || plan.http.proxy_protocol.is_some() {
        return Err("a proxy lies between");
    }
    if target.server_name.is_some() {
        return Err("it speaks TLS");
    }
    let [address] = target.addresses[..] else { return Err("it has several addresses") };
    Ok((target, address))
}
