//! `trace: FILE`: times of arrivals, or rates that start at given times.

use wavetank_grammar::{Diagnostic, Diagnostics};
use wavetank_plan::{Arrivals, Load, RateCurve};
use wavetank_units::quantity::{parse_duration, parse_rate};
use wavetank_units::{Code, Nanos, Rate, UserError};

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

/// The times of a trace, or of its rates.
type Rows = Vec<(Nanos, Option<Rate>)>;

fn read(
    phase: &Phase,
    trace: &Trace,
    bytes: &dyn Fn(&str) -> Result<Vec<u8>, UserError>,
) -> Result<(Load, Option<Nanos>), Diagnostic> {
    let place = phase.load.place;
    let at_place = |error: UserError| Diagnostic::from_error(error, place);
    let file = &trace.file;
    let bytes = bytes(file).map_err(at_place)?;
    let wrong = |why: &str| at_place(bad_trace(file, 1, why, FORM));
    let hint = "save it as UTF-8 text, decompressed";
    let text =
        String::from_utf8(bytes).map_err(|_| at_place(bad_trace(file, 1, "this is not UTF-8 text", hint)))?;
    let rows = read_rows(file, &text).map_err(at_place)?;
    let rows = rehearsed(&rows, trace).ok_or_else(|| wrong("the trace is too long with --scale"))?;
    let Some(last) = rows.last().copied() else { return Err(wrong("the trace is empty")) };
    let given = phase.length.as_ref().map(|length| length.value);
    if last.1.is_none() {
        let length = given.unwrap_or(last.0.after(Nanos(1)));
        let times = rows.iter().map(|row| row.0).filter(|time| *time < length).collect();
        return Ok((Load::Trace { times }, Some(length)));
    }
    let Some(length) = given else {
        let message = "a trace with rates needs a length: its last rate applies until the phase ends";
        return Err(Diagnostic::error(Code::LengthMissing, place, message, "for: 10m"));
    };
    let rates: Vec<(Nanos, Rate)> =
        rows.iter().filter_map(|(time, rate)| Some((*time, (*rate)?))).filter(|row| row.0 < length).collect();
    let rate = RateCurve::steps(&rates, length)
        .map_err(|fault| wrong(&format!("this trace is invalid: {fault}")))?;
    let arrivals = phase.arrivals.unwrap_or(Arrivals::Even);
    Ok((Load::Open { rate, arrivals, requests_each: None }, Some(length)))
}

fn read_rows(file: &str, text: &str) -> Result<Rows, UserError> {
    let mut rows = Rows::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start_matches('\u{feff}').trim();
        let heading = at == 0 && line.to_ascii_lowercase().starts_with("time");
        if line.is_empty() || line.starts_with('#') || heading {
            continue;
        }
        let wrong = |why: &str, hint: &str| bad_trace(file, at + 1, why, hint);
        if rows.len() >= LINES_MAX {
            return Err(wrong("the trace is too long", FORM));
        }
        let (time, rate) = line.split_once(',').map_or((line, None), |(time, rate)| (time, Some(rate)));
        let time = parse_duration(time.trim())
            .map_err(|error| wrong(&error.message, &hint_for_time(line, time.trim(), error.code)))?;
        let rate = rate.map(|rate| parse_rate(rate.trim())).transpose();
        let rate = rate.map_err(|error| wrong(&error.message, FORM))?;
        if let Some((before, other)) = rows.last() {
            if *before > time {
                return Err(wrong("this time is before the one above it", "sort the lines by time"));
            }
            if other.is_some() != rate.is_some() {
                return Err(wrong("some lines have a rate and some do not", FORM));
            }
        }
        rows.push((time, rate));
    }
    Ok(rows)
}

/// The form of a line of a trace.
const FORM: &str = "a line is a time, or a time and a rate: 1.5s or 90s,200/s";

fn bad_trace(file: &str, line: usize, why: &str, hint: &str) -> UserError {
    UserError::usage(Code::BadTrace, format!("{file}:{line}: {why}"), hint)
}

/// Returns a hint for a line with a time that cannot be read.
fn hint_for_time(line: &str, time: &str, code: Code) -> String {
    let is_log = line.contains("HTTP/") || line.contains("://") || line.starts_with('{');
    let is_date =
        time.split_once('-').is_some_and(|(year, _)| year.len() == 4 && year.parse::<u16>().is_ok());
    match time.parse::<f64>() {
        _ if is_log => "`Replay an access log` in docs/experiments.md makes a trace from a log".to_owned(),
        // A time of the Unix epoch.
        Ok(number) if number > 1e9 => "times count from the start of the load: 0s, 0.417s".to_owned(),
        _ if is_date => "times count from the start of the load: 0s, 0.417s".to_owned(),
        Ok(_) if code == Code::UnitMissing => format!("{time}s, or {time}ms?"),
        _ => FORM.to_owned(),
    }
}
