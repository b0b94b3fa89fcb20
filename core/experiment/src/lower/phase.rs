//! One phase of the file as a load with a length.

use wavetank_plan::shape::{ShapeFault, climb_length, rise_length};
use wavetank_plan::{Arrivals, Curve, Levels, Load, Nanos, Rate};

use super::{Lowering, Unfit, trace};
use crate::model::{Phase, PhaseLoad, Sessions, Span, StairHeight};
use crate::{Diagnostic, Place};

/// What a phase does, and for how long.
pub(super) struct Shaped {
    pub(super) load: Load,
    /// `None`: only a count ends it.
    pub(super) length: Option<Nanos>,
    /// How long it takes if nothing else follows from `length`: what comes behind it begins then.
    pub(super) takes: Option<Nanos>,
    pub(super) sessions_max: Option<u64>,
}

/// `requests_each`: how many requests a session of the phase's mix has, if that is known.
pub(super) fn shaped(
    phase: &Phase,
    input: &Lowering<'_>,
    requests_each: Option<u64>,
) -> Result<Shaped, Unfit> {
    let sessions = phase.sessions.as_ref().map(|sessions| sessions.value);
    let sessions_max = match sessions {
        Some(Sessions::Total(total)) => Some(total),
        _ => None,
    };
    let each = match sessions {
        Some(Sessions::Each(each)) => Some(each),
        _ => None,
    };
    let place = phase.load.place;
    let (load, length) = match &phase.load.value {
        PhaseLoad::Rate { rate, of_requests } => {
            let slow = if *of_requests { Some(requests_each.ok_or_else(|| uncounted(place))?) } else { None };
            let curve = curve(phase, *rate, slow)?;
            let (curve, length) = ended(curve);
            let arrivals = phase.arrivals.unwrap_or(Arrivals::Even);
            (Load::Open { rate: curve, arrivals, requests_each: slow }, length)
        }
        PhaseLoad::Users(span) => {
            let (users, length) = levels(phase, *span)?;
            (Load::Closed { users, sessions_each: each }, length)
        }
        PhaseLoad::Hold(span) => {
            let (connections, length) = levels(phase, *span)?;
            (Load::Hold { connections, sessions_each: each }, length)
        }
        PhaseLoad::Trace(file) => trace::load(phase, file, input)?,
        PhaseLoad::Pause(length) => (Load::Pause, Some(*length)),
    };
    let takes = length.or_else(|| counted(&load, sessions_max));
    Ok(Shaped { load, length, takes, sessions_max })
}

/// How long a constant rate takes for so many sessions. Of a Poisson process only the mean is known.
fn counted(load: &Load, sessions: Option<u64>) -> Option<Nanos> {
    let Load::Open { rate, arrivals: Arrivals::Even, .. } = load else { return None };
    let rate = rate.as_constant()?;
    climb_length(0, sessions?, rate)
}

fn ended(curve: Curve) -> (Curve, Option<Nanos>) {
    let length = Some(curve.length()).filter(|length| *length != Nanos::MAX);
    (curve, length)
}

fn uncounted(place: Place) -> Unfit {
    let message =
        "requests/s needs sessions whose number of requests is the same for all, and known beforehand";
    let hint = "rate: 1k/s counts sessions; or one scenario without if, while, choose";
    Diagnostic::error("requests_unknown", place, message, hint).into()
}

fn unshaped(phase: &Phase, fault: ShapeFault) -> Unfit {
    let hint = "for: 10m, or at: and step: above zero";
    Diagnostic::error("bad_shape", phase.place, format!("this phase cannot be: {fault}"), hint).into()
}

/// A rate over time; in requests it is so much slower in sessions.
fn curve(phase: &Phase, rate: Span<Rate>, slow: Option<u64>) -> Result<Curve, Unfit> {
    let fault = |fault| unshaped(phase, fault);
    let slower = |rate: Rate| {
        let each = slow.unwrap_or(1).max(1);
        let per = i64::try_from(each).ok().and_then(|each| rate.per.0.checked_mul(each));
        per.map(|per| Rate { per: Nanos(per), ..rate }).ok_or_else(|| fault(ShapeFault::OutOfRange))
    };
    let (from, to) = (slower(rate.from)?, slower(rate.to)?);
    let length = phase.length.as_ref().map(|length| length.value);
    let climbs = (rate.from.as_per_second() - rate.to.as_per_second()).abs() > 0.0;
    let base = match (length, &phase.at, &phase.stairs) {
        (Some(length), ..) if phase.wave.is_some() => {
            let period = phase.wave.as_ref().map_or(length, |wave| wave.value);
            Curve::wave(from, to, period, length)
        }
        (Some(length), ..) if climbs => Curve::ramp(from, to, length),
        (None, Some(at), _) if climbs => {
            let length =
                rise_length(rate.from, rate.to, at.value).ok_or_else(|| fault(ShapeFault::OutOfRange))?;
            Curve::ramp(from, to, length)
        }
        (None, None, Some(stairs)) if climbs => {
            let StairHeight::Rate(step) = stairs.step else { return Err(fault(ShapeFault::ZeroStep)) };
            let ramp = stairs.ramp.unwrap_or(Nanos::ZERO);
            Curve::stairs(from, to, slower(step)?, stairs.every, ramp)
        }
        (length, ..) if length.is_none_or(|length| length > Nanos::ZERO) => Ok(Curve::constant(from, length)),
        _ => Err(ShapeFault::ZeroLength),
    };
    let base = base.map_err(fault)?;
    match &phase.spike {
        Some(spike) => base.with_spikes(slower(spike.rate)?, spike.length, spike.every).map_err(fault),
        None => Ok(base),
    }
}

/// Users or connections over time.
fn levels(phase: &Phase, span: Span<u64>) -> Result<(Levels, Option<Nanos>), Unfit> {
    let Span { from, to } = span;
    let length = phase.length.as_ref().map(|length| length.value);
    let made = match (length, &phase.at, &phase.stairs) {
        (Some(length), ..) if phase.wave.is_some() => {
            let period = phase.wave.as_ref().map_or(length, |wave| wave.value);
            Levels::wave(from, to, period, length)
        }
        (Some(length), ..) if from != to => Levels::ramp(from, to, length),
        (None, Some(at), _) if from != to => Levels::climb(from, to, at.value),
        (None, None, Some(stairs)) if from != to => match stairs.step {
            StairHeight::Count(step) => {
                Levels::stairs(from, to, step, stairs.every, stairs.ramp.unwrap_or(Nanos::ZERO))
            }
            StairHeight::Rate(_) => Err(ShapeFault::ZeroStep),
        },
        (length, ..) if length.is_none_or(|length| length > Nanos::ZERO) => Ok(Levels::constant(to, length)),
        _ => Err(ShapeFault::ZeroLength),
    };
    let levels = made.map_err(|fault| unshaped(phase, fault))?;
    let length = Some(levels.length()).filter(|length| *length != Nanos::MAX);
    Ok((levels, length))
}
