//! [`PhaseForecast`]: what one phase sends.

use wavetank_units::Nanos;

use super::opening::ConnectForecast;
use super::population_changes::PopulationChanges;
use super::{BoundedEstimate, SessionForecast};
use wavetank_plan::{Arrivals, Load, Phase, Plan};

/// Distance to its limit, in standard deviations, within which a Poisson process may reach it.
const DEVIATIONS: f64 = 4.0;

/// The load of one phase, where the plan determines it.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseForecast {
    /// Sessions that start.
    pub sessions: BoundedEstimate,
    /// The sessions of each scenario of the mix, in its order.
    pub shares: Vec<(u16, BoundedEstimate)>,
    /// Whether a limit on their number ends the phase; `None` without one.
    pub cap: Option<(u64, CapReached)>,
    /// Requests.
    pub requests: BoundedEstimate,
    /// Highest number of requests per second, where it is known. In the open loop it follows from
    /// the arrivals. In the closed loop it is the number that the pauses allow if responses took
    /// no time.
    pub requests_per_s_max: Option<f64>,
    /// Sessions a second at the highest; `None` where users pace themselves.
    pub sessions_per_s_max: Option<f64>,
    /// Users or held connections at the highest; 0 in the open loop.
    pub level_max: u64,
    /// Users or held connections that start.
    pub starts: u64,
    /// When the last session starts or users stop; `None` where that is not known beforehand.
    pub ends: Option<Nanos>,
    /// Connections it opens.
    pub opening: ConnectForecast,
}

/// Whether a limit is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapReached {
    /// No.
    No,
    /// Depends on chance or on responses.
    Perhaps,
    /// Yes.
    Yes,
}

impl PhaseForecast {
    pub(super) fn for_phase(phase: &Phase, plan: &Plan, scenarios: &[SessionForecast]) -> Self {
        let mix = Mixed { phase, scenarios };
        let carried = carried(phase, plan);
        let rises = phase.load.levels().map(|levels| PopulationChanges::for_levels(levels, carried));
        let (sessions, cap) = match rises {
            Some(rises) => mix.sessions_of_users(rises, carried),
            None => sessions_that_arrive(phase),
        };
        let total = phase.mix.total() as f64;
        let parts = phase.mix.parts().iter();
        let shares: Vec<(u16, BoundedEstimate)> =
            parts.map(|&(at, weight)| (at, sessions.weighted(weight as f64 / total))).collect();
        let starts = rises.map_or(0, |rises| rises.starts);
        let requests = mix.requests(&shares, starts);
        let ends = ends(phase);
        let level_max = phase.load.levels().map_or(0, wavetank_plan::PopulationCurve::max);
        let sessions_per_s_max = match &phase.load {
            Load::Open { rate, .. } => Some(rate.max().as_per_second()),
            Load::Pause => Some(0.0),
            Load::Trace { times } => Some(busiest_second(times)),
            Load::Closed { .. } | Load::Hold { .. } => None,
        };
        let each = mix.mean(|scenario| scenario.whole().requests);
        let loops = phase
            .mix
            .parts()
            .iter()
            .any(|&(at, _)| scenarios.get(usize::from(at)).is_some_and(SessionForecast::is_loop));
        // The run does not wait for the end of such sessions.
        let requests = if loops { BoundedEstimate::between(sessions.least, requests.most) } else { requests };
        let requests_per_s_max = match sessions_per_s_max {
            Some(_) if loops => None,
            Some(rate) => each.mean_or_upper().map(|each| rate * each),
            None => mix.turns_per_user_s().and_then(|turns| {
                Some(level_max as f64 * turns * mix.mean(|one| one.session.requests).mean_or_upper()?)
            }),
        };
        let opening =
            ConnectForecast::for_phase((phase, carried), plan, scenarios, &shares, starts, requests);
        Self {
            sessions,
            shares,
            cap,
            requests,
            requests_per_s_max,
            sessions_per_s_max,
            level_max,
            starts,
            ends,
            opening,
        }
    }
}

/// A phase with what its scenarios do.
struct Mixed<'a> {
    phase: &'a Phase,
    scenarios: &'a [SessionForecast],
}

impl Mixed<'_> {
    /// Something of the scenarios, by weight.
    fn mean(&self, of: impl Fn(&SessionForecast) -> BoundedEstimate) -> BoundedEstimate {
        let mut parts = self.phase.mix.parts().iter().filter_map(|&(at, weight)| {
            let share = weight as f64 / self.phase.mix.total() as f64;
            Some((share, of(self.scenarios.get(usize::from(at))?)))
        });
        let Some((share, first)) = parts.next() else { return BoundedEstimate::ZERO };
        let mut mean = first.mean.map(|mean| mean * share);
        let mut all = first;
        for (share, amount) in parts {
            mean = mean.zip(amount.mean).map(|(sum, mean)| sum + mean * share);
            all = all.either(amount);
        }
        BoundedEstimate { mean, ..all }
    }

    /// Returns the highest average number of sessions per second of one user if responses took no
    /// time. `None` where only responses delay a user.
    fn turns_per_user_s(&self) -> Option<f64> {
        let turn = self.mean(SessionForecast::cycle_time);
        let ns = turn.mean.unwrap_or(turn.least);
        (ns > 0.0).then(|| 1e9 / ns)
    }

    /// Returns the sessions of the users that start and of the `carried` users from the phase
    /// before. All of them may repeat their session.
    fn sessions_of_users(
        &self,
        rises: PopulationChanges,
        carried: u64,
    ) -> (BoundedEstimate, Option<(u64, CapReached)>) {
        let silent = self.mean(|one| one.session.requests).most.is_some_and(|most| most <= 0.0)
            && matches!(self.phase.load, Load::Hold { .. });
        if silent {
            return (BoundedEstimate::ZERO, None);
        }
        let starts = rises.starts as f64;
        let most_at_once = self.phase.load.levels().map_or(0, wavetank_plan::PopulationCurve::max) as f64;
        let by_time =
            self.phase.length.and_then(|_| Some(rises.seconds * self.turns_per_user_s()? + most_at_once));
        let mut sessions = BoundedEstimate::between(starts, by_time.map(|most| most.max(starts)));
        if let Some(each) = self.phase.load.sessions_each() {
            let all = (starts + carried as f64) * each as f64;
            // A new user starts at least one session. A carried user may still be busy when this
            // phase ends.
            sessions = if (each == 1 && carried == 0) || self.phase.length.is_none() {
                BoundedEstimate::exact(all)
            } else {
                sessions.capped(all)
            };
        }
        let Some(most) = self.phase.arrivals_max() else { return (sessions, None) };
        let cap = most as f64;
        let reached = match (self.phase.length, sessions.most) {
            (None, _) => CapReached::Yes,
            (_, Some(own)) if own < cap => CapReached::No,
            _ if sessions.least >= cap => CapReached::Yes,
            _ => CapReached::Perhaps,
        };
        let sessions =
            if reached == CapReached::Yes { BoundedEstimate::exact(cap) } else { sessions.capped(cap) };
        (sessions, Some((most, reached)))
    }

    /// Requests of all sessions, and those that users send once.
    fn requests(&self, shares: &[(u16, BoundedEstimate)], starts: u64) -> BoundedEstimate {
        let users = BoundedEstimate::exact(starts as f64);
        let open = self.phase.load.levels().is_none();
        shares.iter().fold(BoundedEstimate::ZERO, |sum, &(at, sessions)| {
            let Some(scenario) = self.scenarios.get(usize::from(at)) else { return sum };
            let once = scenario.before.requests.plus(scenario.after.requests);
            let own = sessions.times(scenario.session.requests);
            let share =
                self.phase.mix.parts().iter().find(|part| part.0 == at).map_or(1.0, |part| part.1 as f64)
                    / self.phase.mix.total() as f64;
            let around = if open { sessions } else { users.weighted(share) };
            sum.plus(own).plus(around.times(once))
        })
    }
}

/// Sessions of the open loop, and whether a limit ends them.
fn sessions_that_arrive(phase: &Phase) -> (BoundedEstimate, Option<(u64, CapReached)>) {
    let most = phase.arrivals_max();
    let (all, poisson) = match &phase.load {
        Load::Open { rate, arrivals, .. } => {
            (phase.length.map(|length| rate.arrivals_before(length)), *arrivals == Arrivals::Poisson)
        }
        Load::Trace { times } => (Some(times.len() as u64), false),
        _ => (Some(0), false),
    };
    let all = all.map(|all| all as f64);
    let amount = |all: f64| if poisson { BoundedEstimate::poisson(all) } else { BoundedEstimate::exact(all) };
    let Some(cap) = most else { return (all.map_or(BoundedEstimate::between(0.0, None), amount), None) };
    let limit = cap as f64;
    let reached = match all {
        None => CapReached::Yes,
        Some(all) if !poisson => {
            // A phase that ends only by its number of sessions lasts as long as they take, so that
            // both numbers are equal.
            if all >= limit { CapReached::Yes } else { CapReached::No }
        }
        Some(all) if all - DEVIATIONS * all.sqrt() > limit => CapReached::Yes,
        Some(all) if all + DEVIATIONS * all.sqrt() <= limit => CapReached::No,
        Some(_) => CapReached::Perhaps,
    };
    let sessions = match (all, reached) {
        (_, CapReached::Yes) | (None, _) => BoundedEstimate::exact(limit),
        (Some(all), _) => amount(all).capped(limit),
    };
    (sessions, Some((cap, reached)))
}

/// Users and connections that the phase before hands over.
fn carried(phase: &Phase, plan: &Plan) -> u64 {
    let same = |before: &&Phase| {
        before.end() == Some(phase.start)
            && before.mix == phase.mix
            && std::mem::discriminant(&before.load) == std::mem::discriminant(&phase.load)
    };
    let levels = plan.phases.iter().find(same).and_then(|before| before.load.levels());
    levels.map_or(0, |levels| levels.at(levels.length() - Nanos(1)))
}

/// Returns the instant after which no more sessions arrive.
fn ends(phase: &Phase) -> Option<Nanos> {
    let by_count = || match &phase.load {
        Load::Open { rate, .. } => {
            let last = rate.instant_at(phase.arrivals_max()?.checked_sub(1)?)?;
            Some(phase.start.after(last))
        }
        _ => None,
    };
    match (phase.end(), by_count()) {
        (Some(end), Some(counted)) => Some(end.min(counted)),
        (end, counted) => end.or(counted),
    }
}

/// Sessions in the busiest second of a trace.
fn busiest_second(times: &[Nanos]) -> f64 {
    let mut first = 0;
    let mut most = 0;
    for (at, &time) in times.iter().enumerate() {
        while time - times[first] >= Nanos::SECOND {
            first += 1;
        }
        most = most.max(at + 1 - first);
    }
    most as f64
}
