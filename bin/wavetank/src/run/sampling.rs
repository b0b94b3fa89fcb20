//! What is seen beside a load: this host each second, and the target's own count where it tells one.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use wavetank_driver::Clock;
use wavetank_observe::{HostSampler, SampledHosts, Sampler, TargetPoller, TargetPollers};
use wavetank_plan::{Nanos, Plan, Target, UserError};

/// What is looked at beside a load.
#[derive(Clone, Copy, Default)]
pub(crate) struct SamplingConfig<'a> {
    /// Whether the target is asked for its own count of connections; `None`: if it is on this host.
    pub(crate) truth: Option<bool>,
    /// The hosts of a lab, by name.
    pub(crate) hosts: &'a [(String, HostSampler)],
    /// Whether a target that answers nothing at all is worth no more waiting: in a level of a search.
    pub(crate) silence: bool,
    /// The servers of a lab that tell their own counts of all connections of the load; `None` outside of a lab.
    pub(crate) servers: Option<&'a [LabServer]>,
}

/// A `wavetank serve` in a lab.
#[derive(Clone, Debug)]
pub(crate) struct LabServer {
    /// Its host's.
    pub(crate) network: Arc<OwnedFd>,
    /// Where it listens.
    pub(crate) address: SocketAddr,
}

/// Begin to look, if anybody would ask for it: `clock` is the run's.
///
/// Only runs with hold phases are looked at, and the hosts of a lab. A sample costs the load nothing (a thread beside it reads five small files a
/// second, about 0.2 ms), but the archive of a run of requests has nothing that would be laid beside it.
pub(super) fn start(plan: &Plan, clock: Clock, looking: SamplingConfig<'_>) -> Option<Sampler> {
    let holding = plan.is_holding();
    let others: Vec<_> = looking.hosts.iter().map(|(_, watch)| watch.clone()).collect();
    let asker = || if holding { askers(plan, clock, looking) } else { None };
    let wanted = holding || !others.is_empty();
    wanted.then(|| Sampler::start(move || clock.now(), SampledHosts { this: holding, others }, asker()))
}

/// Who asks for the target's own count, in a lab its servers', each in its own network.
fn askers(plan: &Plan, clock: Clock, looking: SamplingConfig<'_>) -> Option<TargetPollers> {
    let Some(servers) = looking.servers else {
        return Some(TargetPollers::new(vec![asker(plan, clock, looking.truth)?]));
    };
    let zero = clock.monotonic(Nanos::ZERO);
    let ask = |one: &LabServer| {
        TargetPoller::new(one.address, &one.address.to_string(), zero).within(Arc::clone(&one.network))
    };
    let wanted = looking.truth.unwrap_or(true) && !servers.is_empty();
    wanted.then(|| TargetPollers::new(servers.iter().map(ask).collect()))
}

/// Who asks the target for its own count: one with one address, spoken to in the clear and without a proxy; without a
/// word of the user's only one on this host. A server that is no `wavetank serve` gets one request and no more.
fn asker(plan: &Plan, clock: Clock, truth: Option<bool>) -> Option<TargetPoller> {
    let (target, address) = only_address(plan).ok()?;
    let asked = truth.unwrap_or_else(|| address.ip().to_canonical().is_loopback());
    asked.then(|| TargetPoller::new(address, &target.host, clock.monotonic(Nanos::ZERO)))
}

/// Whether the target can be asked, as the user wishes; in a lab it is `servers` that are.
///
/// # Errors
/// A usage error that says why not.
pub(crate) fn check_target_counts_available(
    plan: &Plan,
    servers: Option<&[LabServer]>,
) -> Result<(), UserError> {
    let why = match servers {
        _ if !plan.is_holding() => Some("no phase holds connections"),
        Some([]) => Some("its connections do not all come to a wavetank serve of the lab directly"),
        Some(_) => None,
        None => only_address(plan).err(),
    };
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
