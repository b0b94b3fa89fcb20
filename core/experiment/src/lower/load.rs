//! Lowers sequential and parallel phases, and computes what they need of the host.

use wavetank_grammar::Diagnostic;
use wavetank_plan::constants::MAX_OPEN;
use wavetank_plan::feasibility::{HostCapacity, ThreadLayout};
use wavetank_plan::{
    ConnectionOwner, FileTables, HttpPlan, Load, MaxOpenLimit, Phase as PlanPhase, PopulationCurve,
    RateCurve, Scenario, ScenarioMix, SettingNames,
};
use wavetank_units::{Code, Nanos, UserError};

use super::phase::{LoweredLoad, lower_load};
use super::session::SessionFacts;
use super::shared::too_many;
use super::{LowerContext, LowerError};
use crate::model::{Experiment, Phase};
use crate::overrides::default_phases;

/// All phases, and how their connections are held.
pub(super) struct LoweredPhases {
    pub(super) phases: Vec<PlanPhase>,
    pub(super) threads: u32,
    pub(super) files: FileTables,
    /// The settings of the file that determine the number of connections.
    pub(super) fewer: &'static str,
    pub(super) remarks: Vec<String>,
}

/// Returns the longest timeout of all requests.
pub(super) fn longest_timeout(scenarios: &[Scenario], http: &HttpPlan) -> Nanos {
    let own = scenarios.iter().flat_map(|scenario| &scenario.steps).filter_map(|step| step.timeout);
    own.fold(http.timeout, Nanos::max)
}

/// Returns the duration of warm-ups at the start of the top-level phases; later phases start at 0.
pub(super) fn warmup_offset(experiment: &Experiment) -> Nanos {
    let leading = experiment.phases.iter().take_while(|phase| phase.warmup);
    leading.filter_map(|phase| Some(phase.length.as_ref()?.value)).fold(Nanos::ZERO, Nanos::after)
}

pub(super) fn loads(
    experiment: &Experiment,
    input: &LowerContext<'_>,
    scenarios: &mut [Scenario],
    http: &HttpPlan,
    room: &HostCapacity<'_>,
    targets: usize,
) -> Result<LoweredPhases, LowerError> {
    let users_each = http.users_per_connection(targets);
    let facts: Vec<SessionFacts> =
        scenarios.iter().map(|one| SessionFacts::for_scenario(one, http)).collect();
    let mut lines: Vec<Vec<PlanPhase>> = Vec::new();
    let mut origins: Vec<&[Phase]> = Vec::new();
    let default = if experiment.has_phases() { Vec::new() } else { default_phases(u64::from(http.pipeline)) };
    let common = if default.is_empty() { &experiment.phases } else { &default };
    if !common.is_empty() {
        let mix = common_mix(experiment).ok_or_else(|| too_many("shares of the weights"))?;
        lines.push(line(common, "", &mix, input, &facts, (http, users_each))?);
        origins.push(common);
    }
    for (at, scenario) in (0_u16..).zip(&experiment.scenarios) {
        if !scenario.phases.is_empty() {
            let name = scenario.name.as_ref().map_or("", |name| name.value.as_str());
            lines.push(line(
                &scenario.phases,
                name,
                &ScenarioMix::one(at),
                input,
                &facts,
                (http, users_each),
            )?);
            origins.push(&scenario.phases);
        }
    }
    if lines.iter().map(Vec::len).sum::<usize>() > usize::from(u16::MAX) {
        return Err(too_many("phases"));
    }
    let zero = lines.iter().flatten().filter(|phase| !phase.warmup).map(|phase| phase.start).min();
    let zero = zero.unwrap_or(Nanos::ZERO);
    let (held, fewer) = fit_to_host(&mut lines, &facts, room);
    limit_waiting(&mut lines, &origins, &facts, room);
    // A run of a URL has `-c` for its users.
    let fewer =
        if experiment.setting_names == SettingNames::Options && fewer == "users:" { "-c" } else { fewer };
    let mut phases: Vec<PlanPhase> = lines.into_iter().flatten().collect();
    for phase in &mut phases {
        phase.start = phase.start - zero;
    }
    phases.sort_by_key(|phase| phase.start);
    let remarks = held.remark.into_iter().collect();
    Ok(LoweredPhases { phases, threads: held.threads, files: held.files, fewer, remarks })
}

/// Returns the mix of the scenarios that share the top-level phases: those without their own
/// phases.
fn common_mix(experiment: &Experiment) -> Option<ScenarioMix> {
    let sharing = (0_u16..).zip(&experiment.scenarios).filter(|(_, one)| one.phases.is_empty());
    let parts: Vec<(u16, u64)> =
        sharing.map(|(at, one)| (at, one.weight.as_ref().map_or(1, |weight| weight.value))).collect();
    if parts.is_empty() { Some(ScenarioMix::one(0)) } else { ScenarioMix::new(parts) }
}

/// Lowers phases that follow each other. `users_each` users share a connection.
fn line(
    phases: &[Phase],
    scenario: &str,
    mix: &ScenarioMix,
    input: &LowerContext<'_>,
    facts: &[SessionFacts],
    (http, users_each): (&HttpPlan, u32),
) -> Result<Vec<PlanPhase>, LowerError> {
    let of_mix = || mix.parts().iter().map(|(at, _)| facts[usize::from(*at)]);
    let first = of_mix().next().and_then(|facts| facts.requests);
    let requests_each = first.filter(|each| *each > 0 && of_mix().all(|facts| facts.requests == Some(*each)));
    let longest = of_mix().map(|facts| facts.longest).max().unwrap_or(http.timeout);
    let mut start = Some(Nanos::ZERO);
    let mut line: Vec<PlanPhase> = Vec::with_capacity(phases.len());
    for (at, phase) in phases.iter().enumerate() {
        let LoweredLoad { load, length, takes, sessions_max } = lower_load(phase, input, requests_each)?;
        let (requests_max, sessions_max) = counts(phase, sessions_max, requests_each)?;
        let from = phase.from.as_ref().map(|from| from.value).or(start).ok_or_else(|| {
            let message = "the previous phase has no length, so the start of this phase is unknown";
            Diagnostic::error(
                Code::LengthMissing,
                phase.place,
                message,
                "set for: in the previous phase, or from: here",
            )
        })?;
        let follows = line.last().filter(|last| last.end() == Some(from) && last.load.levels().is_some());
        let length = if at + 1 < phases.len() { length.or(takes) } else { length };
        let carried = follows.is_some();
        line.push(PlanPhase {
            name: phase
                .name
                .as_ref()
                .map_or_else(|| own_name(scenario, at, phases.len()), |name| name.value.clone()),
            warmup: phase.warmup,
            start: from,
            length,
            requests_max,
            sessions_max,
            mix: mix.clone(),
            max_open: wanted(&load, phase.max_open, longest, sessions_max),
            max_open_by: MaxOpenLimit::Plan,
            connections: phase
                .pool
                .unwrap_or_else(|| connections(&load, of_mix().map(|facts| facts.targets).max(), users_each)),
            open_before: phase.pool.is_some()
                || (!carried && opens_ahead(&load) && of_mix().all(|facts| is_kept(facts.connection))),
            load,
        });
        start = takes.map(|takes| from.after(takes));
    }
    Ok(line)
}

/// Returns the maximum numbers of requests and sessions. `-n` of the command line counts requests,
/// and no user stops in the middle of a journey.
fn counts(
    phase: &Phase,
    sessions_max: Option<u64>,
    requests_each: Option<u64>,
) -> Result<(Option<u64>, Option<u64>), LowerError> {
    let unfit =
        |message: String, hint: String| LowerError::from(UserError::usage(Code::Conflict, message, hint));
    match (phase.requests, requests_each) {
        (None, _) => Ok((None, sessions_max)),
        (Some(most), Some(1)) => Ok((Some(most), sessions_max)),
        (Some(most), Some(each)) if most % each == 0 => Ok((None, Some(most / each))),
        (Some(most), Some(each)) => {
            let below = most / each * each;
            let hint = if below > 0 {
                format!("use -n {below} or -n {}", below + each)
            } else {
                format!("use -n {each}")
            };
            Err(unfit(
                format!("-n {most} is not a whole number of sessions: each sends {each} requests"),
                hint,
            ))
        }
        (Some(most), None) => Err(unfit(
            format!(
                "-n {most} counts requests, but the number of requests of a session is not known in advance"
            ),
            "use -d 10s, or phases in the file with sessions: N".to_owned(),
        )),
    }
}

/// Returns the name of a phase that has none in the file.
fn own_name(scenario: &str, at: usize, all: usize) -> String {
    match (scenario, all) {
        ("", 1) => "main".to_owned(),
        ("", _) => format!("phase-{}", at + 1),
        (scenario, 1) => scenario.to_owned(),
        (scenario, _) => format!("{scenario}-{}", at + 1),
    }
}

/// Returns whether connections are opened before the users start.
fn opens_ahead(load: &Load) -> bool {
    matches!(load, Load::Closed { users, .. } if users.as_constant().is_some())
}

/// Returns whether a connection is kept from one request to the next.
const fn is_kept(connection: ConnectionOwner) -> bool {
    matches!(connection, ConnectionOwner::User | ConnectionOwner::Session)
}

/// Returns the maximum number of connections of users or holds; 0 for other loads. `pipeline` users
/// share one.
fn connections(load: &Load, targets: Option<u64>, pipeline: u32) -> u64 {
    let users = load.levels().map_or(0, PopulationCurve::max);
    users.div_ceil(u64::from(pipeline.max(1))).saturating_mul(targets.unwrap_or(1))
}

/// Returns whether users of a phase share a pool instead of having their own connections.
fn is_pooled(phase: &PlanPhase, facts: &[SessionFacts]) -> bool {
    let holds = matches!(phase.load, Load::Hold { .. });
    phase.load.levels().is_some() && !holds && is_shared(phase, facts)
}

/// Returns whether no session of a phase has its own connections.
fn is_shared(phase: &PlanPhase, facts: &[SessionFacts]) -> bool {
    let shared = |&(part, _): &(u16, u64)| facts[usize::from(part)].connection == ConnectionOwner::Shared;
    phase.mix.parts().iter().all(shared)
}

/// Returns the maximum number of open requests: a session has one at a time, and has a maximum
/// duration.
fn wanted(load: &Load, own: Option<u64>, longest: Nanos, sessions_max: Option<u64>) -> u64 {
    let most = match load {
        Load::Closed { .. } | Load::Hold { .. } => return connections(load, None, 1).max(1),
        Load::Pause => return 1,
        Load::Open { rate, .. } => most_open(rate, longest),
        Load::Trace { times } => times.len() as u64,
    };
    own.unwrap_or_else(|| most.min(sessions_max.unwrap_or(u64::MAX)).clamp(1, MAX_OPEN))
}

/// Returns the maximum number of sessions that are open at the same time, if each takes `longest`:
/// the arrivals in that time, rounded up, or all there are.
fn most_open(rate: &RateCurve, longest: Nanos) -> u64 {
    let most = rate.max();
    let product = u128::from(most.count) * u128::from(longest.0.unsigned_abs());
    let open = product.div_ceil(u128::from(most.per.0.unsigned_abs().max(1)));
    let total = if rate.length() == Nanos::MAX { u64::MAX } else { rate.total() };
    // A Poisson process practically never exceeds its mean by this much.
    let total = total.saturating_add(10 * (total as f64).sqrt() as u64 + 10);
    u64::try_from(open).unwrap_or(u64::MAX).min(total)
}

/// Limits the connections of open phases and pools to what this host has left. Returns the layout
/// of the load threads, and the setting that decides the number of connections.
fn fit_to_host(
    lines: &mut [Vec<PlanPhase>],
    facts: &[SessionFacts],
    room: &HostCapacity<'_>,
) -> (ThreadLayout, &'static str) {
    let reserved_in = |phase: &PlanPhase| if is_pooled(phase, facts) { 0 } else { phase.connections };
    let sum = |lines: &[Vec<PlanPhase>], of: &dyn Fn(&PlanPhase) -> u64| {
        let most = |line: &Vec<PlanPhase>| line.iter().map(of).max().unwrap_or(0);
        lines.iter().map(most).fold(0, u64::saturating_add)
    };
    let reserved = sum(lines, &reserved_in);
    let any = |is: fn(&Load) -> bool| lines.iter().flatten().any(|phase| is(&phase.load));
    let setting = match (any(|load| matches!(load, Load::Hold { .. })), any(|load| load.levels().is_some())) {
        (true, _) => "hold:",
        (false, true) => "users:",
        (false, false) => "-c",
    };
    let users_in = |phase: &PlanPhase| if is_pooled(phase, facts) { phase.max_open } else { 0 };
    let users = sum(lines, &users_in);
    let left = |wanted: u64| {
        let (fitting, by) = room.limit_to_host(wanted.saturating_add(reserved), users);
        (fitting.saturating_sub(reserved).max(1), by)
    };
    for phase in lines.iter_mut().flatten() {
        if is_pooled(phase, facts) {
            // A session that finds no free connection waits for one.
            phase.connections = left(phase.connections).0;
        }
        // A pool has its requested size, and a waiting session takes no connection.
        if !phase.load.is_open() || phase.connections > 0 {
            continue;
        }
        let each = connections_each(phase, facts);
        let (fitting, by) = left(phase.max_open.saturating_mul(each));
        let fitting = (fitting / each).max(1);
        if fitting < phase.max_open && by != MaxOpenLimit::Plan {
            (phase.max_open, phase.max_open_by) = (fitting, by);
        }
        phase.connections = fitting.min(phase.max_open).saturating_mul(each);
    }
    (room.held(sum(lines, &|phase| phase.connections)), setting)
}

/// Limits the sessions that wait for a connection of a pool. They take memory alone, so a limit in
/// `origins`, the phases of the experiment, is kept although there are setting connections.
fn limit_waiting(
    lines: &mut [Vec<PlanPhase>],
    origins: &[&[Phase]],
    facts: &[SessionFacts],
    room: &HostCapacity<'_>,
) {
    for (phase, origin) in lines.iter_mut().flatten().zip(origins.iter().copied().flatten()) {
        if !phase.load.is_open() || !is_shared(phase, facts) {
            continue;
        }
        match (origin.max_open, origin.pool) {
            (Some(own), _) => (phase.max_open, phase.max_open_by) = (own, MaxOpenLimit::Plan),
            (None, Some(_)) => {
                (phase.max_open, phase.max_open_by) = room.clamp_to_memory(phase.max_open);
            }
            (None, None) => {}
        }
    }
}

/// Returns the maximum number of connections of one session; 1 for sessions that share connections.
fn connections_each(phase: &PlanPhase, facts: &[SessionFacts]) -> u64 {
    let own = |&(part, _): &(u16, u64)| match facts[usize::from(part)] {
        SessionFacts { connection: ConnectionOwner::Shared, .. } => 1,
        SessionFacts { targets, .. } => targets,
    };
    phase.mix.parts().iter().map(own).max().unwrap_or(1)
}
