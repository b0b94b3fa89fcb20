//! What is seen beside a load: this host each second, and the target's own count where it tells one.

use wavetank_driver::Clock;
use wavetank_observe::{Beside, TargetAsker};
use wavetank_plan::{Nanos, Plan};

/// Begin to look, if anybody would ask for it: `clock` is the run's.
///
/// Only runs with hold phases are looked at. A sample costs the load nothing (a thread beside it reads five small files a
/// second, about 0.2 ms), but the archive of a run of requests has nothing that would be laid beside it.
pub(super) fn start(plan: &Plan, clock: Clock) -> Option<Beside> {
    plan.is_holding().then(|| Beside::start(move || clock.now(), asker(plan, clock)))
}

/// Who asks the target for its own count: only where it has one address, on this host, is spoken to in the clear and
/// without a proxy. A server that is no `wavetank serve` gets one request and no more.
fn asker(plan: &Plan, clock: Clock) -> Option<TargetAsker> {
    let [target] = plan.targets.as_slice() else { return None };
    let [address] = plan.way_to(target) else { return None };
    let plain =
        target.server_name.is_none() && plan.http.proxy.is_none() && plan.http.proxy_protocol.is_none();
    let asked = plain && address.ip().to_canonical().is_loopback();
    asked.then(|| TargetAsker::new(*address, &target.host, clock.monotonic(Nanos::ZERO)))
}
