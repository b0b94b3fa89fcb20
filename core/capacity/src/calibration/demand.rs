//! [`RateDemand`]: the highest rates that a plan requires of a generator, and the share of a host
//! they take.

use wavetank_units::Nanos;

use crate::forecast::{Forecast, PhaseForecast};
use wavetank_plan::{Phase, Plan};

/// The highest rates per second that a plan requires of a generator. `None`: nothing in the plan
/// bounds the rate, so that the responses decide.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateDemand {
    /// Requests.
    pub requests: Option<f64>,
    /// New connections.
    pub connections: Option<f64>,
    /// TLS handshakes: all new connections of a plan that speaks TLS.
    pub handshakes: Option<f64>,
}

/// The rates per second that a host can sustain, each measured alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostRates {
    /// Requests on connections that are kept.
    pub requests: f64,
    /// New connections with one request on each.
    pub connections: f64,
    /// The same in TLS.
    pub handshakes: f64,
}

impl RateDemand {
    /// Computes the demand of `plan`, with `forecast` as its forecast. Phases that run at the same
    /// time are summed.
    pub fn from_plan(plan: &Plan, forecast: &Forecast) -> Self {
        let begins = plan.phases.iter().flat_map(|phase| [Some(phase.start), ahead(phase, plan)]);
        let mut most = Self { requests: Some(0.0), connections: Some(0.0), handshakes: Some(0.0) };
        for at in begins.flatten() {
            let now = Self::at(at, plan, forecast);
            let higher = |one: Option<f64>, other: Option<f64>| Some(one?.max(other?));
            most.requests = higher(most.requests, now.requests);
            most.connections = higher(most.connections, now.connections);
            most.handshakes = higher(most.handshakes, now.handshakes);
        }
        most
    }

    /// Returns the demand at `at` on the run clock.
    fn at(at: Nanos, plan: &Plan, forecast: &Forecast) -> Self {
        let under_way = |(phase, _): &(&Phase, &PhaseForecast)| phase.is_active_at(at);
        let sum = |of: &dyn Fn(&PhaseForecast) -> Option<f64>| {
            let phases = plan.phases.iter().zip(&forecast.phases).filter(under_way);
            phases.map(|(_, own)| of(own)).try_fold(0.0, |sum, own| Some(sum + own?))
        };
        // Connections opened ahead of a phase are opened at the plan's own rate. In one second
        // there are at most as many as the phase has connections.
        let opening = plan
            .phases
            .iter()
            .filter(|phase| ahead(phase, plan).is_some_and(|from| from <= at) && at < phase.start);
        let pace =
            opening.map(|phase| plan.open_rate.as_per_second().min(phase.connections as f64)).sum::<f64>();
        let connections = sum(&|own| connections_per_s(own, plan)).map(|sum| sum + pace);
        let secure = plan.targets.iter().filter(|target| target.server_name.is_some()).count();
        let handshakes = if secure == 0 { Some(0.0) } else { connections };
        Self { requests: sum(&requests_per_s), connections, handshakes }
    }

    /// Returns the share (>= 0) of a host with the rates `able` that this demand takes. Each kind
    /// takes its own share of the CPUs, and the shares add up. A measured connection includes one
    /// request, and a measured handshake includes its connection. An unknown rate counts as zero.
    pub fn share(&self, able: &HostRates) -> f64 {
        let [requests, connections, handshakes] =
            [self.requests, self.connections, self.handshakes].map(|one| one.unwrap_or(0.0));
        let part = |asked: f64, able: f64| if able > 0.0 { asked.max(0.0) / able } else { 0.0 };
        part(requests - connections, able.requests)
            + part(connections - handshakes, able.connections)
            + part(handshakes, able.handshakes)
    }
}

/// Returns when connections start to be opened ahead of `phase`, if they are.
fn ahead(phase: &Phase, plan: &Plan) -> Option<Nanos> {
    let rate = plan.open_rate.as_per_second();
    (phase.open_before && rate > 0.0)
        .then(|| Nanos(phase.start.0.saturating_sub((phase.connections as f64 / rate * 1e9) as i64)))
}

/// Requests a second while the phase runs; none of connections held in silence.
fn requests_per_s(phase: &PhaseForecast) -> Option<f64> {
    if phase.requests.most.is_some_and(|most| most <= 0.0) { Some(0.0) } else { phase.requests_per_s_max }
}

/// New connections a second while the phase runs.
fn connections_per_s(phase: &PhaseForecast, plan: &Plan) -> Option<f64> {
    let kept = plan.http.keepalive && plan.http.requests_per_connection.is_none();
    match (phase.opening.ahead, phase.opening.per_s_max) {
        // All connections exist before the phase starts.
        (Some(_), _) if kept => Some(0.0),
        (None, Some(rate)) => Some(rate),
        // Each request has a connection of its own.
        _ if !plan.http.keepalive => phase.requests_per_s_max,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABLE: HostRates = HostRates { requests: 100_000.0, connections: 20_000.0, handshakes: 2_000.0 };

    #[track_caller]
    fn check(requests: Option<f64>, connections: Option<f64>, handshakes: Option<f64>, share: f64) {
        let asked = RateDemand { requests, connections, handshakes };
        assert!((asked.share(&ABLE) - share).abs() < 1e-9, "{asked:?}: {}", asked.share(&ABLE));
    }

    #[test]
    fn parts_of_a_host_add_up() {
        check(Some(0.0), Some(0.0), Some(0.0), 0.0);
        check(Some(50_000.0), Some(0.0), Some(0.0), 0.5);
        // Each on a connection of its own: the request is in the connection's price.
        check(Some(10_000.0), Some(10_000.0), Some(0.0), 0.5);
        check(Some(1_000.0), Some(1_000.0), Some(1_000.0), 0.5);
        check(Some(51_000.0), Some(1_000.0), Some(1_000.0), 1.0);
        // Silent connections.
        check(Some(0.0), Some(20_000.0), Some(0.0), 1.0);
        check(None, Some(20_000.0), Some(0.0), 1.0);
    }
}
