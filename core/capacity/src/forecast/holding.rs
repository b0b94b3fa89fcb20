//! [`HoldForecast`]: the forecast for held connections: source addresses, opening rate, memory, and
//! the next limit.

use std::net::SocketAddr;

use wavetank_units::{Nanos, UserError};

use super::{Forecast, PhaseForecast};
use wavetank_plan::feasibility::HostCapacity;
use wavetank_plan::feasibility::Peak;
use wavetank_plan::feasibility::{ConnectionEnd, MemoryModel, Transport};
use wavetank_plan::{EngineChoice, HostFacts, Load, Phase, Plan, SourceOrder};

/// The forecast of the phases that hold connections.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldForecast {
    /// Connections at the highest.
    pub connections: u64,
    /// Source addresses that are used, and ports of each at most; `None` where the kernel chooses.
    pub sources: Option<(u64, u64)>,
    /// How long they take to open, where a phase opens them.
    pub opening: Nanos,
    /// Opened a second at the highest, where that is known.
    pub opened_per_s_max: Option<f64>,
    /// Highest number of requests per second if responses took no time; `None` where only responses
    /// bound it.
    pub requests_per_s_max: Option<f64>,
    /// Memory by who takes it, in bytes: of each connection and of all.
    pub memory: Vec<(&'static str, u64, u64)>,
    /// Rings of io\_uring that they are in; 0 with epoll.
    pub rings: u64,
    /// Load threads.
    pub threads: u32,
    /// The limit that would be reached next (as in [`ResourceNeed::what`](super::ResourceNeed)),
    /// and the number of connections at which it is reached.
    pub next_limit: (&'static str, u64),
}

impl HoldForecast {
    /// Computes the forecast of a plan; `None` if it holds no connections.
    ///
    /// # Errors
    /// The plan has more threads than any host.
    pub fn for_plan(plan: &Plan, forecast: &Forecast, host: &HostFacts) -> Result<Option<Self>, UserError> {
        let mut targets: Vec<SocketAddr> =
            plan.targets.iter().flat_map(|target| plan.connect_addresses(target)).copied().collect();
        targets.sort_unstable();
        targets.dedup();
        let held = || {
            let both = plan.phases.iter().zip(&forecast.phases);
            both.filter(|(phase, _)| matches!(phase.load, Load::Hold { .. }))
        };
        if held().next().is_none() {
            return Ok(None);
        }
        let room =
            HostCapacity::new(host, &plan.sources.ranges, &targets, plan.engine, None, Transport::of(plan))?;
        let peak = Peak::for_plan(plan);
        let connections = peak.demand.connections;
        let most = |of: &dyn Fn(&PhaseForecast) -> Option<f64>| {
            held().map(|(_, own)| of(own)).reduce(|one, other| Some(one?.max(other?))).flatten()
        };
        Ok(Some(Self {
            connections,
            sources: sources(plan, host, &targets, connections),
            opening: held().fold(Nanos::ZERO, |sum, (phase, _)| sum.after(rising(phase))),
            opened_per_s_max: held().filter_map(|(_, own)| own.opening.per_s_max).reduce(f64::max),
            requests_per_s_max: most(&|own| own.requests_per_s_max),
            memory: memory(plan, &room, peak),
            rings: if plan.engine == EngineChoice::Uring { room.rings(connections) } else { 0 },
            threads: plan.threads,
            next_limit: next_limit(&room, peak),
        }))
    }
}

/// How many of the source addresses are used, and how many ports of each.
fn sources(plan: &Plan, host: &HostFacts, targets: &[SocketAddr], connections: u64) -> Option<(u64, u64)> {
    let all = plan.sources.ranges.iter().fold(0_u128, |sum, range| sum.saturating_add(range.len()));
    let all = u64::try_from(all).unwrap_or(u64::MAX);
    // Each pair serves every address of the target's once.
    let pairs = connections.div_ceil((targets.len() as u64).max(1));
    let used = match plan.sources.order {
        SourceOrder::InTurn => all.min(pairs),
        SourceOrder::FillFirst => all.min(pairs.div_ceil(host.tuple_ports().count().max(1))),
    };
    (all > 0).then(|| (used, pairs.div_ceil(used.max(1))))
}

/// How long the stretches of a phase take in which there are more and more.
fn rising(phase: &Phase) -> Nanos {
    let pieces = phase.load.levels().map_or(&[][..], wavetank_plan::PopulationCurve::pieces);
    let rising = pieces.iter().filter(|piece| piece.end > piece.begin);
    rising.fold(Nanos::ZERO, |sum, piece| sum.after(piece.length))
}

/// Returns the memory of kernel and program for each end on this host, and the memory that open
/// requests add.
fn memory(plan: &Plan, room: &HostCapacity<'_>, peak: Peak) -> Vec<(&'static str, u64, u64)> {
    let (connections, transport) = (peak.demand.connections, Transport::of(plan));
    let of = |end| MemoryModel::for_end(end, plan.engine, transport);
    let all = |each: u64| (each, each.saturating_mul(connections));
    let mut parts = Vec::new();
    let mut add = |what, (each, bytes)| parts.push((what, each, bytes));
    let client = of(ConnectionEnd::Client);
    add("client_kernel", all(client.kernel));
    add("client", all(client.user));
    if room.ends() == 2 {
        let target = of(ConnectionEnd::Target);
        add("target_kernel", all(target.kernel));
        add("target", all(target.user));
    }
    let each = room.footprint().under_way;
    add("under_way", (each, each.saturating_mul(peak.demand.under_way)));
    parts
}

/// Returns the limit that more connections of the same kind would reach first.
fn next_limit(room: &HostCapacity<'_>, peak: Peak) -> (&'static str, u64) {
    let bytes = u128::from(peak.demand.bytes(room.footprint(), peak.users)).max(1);
    let fitting = u128::from(room.memory_bytes()) * u128::from(peak.demand.connections) / bytes;
    let limits = [
        ("memory", u64::try_from(fitting).unwrap_or(u64::MAX)),
        ("connections", room.files()),
        ("source_ports", room.tuples()),
        ("tracking", room.host().limits.tracked.map_or(u64::MAX, |(left, _)| left)),
    ];
    limits.into_iter().reduce(|least, next| if next.1 < least.1 { next } else { least }).unwrap_or_default()
}
