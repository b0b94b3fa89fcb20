//! `wavetank lab run FILE EXPERIMENT`: runs a load test in a lab that is up, or in one created for
//! the run.

use std::cell::Cell;

use wavetank_lab::{LabFolder, LabSpec, LabStatus, LabTag, LabsFolder, TaggedProcess};
use wavetank_runner::{LabRun, PlannedLab, RunConsole as _, first_load_host};
use wavetank_topology::Lab;
use wavetank_units::{ExitCode, UserError};

use super::lab_file::LabFile;
use crate::cli::{LabRunArgs, OutFile, OutputFormat};
use crate::commands::fleet::tolerance;
use crate::commands::run::run_from;
use crate::experiment::errors_json;
use crate::output::{self, Console};

/// Runs a load test from the load hosts of the file's lab. The lab is created for the run and
/// removed afterwards, unless it is already up. Errors of the run are reported before the lab is
/// created. Returns the exit code of the run.
pub(super) fn run(labs: &LabsFolder, args: LabRunArgs) -> Result<u8, UserError> {
    let LabRunArgs { file, lab: name, agents, run: args } = args;
    let loaded = LabFile::read(&file)?;
    let Some(mut lab) = loaded.lab.clone() else {
        return report_mistakes(&loaded, args.output.format(), &args.output.out);
    };
    loaded.print_diagnostics();
    if let Some(name) = name {
        lab.name = name;
    }
    first_load_host(&lab)?;
    let folder = labs.lab(&lab.name)?;
    let was_up = is_up(&folder, &lab)?;
    let quiet = args.output.quiet;
    let tolerance = agents.then(|| tolerance(&args.fleet));
    let brought_up = Cell::new(false);
    let enter = || {
        let mut talk = Console::new(quiet);
        if was_up {
            talk.info(&format!("lab        {} is up, and stays", lab.name));
        } else {
            let mark = LabTag::generate(&lab.name)?;
            // The lab is removed even if this process is killed.
            let owner = TaggedProcess::for_pid(std::process::id());
            let order = LabSpec { mark, file: file.display().to_string(), lab: lab.clone(), owner };
            let (_, warnings) = wavetank_lab::up(&order, &folder)?;
            for text in &warnings {
                talk.warn(text);
            }
            brought_up.set(true);
            talk.info(&format!("lab        {} is up: {}", folder.name(), hosts(lab.hosts.len())));
        }
        let wait = || talk.info("lab        waiting: another run uses it, or its faults are being reverted");
        Ok(LabRun::begin(&folder, !was_up, wait)?.by_agents(tolerance))
    };
    let result = run_from(args, Some(PlannedLab { lab: &lab, enter: Box::new(enter) }));
    if !brought_up.get() {
        return result;
    }
    let down = wavetank_lab::down(&folder);
    match (result, down) {
        // A lab that was not removed is reported, but the result of the run is more important.
        (result @ (Err(_) | Ok(1..)), Err(error)) => {
            Console::new(quiet).warn_of(&error);
            result
        }
        (result, down) => down.and(result),
    }
}

/// Returns a text such as `1 host` or `3 hosts`.
fn hosts(count: usize) -> String {
    format!("{count} host{}", if count == 1 { "" } else { "s" })
}

/// Reports the errors in the topology file in the output formats and files of the run. Exit 2.
fn report_mistakes(loaded: &LabFile, format: OutputFormat, out: &[OutFile]) -> Result<u8, UserError> {
    let first = loaded.diagnostics.first_error(&loaded.name).expect("without a lab there is an error");
    output::deliver_error(&first, out);
    match format {
        OutputFormat::Json => output::print(&format!("{}\n", errors_json(&first, &loaded.diagnostics)))?,
        OutputFormat::Junit => output::print(&output::render_error(&first, format))?,
        _ => loaded.print_diagnostics(),
    }
    Ok(ExitCode::Usage as u8)
}

/// Whether the lab is already up. Fails if it differs from the file.
fn is_up(folder: &LabFolder, lab: &Lab) -> Result<bool, UserError> {
    if !folder.exists() {
        // `up` reports anything else at that path.
        return Ok(false);
    }
    let name = folder.name();
    match LabStatus::read(folder)?.stands {
        "up" if folder.order()?.lab == *lab => Ok(true),
        "up" => {
            let message = format!("lab {name} is up, but differs from the file");
            let hint = format!("wavetank lab down --lab {name}; or use another name: --lab NAME");
            Err(UserError::usage("lab_differs", message, hint))
        }
        // `up` first removes the remains of a killed lab.
        "dead" => Ok(false),
        state => {
            let message = format!("lab {name} is {state}");
            let hint = format!("wavetank lab status --lab {name}; wavetank lab down --lab {name} removes it");
            Err(UserError::usage("lab_not_up", message, hint))
        }
    }
}
