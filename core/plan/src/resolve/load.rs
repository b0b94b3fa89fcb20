//! The load of a plain run: phases, connections, open requests and threads (`docs/measuring.md`
//! §6).

use wavetank_units::quantity::{format_grouped, show_request_rate};
use wavetank_units::{Nanos, Rate, UserError};

use crate::constants::{CONNECTIONS, DURATION, MAX_OPEN};
use crate::feasibility::HostCapacity;
use crate::{
    Arrivals, FileTables, Load, MaxOpenLimit, Phase, PopulationCurve, RateCurve, RunOptions, ScenarioMix,
};

/// Phases and threads, and the load in one line.
pub(super) struct LoadPlan {
    pub(super) phases: Vec<Phase>,
    pub(super) threads: u32,
    pub(super) files: FileTables,
    pub(super) line: String,
    /// Why there are more threads than expected.
    pub(super) remark: Option<String>,
}

impl LoadPlan {
    /// The measured phase.
    pub(super) fn main(&self) -> &Phase {
        self.phases.last().expect("there is always a measured phase")
    }
}

/// Fixes load, length and limits.
pub(super) fn load_plan(
    options: &RunOptions,
    timeout: Nanos,
    room: &HostCapacity<'_>,
) -> Result<LoadPlan, UserError> {
    let mut main = match options.rate {
        Some(rate) => open_phase(options, rate, timeout, room)?,
        None => closed_phase(options)?,
    };
    check_threads(options, room.threads_for_files(main.connections), main.connections)?;
    let held = room.held(main.connections);
    main.requests_max = if options.once { Some(1) } else { options.requests };
    let line = line(options, &main);
    let warmup = options.warmup.filter(|length| *length > Nanos::ZERO);
    let warmup = warmup.map(|length| warmup_phase(&main, options, length, timeout));
    if warmup.is_some() && !main.load.is_open() {
        // The users of the warm-up carry over, with their connections.
        main.open_before = false;
    }
    Ok(LoadPlan {
        phases: warmup.into_iter().chain([main]).collect(),
        threads: held.threads,
        files: held.files,
        line,
        remark: held.remark,
    })
}

/// The load of `main` ahead of it, for `length`.
fn warmup_phase(main: &Phase, options: &RunOptions, length: Nanos, timeout: Nanos) -> Phase {
    let load = lasting(&main.load, length);
    let most = match &load {
        Load::Open { rate, .. } => most_open(rate, timeout),
        _ => u64::MAX,
    };
    let max_open = options.max_open.unwrap_or_else(|| main.max_open.min(most));
    let connections = options.connections.unwrap_or_else(|| main.connections.min(max_open));
    Phase {
        name: "warmup".to_owned(),
        warmup: true,
        start: Nanos::ZERO - length,
        length: Some(length),
        requests_max: None,
        load,
        max_open,
        connections,
        ..main.clone()
    }
}

/// How long the measured phase lasts; `None`: until its requests are offered.
fn length(options: &RunOptions) -> Option<Nanos> {
    match (options.duration, options.requests) {
        _ if options.once => None,
        (None, Some(_)) => None,
        (length, _) => Some(length.unwrap_or(DURATION)),
    }
}

/// The same constant load for another length.
fn lasting(load: &Load, length: Nanos) -> Load {
    let length = Some(length);
    match load {
        Load::Open { rate, arrivals, requests_each } => Load::Open {
            rate: RateCurve::constant(rate.max(), length),
            arrivals: *arrivals,
            requests_each: *requests_each,
        },
        Load::Closed { users, sessions_each } => Load::Closed {
            users: PopulationCurve::constant(users.max(), length),
            sessions_each: *sessions_each,
        },
        other => other.clone(),
    }
}

/// `-c N`: N connections with one user on each, or as many as `--pipeline` or `--streams`.
fn closed_phase(options: &RunOptions) -> Result<Phase, UserError> {
    let depth = u64::from(options.requests_in_flight());
    let default = if options.once { 1 } else { CONNECTIONS };
    let fewer = options.requests.map_or(default, |most| default.min(most.div_ceil(depth)));
    let connections = options.connections.unwrap_or(fewer);
    let users = connections.checked_mul(depth).ok_or_else(|| {
        UserError::usage(
            "overflow",
            format!("-c {connections} with {depth} requests on each connection is out of range"),
            "fewer of both",
        )
    })?;
    if let (Some(most), Some(_)) = (options.requests, options.connections)
        && users > most
    {
        return Err(UserError::usage(
            "conflict",
            format!("-c is more than -n: {users} users for a total of {most}"),
            format!("-n {users} or more, or fewer connections"),
        ));
    }
    let length = length(options);
    Ok(Phase {
        name: "main".to_owned(),
        warmup: false,
        start: Nanos::ZERO,
        length,
        requests_max: None,
        sessions_max: None,
        load: Load::Closed { users: PopulationCurve::constant(users, length), sessions_each: None },
        mix: ScenarioMix::one(0),
        max_open: users,
        max_open_by: MaxOpenLimit::Plan,
        connections,
        open_before: true,
    })
}

/// `-r RATE`: arrivals on a schedule. `-c` limits the pool; further arrivals wait.
fn open_phase(
    options: &RunOptions,
    rate: Rate,
    timeout: Nanos,
    room: &HostCapacity<'_>,
) -> Result<Phase, UserError> {
    let length = length(options);
    let rate = RateCurve::constant(rate, length);
    let natural = most_open(&rate, timeout).clamp(1, MAX_OPEN);
    // With a pool of the user's size only memory bounds what may wait for it.
    let lowered = match options.connections {
        Some(_) => room.clamp_to_memory(natural),
        None => room.clamp_to_host(natural),
    };
    let (max_open, max_open_by) = options.max_open.map_or(lowered, |own| (own, MaxOpenLimit::Plan));
    let fitting = room.clamp_to_host(max_open).0;
    let connections = options.connections.unwrap_or(fitting);
    if connections == 0 || max_open == 0 {
        return Err(UserError::refused(
            "no_files",
            "this host has no file, source address or memory left for a single connection",
            "raise the limit of open files (ulimit -n) and look at free memory",
        ));
    }
    Ok(Phase {
        name: "main".to_owned(),
        warmup: false,
        start: Nanos::ZERO,
        length,
        requests_max: None,
        sessions_max: None,
        load: Load::Open { rate, arrivals: options.arrivals.unwrap_or(Arrivals::Even), requests_each: None },
        mix: ScenarioMix::one(0),
        max_open,
        max_open_by,
        connections,
        open_before: options.connections.is_some(),
    })
}

/// Returns the maximum number of sessions that are open at the same time, if each takes `longest`:
/// the arrivals in that time, rounded up, or all there are.
pub fn most_open(rate: &RateCurve, longest: Nanos) -> u64 {
    let most = rate.max();
    let product = u128::from(most.count) * u128::from(longest.0.unsigned_abs());
    let open = product.div_ceil(u128::from(most.per.0.unsigned_abs().max(1)));
    let total = if rate.length() == Nanos::MAX { u64::MAX } else { rate.total() };
    // A Poisson process practically never exceeds its mean by this much.
    let total = total.saturating_add(10 * (total as f64).sqrt() as u64 + 10);
    u64::try_from(open).unwrap_or(u64::MAX).min(total)
}

/// Never more threads than connections: an idle thread measures nothing.
fn check_threads(options: &RunOptions, most: u32, connections: u64) -> Result<(), UserError> {
    let fitting = u32::try_from(connections).unwrap_or(u32::MAX);
    if options.threads.is_some() && most > fitting {
        return Err(UserError::usage(
            "conflict",
            format!("--threads {most} is more than the {connections} connections they would share"),
            format!("--threads {fitting} or fewer, or more connections with -c"),
        ));
    }
    Ok(())
}

/// `50 connections, 10 s, closed loop (defaults; -c, -d, -r change them)`.
fn line(options: &RunOptions, main: &Phase) -> String {
    let connections = match main.connections {
        1 => "1 connection".to_owned(),
        many => format!("{} connections", format_grouped(many)),
    };
    let mut parts = match &main.load {
        Load::Closed { users, .. } if users.max() > main.connections => {
            vec![format!("{} users on {connections}", format_grouped(users.max()))]
        }
        Load::Open { rate, arrivals, .. } => {
            let spaced = if *arrivals == Arrivals::Poisson { " (Poisson)" } else { "" };
            let mut parts = vec![format!("{}{spaced}", show_request_rate(rate.max().as_per_second()))];
            if main.open_before {
                parts.push(format!("pool of {connections}"));
            }
            parts
        }
        _ => vec![connections],
    };
    parts.extend(main.requests_max.map(|most| match most {
        1 => "1 request".to_owned(),
        many => format!("{} requests", format_grouped(many)),
    }));
    parts.extend(main.length.map(plain_seconds));
    parts.push(if options.rate.is_some() { "open loop" } else { "closed loop" }.to_owned());
    let given = [options.connections.is_some(), options.duration.is_some(), options.requests.is_some()];
    let advice = match (options.rate.is_some(), given) {
        _ if options.once => "",
        (false, [false, false, false]) => " (defaults; -c, -d, -r change them)",
        (_, [_, false, false]) => " (default length; -d, -n change it)",
        (false, [false, _, _]) => " (default connections; -c, -r change them)",
        _ => "",
    };
    format!("{}{advice}", parts.join(", "))
}

/// Whole seconds without decimals: `10 s`, not `10.0 s`.
fn plain_seconds(length: Nanos) -> String {
    let (whole, rest) = (length.0 / Nanos::SECOND.0, length.0 % Nanos::SECOND.0);
    if rest == 0 && whole < 120 { format!("{whole} s") } else { length.to_string() }
}
