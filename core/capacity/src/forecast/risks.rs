//! [`risks`]: host limits that a plan reaches without failing, each with a hint.
//!
//! They are not shortfalls, because connections survive them. Unread bytes above `tcp_mem` shrink
//! the windows of connections. A full accept queue makes clients try again after a second.
//! `TIME_WAIT` above its limit ends early. Long chains in the connection table make each packet
//! more expensive.

use std::net::SocketAddr;

use wavetank_units::quantity::{format_grouped, show_rate};
use wavetank_units::{Nanos, unix_path};

use wavetank_plan::feasibility::{
    BACKLOG_ASKED, BURST, Peak, TIME_WAIT, connection_table_risk, receive_memory_risk,
};
use wavetank_plan::{Close, ConnectionOwner, HostFacts, Load, Phase, Plan, PopulationCurve, shape};

use super::{Forecast, PhaseForecast};

/// Returns the limits of `host` that are tight for `plan`, one line each.
pub fn risks(plan: &Plan, host: &HostFacts) -> Vec<String> {
    let forecast = &Forecast::for_plan(plan);
    let targets: Vec<SocketAddr> =
        plan.targets.iter().flat_map(|target| plan.connect_addresses(target)).copied().collect();
    let both_ends = host.is_target(&targets);
    if targets.iter().all(|target| unix_path(*target).is_some()) {
        return Vec::new();
    }
    let peak = Peak::for_plan(plan);
    let lines = [
        receive_memory_risk(peak.demand.under_way, host),
        backlog(forecast, host).filter(|_| both_ends),
        time_wait(plan, forecast, host).filter(|_| both_ends || plan.http.keepalive),
        connection_table_risk(peak.demand.connections.saturating_mul(if both_ends { 2 } else { 1 }), host),
    ];
    lines.into_iter().flatten().collect()
}

/// Warns about a short accept queue. A client that finds it full gets no reply, and tries again
/// after a second.
fn backlog(forecast: &Forecast, host: &HostFacts) -> Option<String> {
    let most = host.limits.backlog_max?;
    let per_s = forecast.phases.iter().filter_map(|phase| phase.opening.per_s_max).fold(0.0, f64::max);
    let wanted = (per_s * BURST.as_secs_f64()).min(BACKLOG_ASKED as f64) as u64;
    (wanted > most).then(|| {
        format!(
            "a target on this host lets {} connections wait to be accepted, {:.0} ms of {}: one that is kept from its \
             CPU for longer makes clients try again after 1 s; as root, before it starts: sysctl -w \
             net.core.somaxconn={BACKLOG_ASKED}",
            format_grouped(most),
            most as f64 / per_s * 1e3,
            show_rate(per_s)
        )
    })
}

/// Warns about too many orderly closed connections within a minute.
fn time_wait(plan: &Plan, forecast: &Forecast, host: &HostFacts) -> Option<String> {
    let most = host.limits.time_wait_max?;
    if plan.http.close != Close::Fin {
        return None;
    }
    let closed = |(phase, own): (&Phase, &PhaseForecast)| {
        let falling = phase.load.levels().map_or(0.0, falling_per_s);
        let mut parts = phase.mix.parts().iter().filter_map(|part| plan.scenarios.get(usize::from(part.0)));
        let brief = !plan.http.keepalive
            || matches!(phase.load, Load::Open { .. })
                && parts.any(|one| one.connection != ConnectionOwner::Shared);
        let opened = own.opening.per_s_max.filter(|_| brief).unwrap_or(0.0);
        let seconds = phase.length.map_or(TIME_WAIT, |length| length.min(TIME_WAIT)).as_secs_f64();
        falling.max(opened) * seconds
    };
    let closed = plan.phases.iter().zip(&forecast.phases).map(closed).fold(0.0, f64::max) as u64;
    (closed > most).then(|| {
        format!(
            "{} connections closed with FIN within a minute are more than the {} that may be in TIME_WAIT: the kernel \
             ends the others early; close: rst leaves none, or as root: sysctl -w net.ipv4.tcp_max_tw_buckets={closed}",
            format_grouped(closed),
            format_grouped(most)
        )
    })
}

/// How many leave a second where most do.
fn falling_per_s(levels: &PopulationCurve) -> f64 {
    let fall = |piece: &shape::Segment| {
        let length = piece.length.max(Nanos(1)).as_secs_f64();
        piece.begin.saturating_sub(piece.end) as f64 / length.max(1e-9)
    };
    levels.pieces().iter().map(fall).fold(0.0, f64::max)
}
