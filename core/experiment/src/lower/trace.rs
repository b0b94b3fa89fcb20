//! `trace: FILE`: times of arrivals, or rates that start at given times.

use wavetank_grammar::{Diagnostic, Diagnostics};
use wavetank_plan::{Arrivals, Load, RateCurve};
use wavetank_units::quantity::{parse_duration, parse_rate};
use wavetank_units::{Nanos, Rate, UserError};

use super::{LowerContext, LowerError};
use crate::model::{Experiment, Phase, PhaseLoad, Trace};

/// Maximum number of lines of a trace.
const LINES_MAX: usize = 50_000_000;

/// Returns the load and its length.
pub(super) fn load(
    phase: &Phase,
    trace: &Trace,
    input: &LowerContext<'_>,
) -> Result<(Load, Option<Nanos>), LowerError> {
    Ok(read(phase, trace, input.file)?)
}

/// Reports each trace that cannot be read.
pub fn verify_traces(
    experiment: &Experiment,
    file: &dyn Fn(&str) -> Result<Vec<u8>, UserError>,
) -> Diagnostics {
    let mut out = Diagnostics::default();
    let own = experiment.scenarios.iter().flat_map(|scenario| &scenario.phases);
    for phase in experiment.phases.iter().chain(own) {
        if let PhaseLoad::Trace(trace) = &phase.load.value {
            read(phase, trace, file).err().into_iter().for_each(|wrong| out.push(wrong));
        }
    }
    out
}

/// Applies `--speed` and `--scale`. `None` if there are too many arrivals.
fn rehearsed(rows: &[(Nanos, Option<Rate>)], trace: &Trace) -> Option<Vec<(Nanos, Option<Rate>)>> {
    let mut out = Vec::new();
    for (at, (time, rate)) in (0_u64..).zip(rows) {
        let time = trace.speed.shortens(*time);
        let copies = if rate.is_some() { 1 } else { usize::try_from(trace.scale.copies(at)).ok()? };
        if copies > LINES_MAX - out.len() {
            return None;
        }
        out.extend(std::iter::repeat_n((time, rate.map(|rate| trace.scale.of_rate(rate))), copies));
    }
    Some(out)
}

fn read(
    phase: &Phase,
    trace: &Trace,
    bytes: &dyn Fn(&str) -> Result<Vec<u8>, UserError>,
) -> Result<(Load, Option<Nanos>), Diagnostic> {
    let place = phase.load.place;
    let told = |error: UserError| Diagnostic::from_error(error, place);
    let file = &trace.file;
    let bytes = bytes(file).map_err(told)?;
    let wrong = |line: usize, why: &str| {
        let message = format!("{file}:{line}: {why}");
        told(UserError::usage(
            "bad_trace",
            message,
            "a line is a time, or a time and a rate: 1.5s or 90s,200/s",
        ))
    };
    let text = String::from_utf8(bytes).map_err(|_| wrong(1, "this is not UTF-8 text"))?;
    let mut rows: Vec<(Nanos, Option<Rate>)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start_matches('\u{feff}').trim();
        let heading = at == 0 && line.to_ascii_lowercase().starts_with("time");
        if line.is_empty() || line.starts_with('#') || heading {
            continue;
        }
        if rows.len() >= LINES_MAX {
            return Err(wrong(at + 1, "the trace is too long"));
        }
        let (time, rate) = line.split_once(',').map_or((line, None), |(time, rate)| (time, Some(rate)));
        let time = parse_duration(time.trim()).map_err(|error| wrong(at + 1, &error.message))?;
        let rate = rate.map(|rate| parse_rate(rate.trim())).transpose();
        let rate = rate.map_err(|error| wrong(at + 1, &error.message))?;
        if let Some((before, other)) = rows.last() {
            if *before > time {
                return Err(wrong(at + 1, "this time is before the one above it"));
            }
            if other.is_some() != rate.is_some() {
                return Err(wrong(at + 1, "some lines have a rate and some do not"));
            }
        }
        rows.push((time, rate));
    }
    let rows = rehearsed(&rows, trace).ok_or_else(|| wrong(1, "the trace is too long with --scale"))?;
    let Some(last) = rows.last().copied() else { return Err(wrong(1, "the trace is empty")) };
    let given = phase.length.as_ref().map(|length| length.value);
    if last.1.is_none() {
        let length = given.unwrap_or(last.0.after(Nanos(1)));
        let times = rows.iter().map(|row| row.0).filter(|time| *time < length).collect();
        return Ok((Load::Trace { times }, Some(length)));
    }
    let Some(length) = given else {
        let message = "a trace with rates needs a length: its last rate applies until the phase ends";
        return Err(Diagnostic::error("length_missing", place, message, "for: 10m"));
    };
    let rates: Vec<(Nanos, Rate)> =
        rows.iter().filter_map(|(time, rate)| Some((*time, (*rate)?))).filter(|row| row.0 < length).collect();
    let rate = RateCurve::steps(&rates, length)
        .map_err(|fault| wrong(1, &format!("this trace is invalid: {fault}")))?;
    let arrivals = phase.arrivals.unwrap_or(Arrivals::Even);
    Ok((Load::Open { rate, arrivals, requests_each: None }, Some(length)))
}
