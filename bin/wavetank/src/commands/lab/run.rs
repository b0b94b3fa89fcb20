//! `wavetank lab run FILE EXPERIMENT`: runs a load test in a lab that is up, or in one created for
//! the run.

use wavetank_lab::LabsFolder;
use wavetank_runner::{LabEntry, PlannedLab, RunConsole as _, first_load_host};
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
    let quiet = args.output.quiet;
    let tolerance = agents.then(|| tolerance(&args.fleet));
    let entry = LabEntry::new(&lab, folder, file.display().to_string(), tolerance)?;
    let enter = || entry.enter(&mut Console::new(quiet));
    let result = run_from(args, Some(PlannedLab { lab: &lab, enter: Box::new(enter) }));
    match (result, entry.leave()) {
        // A lab that was not removed is reported, but the result of the run is more important.
        (result @ (Err(_) | Ok(1..)), Err(error)) => {
            Console::new(quiet).warn_of(&error);
            result
        }
        (result, left) => left.and(result),
    }
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
