//! Samples taken during a load: this host every second, and the target's own count if it reports
//! one.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use wavetank_driver::Clock;
use wavetank_observe::{
    HostSampler, SampledHosts, Sampler, TargetPoller, TargetPollers, ThisHost, ThisHostSampler,
};
use wavetank_plan::{Plan, Target};
use wavetank_units::{Code, Nanos, UserError, unix_path};

use super::remote_hosts::RemoteHosts;

/// What to sample during a load.
#[derive(Clone, Copy, Default)]
pub(crate) struct SamplingConfig<'a> {
    /// Whether the target is asked for its own count of connections; `None`: if it is on this host.
    pub(crate) truth: Option<bool>,
    /// Whether this host sends the load itself, and is no machine under a lab.
    pub(crate) this_host: bool,
    /// The hosts of a lab, by name.
    pub(crate) hosts: &'a [(String, HostSampler)],
    /// Whether a target that does not respond at all ends the wait, as in a level of a search.
    pub(crate) silence: bool,
    /// Hosts under test that are sampled over ssh.
    pub(crate) remote: Option<&'a RefCell<RemoteHosts>>,
    /// The servers of a lab that report their own counts of all connections of the load; `None`
    /// outside of a lab.
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

/// Starts sampling, if the report uses it; `clock` is the run's.
///
/// A sample costs the load nothing: a separate thread reads some twenty small files a second. The
/// machine under a lab, or under a fleet's controller, is only sampled while connections are held.
pub(super) fn start(plan: &Plan, clock: Clock, sampling: SamplingConfig<'_>) -> Option<Sampler> {
    let holding = plan.is_holding();
    let others: Vec<_> = sampling.hosts.iter().map(|(_, watch)| watch.clone()).collect();
    let asker = || if holding { askers(plan, clock, sampling) } else { None };
    let this = if sampling.this_host {
        Some(ThisHost::Whole(Box::new(ThisHostSampler::new())))
    } else {
        holding.then_some(ThisHost::Sockets)
    };
    let wanted = this.is_some() || !others.is_empty();
    wanted.then(|| Sampler::start(move || clock.now(), SampledHosts { this, others }, asker()))
}

/// Who asks for the target's own count, in a lab its servers', each in its own network.
fn askers(plan: &Plan, clock: Clock, sampling: SamplingConfig<'_>) -> Option<TargetPollers> {
    let Some(servers) = sampling.servers else {
        return Some(TargetPollers::new(vec![asker(plan, clock, sampling.truth)?]));
    };
    let zero = clock.monotonic(Nanos::ZERO);
    let ask = |one: &LabServer| {
        TargetPoller::new(one.address, &one.address.to_string(), zero).within(Arc::clone(&one.network))
    };
    let wanted = sampling.truth.unwrap_or(true) && !servers.is_empty() && !plan.uses_tunnels();
    wanted.then(|| TargetPollers::new(servers.iter().map(ask).collect()))
}

/// Returns the poller of the target's own count. It needs a target with one address, without TLS
/// and without a proxy. Unless the user decides otherwise, it must be on this host. A server other
/// than `wavetank serve` gets one request and no more.
fn asker(plan: &Plan, clock: Clock, truth: Option<bool>) -> Option<TargetPoller> {
    let (target, address) = only_address(plan).ok()?;
    let asked = truth.unwrap_or_else(|| address.ip().to_canonical().is_loopback());
    asked.then(|| TargetPoller::new(address, &target.host, clock.monotonic(Nanos::ZERO)))
}

/// Checks whether the target can be polled as the user requests; in a lab `servers` are polled.
///
/// # Errors
/// A usage error with the reason.
pub(crate) fn check_counts_available(plan: &Plan, servers: Option<&[LabServer]>) -> Result<(), UserError> {
    let why = match servers {
        _ if !plan.is_holding() => Some("no phase holds connections"),
        Some([]) => Some("its connections do not all come to a wavetank serve of the lab directly"),
        Some(_) => None,
        None => only_address(plan).err(),
    };
    why.map_or(Ok(()), |why| {
        let message = format!("truth: true: the target cannot be asked how many connections it has: {why}");
        let hint =
            "leave out truth: true (or --truth); `wavetank serve` reports its count at /truth/connections";
        Err(UserError::usage(Code::TruthUnaskable, message, hint))
    })
}

/// The one address that all connections go to, or why there is none that can be asked.
fn only_address(plan: &Plan) -> Result<(&Target, SocketAddr), &'static str> {
    let [target] = plan.targets.as_slice() else { return Err("there are several targets") };
    if plan.uses_tunnels() {
        return Err("WebSockets and event streams share its connections");
    }
    if plan.http.proxy.is_some() || plan.http.proxy_protocol.is_some() {
        return Err("a proxy is in between");
    }
    if target.server_name.is_some() {
        return Err("it speaks TLS");
    }
    let [address] = target.addresses[..] else { return Err("it has several addresses") };
    if unix_path(address).is_some() {
        return Err("it is a Unix socket");
    }
    Ok((target, address))
}
