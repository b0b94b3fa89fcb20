//! `wavetank calibrate`: measures how much load this host can generate.

use wavetank_capacity::calibration::CpuAssignment;
use wavetank_driver::Signals;
use wavetank_observe::core_of;
use wavetank_plan::feasibility::choose_engine;
use wavetank_record::{CalibrationDoc, CalibrationsDoc};
use wavetank_report::{calibration_text, engine_line};
use wavetank_runner::{CalibrationError, CalibrationSetup, Host, RunConsole as _, host_error};
use wavetank_units::{Code, ExitCode, UserError};

use super::terminal_width::terminal_width;
use crate::calibrate::{TargetProcess, as_target, calibration_file};
use crate::cli::{CalibrateArgs, CalibrationTargetArgs, FileFormat};
use crate::output::{self, Console};

/// Measures and stores, or shows the stored calibration. Exit 0; 1 if the target does not respond
/// or its counts differ from ours; 130 if interrupted, and then nothing is stored.
pub(crate) fn calibrate(args: CalibrateArgs) -> Result<u8, UserError> {
    let (schedule, engine) = (args.schedule()?, args.engine());
    let CalibrateArgs { target, allow_target, show: is_shown, out, format, quiet, command, .. } = args;
    if is_shown {
        return show(out, format);
    }
    let file = calibration_file(out)?;
    // Report this now, not after a minute of measuring.
    file.check_writable()?;
    let mut console = Console::new(quiet);
    if let Err(error) = file.read() {
        console.warn(&format!("{}: it will be replaced", error.message));
    }
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let host = Host::inspect()?;
    let engine = choose_engine(engine, &host.facts.sockets)?;
    console.info(&engine_line(engine.choice, engine.why.as_ref()));
    let layout = match &target {
        Some(_) => CpuAssignment::for_remote_target(&host.facts.cpus),
        None => CpuAssignment::from_cpus(&host.facts.cpus, core_of),
    };
    let cpus = host.facts.cpus.clone();
    let host = Host { facts: wavetank_plan::HostFacts { cpus: layout.load.clone(), ..host.facts }, ..host };
    let own_cpus = if layout.target.is_empty() { &cpus } else { &layout.target };
    let mut own = TargetProcess::start(own_cpus, engine.choice)?;
    let setup = CalibrationSetup {
        host,
        engine: engine.choice,
        allow_target,
        signals,
        command,
        schedule,
        layout,
        cpus,
        target,
        console: &mut console,
        run_console: &mut Console::new(true),
    };
    match wavetank_runner::calibrate(setup, &mut own) {
        Ok(doc) => deliver(doc, &file, format, &mut console),
        Err(CalibrationError::Signal) => {
            console.clear_progress();
            console.info("interrupted: nothing is stored");
            Ok(ExitCode::Signal as u8)
        }
        Err(CalibrationError::Fault(error)) => Err(error),
    }
}

/// Serves another calibration until its standard input ends.
pub(crate) fn calibration_target(args: &CalibrationTargetArgs) -> Result<u8, UserError> {
    as_target(&args.cpus, args.engine)
}

fn deliver(
    doc: CalibrationDoc,
    file: &wavetank_store::CalibrationFile,
    format: FileFormat,
    console: &mut Console,
) -> Result<u8, UserError> {
    console.clear_progress();
    let honest = doc.counted.sent == doc.counted.target;
    if honest {
        file.insert(doc.clone())?;
    }
    print(&CalibrationsDoc::new(vec![doc]), format)?;
    if honest {
        console.info(&format!("stored     {}", file.path().display()));
        return Ok(ExitCode::Pass as u8);
    }
    console.warn("the target's count differs from the number sent: nothing is stored");
    Ok(ExitCode::Fail as u8)
}

fn show(out: Option<std::path::PathBuf>, format: FileFormat) -> Result<u8, UserError> {
    let file = calibration_file(out)?;
    let doc = file.read()?.ok_or_else(|| {
        let message = format!("this host is not calibrated: there is no `{}`", file.path().display());
        UserError::usage(Code::NotCalibrated, message, "wavetank calibrate takes a minute, --quick 15 s")
    })?;
    print(&doc, format)?;
    Ok(ExitCode::Pass as u8)
}

fn print(doc: &CalibrationsDoc, format: FileFormat) -> Result<(), UserError> {
    output::print(&match format {
        FileFormat::Text => calibration_text(doc, terminal_width()),
        FileFormat::Json => doc.to_json() + "\n",
    })
}
