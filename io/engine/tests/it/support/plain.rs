//! A basic plan, and the drivers on which it can run.

use std::net::SocketAddr;

use wavetank_driver::{Feature, Features};
use wavetank_plan::{EngineChoice, Plan, TargetUrl};
use wavetank_units::Nanos;

/// Returns the plan of a run of one URL, on two threads.
pub(crate) fn plain_plan(address: SocketAddr) -> Plan {
    let url = TargetUrl::parse(&format!("http://{address}/")).expect("a URL");
    let mut plan = Plan::for_tests(&url, &[address]);
    (plan.engine, plan.threads, plan.drain) = (EngineChoice::Epoll, 2, Nanos::from_secs(5));
    plan
}

/// Returns the drivers that this host supports.
pub(crate) fn engines() -> Vec<EngineChoice> {
    let uring = Features::probe(Features::all()).missing(Feature::Uring).is_none();
    [EngineChoice::Epoll].into_iter().chain(uring.then_some(EngineChoice::Uring)).collect()
}
