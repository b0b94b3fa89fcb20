//! One phase of the file as a load with a length.

use wavetank_grammar::{Diagnostic, Span};
use wavetank_plan::shape::{ShapeError, climb_length, rise_length};
use wavetank_plan::{Arrivals, Load, PopulationCurve, RateCurve};
use wavetank_units::{Code, Nanos, Rate};

use super::{LowerContext, LowerError, trace};
use crate::model::{FromTo, Phase, PhaseLoad, Sessions, StairHeight};

/// The load of a phase and its length.
pub(super) struct LoweredLoad {
    pub(super) load: Load,
    /// `None` if only a count ends the phase.
    pub(super) length: Option<Nanos>,
    /// Expected duration if `length` does not determine it. The next phase starts then.
    pub(super) takes: Option<Nanos>,
    pub(super) sessions_max: Option<u64>,
}

/// Lowers the load of a phase. `requests_each` is the number of requests in each session of the
/// phase's mix, if known.
pub(super) fn lower_load(
    phase: &Phase,
    input: &LowerContext<'_>,
    requests_each: Option<u64>,
) -> Result<LoweredLoad, LowerError> {
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
            let requests_per_session =
                if *of_requests { Some(requests_each.ok_or_else(|| uncounted(place))?) } else { None };
            let curve = curve(phase, *rate, requests_per_session)?;
            let (curve, length) = ended(curve);
            let arrivals = phase.arrivals.unwrap_or(Arrivals::Even);
            (Load::Open { rate: curve, arrivals, requests_each: requests_per_session }, length)
        }
        PhaseLoad::Users(span) => {
            let (users, length) = levels(phase, *span)?;
            (Load::Closed { users, sessions_each: each }, length)
        }
        PhaseLoad::Hold(span) => {
            let (connections, length) = levels(phase, *span)?;
            (Load::Hold { connections, sessions_each: each }, length)
        }
        PhaseLoad::Trace(own) => trace::load(phase, own, input)?,
        PhaseLoad::Pause(length) => (Load::Pause, Some(*length)),
    };
    let takes = length.or_else(|| counted(&load, sessions_max));
    Ok(LoweredLoad { load, length, takes, sessions_max })
}

/// Returns how long a constant rate takes for `sessions`. For a Poisson process only the mean is
/// known.
fn counted(load: &Load, sessions: Option<u64>) -> Option<Nanos> {
    let Load::Open { rate, arrivals: Arrivals::Even, .. } = load else { return None };
    let rate = rate.as_constant()?;
    climb_length(0, sessions?, rate)
}

fn ended(curve: RateCurve) -> (RateCurve, Option<Nanos>) {
    let length = Some(curve.length()).filter(|length| *length != Nanos::MAX);
    (curve, length)
}

fn uncounted(place: Span) -> LowerError {
    let message = "requests/s needs sessions that all send the same number of requests, known in advance";
    let hint = "use rate: 1k/s to count sessions, or one scenario without if, while, choose";
    Diagnostic::error(Code::RequestsUnknown, place, message, hint).into()
}

fn unshaped(phase: &Phase, fault: ShapeError) -> LowerError {
    let hint = "for: 10m, or at: and step: above zero";
    Diagnostic::error(Code::BadShape, phase.place, format!("this phase is invalid: {fault}"), hint).into()
}

/// Returns a rate over time. `requests_per_session` converts a rate of requests to sessions.
fn curve(
    phase: &Phase,
    rate: FromTo<Rate>,
    requests_per_session: Option<u64>,
) -> Result<RateCurve, LowerError> {
    let fault = |fault| unshaped(phase, fault);
    let of_sessions = |rate: Rate| {
        let each = requests_per_session.unwrap_or(1).max(1);
        let per = i64::try_from(each).ok().and_then(|each| rate.per.0.checked_mul(each));
        per.map(|per| Rate { per: Nanos(per), ..rate }).ok_or_else(|| fault(ShapeError::OutOfRange))
    };
    let (from, to) = (of_sessions(rate.from)?, of_sessions(rate.to)?);
    let length = phase.length.as_ref().map(|length| length.value);
    let changes = (rate.from.as_per_second() - rate.to.as_per_second()).abs() > 0.0;
    let base = match (length, &phase.at, &phase.stairs) {
        (Some(length), ..) if phase.wave.is_some() => {
            let period = phase.wave.as_ref().map_or(length, |wave| wave.value);
            RateCurve::wave(from, to, period, length)
        }
        (Some(length), ..) if changes => RateCurve::ramp(from, to, length),
        (None, Some(at), _) if changes => {
            let length =
                rise_length(rate.from, rate.to, at.value).ok_or_else(|| fault(ShapeError::OutOfRange))?;
            RateCurve::ramp(from, to, length)
        }
        (None, None, Some(stairs)) if changes => {
            let StairHeight::Rate(step) = stairs.step else { return Err(fault(ShapeError::ZeroStep)) };
            let ramp = stairs.ramp.unwrap_or(Nanos::ZERO);
            RateCurve::stairs(from, to, of_sessions(step)?, stairs.every, ramp)
        }
        (length, ..) if length.is_none_or(|length| length > Nanos::ZERO) => {
            Ok(RateCurve::constant(from, length))
        }
        _ => Err(ShapeError::ZeroLength),
    };
    let base = base.map_err(fault)?;
    match &phase.spike {
        Some(spike) => base.with_spikes(of_sessions(spike.rate)?, spike.length, spike.every).map_err(fault),
        None => Ok(base),
    }
}

/// Returns the number of users or connections over time.
fn levels(phase: &Phase, span: FromTo<u64>) -> Result<(PopulationCurve, Option<Nanos>), LowerError> {
    let FromTo { from, to } = span;
    let length = phase.length.as_ref().map(|length| length.value);
    let made = match (length, &phase.at, &phase.stairs) {
        (Some(length), ..) if phase.wave.is_some() => {
            let period = phase.wave.as_ref().map_or(length, |wave| wave.value);
            PopulationCurve::wave(from, to, period, length)
        }
        (Some(length), ..) if from != to => PopulationCurve::ramp(from, to, length),
        (None, Some(at), _) if from != to => PopulationCurve::climb(from, to, at.value),
        (None, None, Some(stairs)) if from != to => match stairs.step {
            StairHeight::Count(step) => {
                PopulationCurve::stairs(from, to, step, stairs.every, stairs.ramp.unwrap_or(Nanos::ZERO))
            }
            StairHeight::Rate(_) => Err(ShapeError::ZeroStep),
        },
        (length, ..) if length.is_none_or(|length| length > Nanos::ZERO) => {
            Ok(PopulationCurve::constant(to, length))
        }
        _ => Err(ShapeError::ZeroLength),
    };
    let levels = made.map_err(|fault| unshaped(phase, fault))?;
    let length = Some(levels.length()).filter(|length| *length != Nanos::MAX);
    Ok((levels, length))
}
