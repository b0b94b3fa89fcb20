//! `wavetank check FILE`.

use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::{Value as Json, json};
use wavetank_experiment::{Experiment, Value};
use wavetank_plan::RunOptions;
use wavetank_record::LackDoc;
#[cfg(target_os = "linux")]
use wavetank_runner::Host;
#[cfg(target_os = "linux")]
use wavetank_units::Code;
use wavetank_units::quantity::format_grouped;
use wavetank_units::{ExitCode, UserError};

#[cfg(target_os = "linux")]
use super::plan::lowered;
use crate::cli::{CheckArgs, FileArgs, FileFormat};
use crate::experiment::{DataLoading, ExperimentFile, remarks_json, with_absolute_paths};
use crate::output;

/// Reads the file and everything it names, and reports every error: diagnostics on stderr, a
/// description of the file on stdout. Exit 0 if the file is valid, even if this host lacks
/// something for it, which is reported; 2 if it cannot be run. Nothing is sent and no name is
/// resolved.
pub(crate) fn check(args: CheckArgs) -> Result<u8, UserError> {
    let CheckArgs { file: args, options, source_auto } = args;
    let options = with_absolute_paths(options);
    let mut loaded = ExperimentFile::read(&args, &options, DataLoading::Later)?;
    let Some(experiment) = loaded.experiment.take() else { return loaded.print_errors(args.format) };
    let experiment = &experiment;
    let lacking = lacking(experiment, &loaded, (&args, &options, source_auto))?;
    match args.format {
        FileFormat::Text => {
            // If stderr is closed, stdout still gets the description.
            let _ = std::io::stderr().write_all(loaded.rendered().as_bytes());
            for lack in &lacking {
                let reported = format!("this host lacks: {}\nhint: {}\n", lack.message, lack.hint);
                let _ = std::io::stderr().write_all(reported.as_bytes());
            }
            output::print(&format!("{}: {}\n", loaded.name, summary(experiment)))?;
        }
        FileFormat::Json => {
            let answer = json!({
                "schema": "wavetank.check/1",
                "file": loaded.name,
                "name": experiment.name.as_ref().map(|name| &name.value),
                "ok": true,
                "summary": summary(experiment),
                "variables": variables(experiment),
                "remarks": remarks_json(&loaded.diagnostics),
                "lacking": lacking.iter().map(LackDoc::from).collect::<Vec<_>>(),
            });
            output::print(&format!("{answer}\n"))?;
        }
    }
    Ok(ExitCode::Pass as u8)
}

/// Returns what this host lacks for the file.
#[cfg(target_os = "linux")]
fn lacking(
    experiment: &Experiment,
    loaded: &ExperimentFile,
    asked: (&FileArgs, &RunOptions, bool),
) -> Result<Vec<UserError>, UserError> {
    let host = Host::inspect()?;
    // A file may be valid although it cannot be planned yet, because a secret or a file it names is
    // missing. `plan` and `run` report that.
    match lowered(experiment, loaded, asked, &host) {
        Ok((lowered, _)) => Ok(lowered.lacking),
        // No host could run this, so the file is wrong.
        Err(error) if error.code == Code::TooManySeries => Err(error),
        Err(_) => Ok(Vec::new()),
    }
}

/// Returns nothing: a host that cannot run loads is not inspected.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "where hosts are looked at, that may fail")]
fn lacking(
    _: &Experiment,
    _: &ExperimentFile,
    _: (&FileArgs, &RunOptions, bool),
) -> Result<Vec<UserError>, UserError> {
    Ok(Vec::new())
}

/// Describes the variables for a form: the name, and the value as `--set` takes it. Values that
/// `redact` names are left out.
fn variables(experiment: &Experiment) -> Vec<Json> {
    let is_secret = |name: &str| experiment.redact.iter().any(|own| own.eq_ignore_ascii_case(name));
    let all = experiment.vars.iter();
    all.map(|one| {
        if is_secret(&one.name) {
            return json!({ "name": one.name, "secret": true });
        }
        json!({ "name": one.name, "value": settable(&one.value) })
    })
    .collect()
}

/// Returns a value as text: a scalar as it is written, others as JSON.
fn settable(value: &Value) -> String {
    match value {
        Value::Text(template) => template.display_text(),
        Value::Number(digits) => digits.clone(),
        other => as_json(other).to_string(),
    }
}

fn as_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Number(digits) => serde_json::from_str(digits).unwrap_or_else(|_| digits.clone().into()),
        Value::Text(template) => template.display_text().into(),
        Value::List(items) => items.iter().map(as_json).collect(),
        Value::Map(pairs) => pairs.iter().map(|(name, value)| (name.clone(), as_json(value))).collect(),
    }
}

/// Describes the file in one line.
fn summary(experiment: &Experiment) -> String {
    let mut line =
        experiment.name.as_ref().map_or_else(|| "an experiment".to_owned(), |name| name.value.clone());
    let own: usize = experiment.scenarios.iter().map(|scenario| scenario.phases.len()).sum();
    let requests: usize = experiment
        .scenarios
        .iter()
        .flat_map(|scenario| [&scenario.before, &scenario.steps, &scenario.after])
        .flat_map(|steps| experiment.flattened(steps))
        .filter(|step| step.request().is_some())
        .count();
    let counted = [
        (experiment.targets.len(), "target"),
        (experiment.scenarios.len(), "scenario"),
        (requests, "request"),
        (experiment.phases.len() + own, "phase"),
        (experiment.data.len(), "source of data"),
        (experiment.thresholds.len(), "threshold"),
        (experiment.stop.len(), "stop condition"),
        (experiment.events.len(), "event"),
    ];
    for (count, what) in counted.into_iter().filter(|(count, _)| *count > 0) {
        let many = match what {
            "source of data" => "sources of data".to_owned(),
            _ => format!("{what}s"),
        };
        let shown = if count == 1 { what } else { &many };
        write!(line, ", {} {shown}", format_grouped(count as u64)).expect("text takes everything");
    }
    line
}
