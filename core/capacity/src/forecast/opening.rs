//! [`ConnectForecast`]: connections that a phase opens.

use wavetank_units::Nanos;

use super::{BoundedEstimate, SessionForecast};
use wavetank_plan::{ConnectionOwner, Phase, Plan};

/// Connections that a phase opens, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConnectForecast {
    /// Opened in the phase, those ahead of it included.
    pub total: BoundedEstimate,
    /// Highest number of connections opened per second, where that is known. In the open loop it
    /// follows from the arrivals, in the other models from the users that start.
    pub per_s_max: Option<f64>,
    /// Opened ahead of the phase, and how long that takes.
    pub ahead: Option<(u64, Nanos)>,
}

impl ConnectForecast {
    pub(super) fn for_phase(
        (phase, carried): (&Phase, u64),
        plan: &Plan,
        scenarios: &[SessionForecast],
        shares: &[(u16, BoundedEstimate)],
        starts: u64,
        requests: BoundedEstimate,
    ) -> Self {
        let open = phase.load.levels().is_none();
        let users = BoundedEstimate::exact(starts as f64);
        let mut total = BoundedEstimate::ZERO;
        let mut per_arrival = Some(0.0);
        let weights = phase.mix.parts().iter().map(|part| part.1 as f64 / phase.mix.total() as f64);
        for (&(at, sessions), share) in shares.iter().zip(weights) {
            let Some(scenario) = scenarios.get(usize::from(at)) else { continue };
            let each = per_session(scenario, plan, open);
            let own = match (scenario.connection, open) {
                (ConnectionOwner::Shared, _) => {
                    BoundedEstimate::between(0.0, Some(phase.connections.max(starts) as f64))
                }
                (ConnectionOwner::User, false) if lasts(plan) => {
                    users.weighted(share).times(BoundedEstimate::exact(scenario.targets as f64))
                }
                (ConnectionOwner::User | ConnectionOwner::Session | ConnectionOwner::Request, _) => {
                    sessions.times(each)
                }
            };
            let own = if at_request(scenario, plan) && shares.len() == 1 { requests } else { own };
            total = total.plus(own);
            let known =
                if scenario.connection == ConnectionOwner::Shared { None } else { each.mean_or_upper() };
            per_arrival = per_arrival.zip(known).map(|(sum, each)| sum + each * share);
        }
        let per_s_max = match &phase.load {
            wavetank_plan::Load::Open { rate, .. } => {
                per_arrival.map(|each| rate.max().as_per_second() * each)
            }
            load => load.levels().filter(|_| lasts(plan)).and_then(|levels| {
                let kept = shares.iter().all(|(at, _)| {
                    scenarios.get(usize::from(*at)).is_some_and(|one| one.connection == ConnectionOwner::User)
                });
                kept.then(|| steepest(levels, carried))
            }),
        };
        let rate = plan.open_rate.as_per_second().max(f64::MIN_POSITIVE);
        let ahead = phase.open_before.then(|| {
            let takes = phase.connections as f64 / rate * 1e9;
            (phase.connections, Nanos(takes.min(i64::MAX as f64) as i64))
        });
        Self { total, per_s_max, ahead }
    }
}

/// Returns whether a connection serves any number of requests.
const fn lasts(plan: &Plan) -> bool {
    plan.http.keepalive && plan.http.requests_per_connection.is_none()
}

/// Whether each request has a connection of its own.
fn at_request(scenario: &SessionForecast, plan: &Plan) -> bool {
    scenario.connection == ConnectionOwner::Request || !plan.http.keepalive
}

/// Returns the number of connections that one session opens. In the open loop the user's first and
/// last steps belong to the session.
fn per_session(scenario: &SessionForecast, plan: &Plan, open: bool) -> BoundedEstimate {
    let requests = if open { scenario.whole().requests } else { scenario.session.requests };
    if at_request(scenario, plan) {
        return requests;
    }
    let most = scenario.targets as f64;
    let kept = BoundedEstimate {
        least: requests.least.min(1.0),
        mean: requests.mean.filter(|_| scenario.targets == 1 && requests.least >= 1.0).map(|_| 1.0),
        most: Some(requests.most.map_or(most, |requests| requests.min(most))),
    };
    match plan.http.requests_per_connection {
        Some(each) => {
            let by = |requests: f64| (requests / each.max(1) as f64).ceil();
            BoundedEstimate {
                least: by(requests.least).max(kept.least),
                mean: requests.is_exact().then(|| by(requests.least).max(most)),
                most: requests.most.map(|requests| by(requests) + most - 1.0),
            }
        }
        None if scenario.targets == 1 => kept,
        // Each target of a session needs a connection. The path through the journey decides which
        // targets these are.
        None => kept,
    }
}

/// How many start a second where most do; `carried` are there already.
fn steepest(levels: &wavetank_plan::PopulationCurve, carried: u64) -> f64 {
    let climb = |piece: &wavetank_plan::shape::Segment| {
        piece.end.saturating_sub(piece.begin) as f64 / piece.length.as_secs_f64().max(1e-9)
    };
    let jumps = levels.pieces().windows(2).map(|pair| pair[1].begin.saturating_sub(pair[0].end) as f64);
    let first = levels.pieces().first().map_or(0.0, |piece| piece.begin.saturating_sub(carried) as f64);
    levels.pieces().iter().map(climb).chain(jumps).fold(first, f64::max)
}
