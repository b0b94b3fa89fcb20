//! [`port_search_note`]: whether the kernel will search long for free source ports.

use wavetank_units::quantity::format_grouped;

use crate::{HostFacts, Load, Plan};

/// Share of one source's ports, in percent, above which the kernel searches long for a free port.
/// It takes 0.5 ms per connection at 60 %, and 4 ms or more near the end of the range (measured).
const PORTS_USED_PERCENT: u64 = 60;

/// Warns if the kernel chooses the source port and most ports will be in use. A closed load is not
/// checked, because its rate of new connections is not known in advance.
pub fn port_search_note(plan: &Plan, host: &HostFacts) -> Option<String> {
    if !plan.sources.is_empty() {
        return None;
    }
    let targets = || plan.targets.iter().flat_map(|target| &target.addresses);
    let pairs = host.ports.count().saturating_mul(targets().count() as u64);
    // On loopback Linux takes a port in TIME_WAIT again after a second.
    let rest_s = if targets().all(|target| target.ip().is_loopback()) { 1.0 } else { 60.0 };
    let used = plan.phases.iter().map(|phase| match &phase.load {
        Load::Open { rate, .. } if !plan.http.keepalive => (rate.max().as_per_second() * rest_s) as u64,
        _ if phase.open_before => phase.connections,
        _ => 0,
    });
    let used = used.max()?;
    (used.saturating_mul(100) > pairs.saturating_mul(PORTS_USED_PERCENT)).then(|| {
        format!(
            "{} of the {} pairs of address and port will be in use: connecting gets slow, because the kernel searches \
             for a free port; --source auto avoids that",
            format_grouped(used.min(pairs)),
            format_grouped(pairs)
        )
    })
}
