//! The `wavetank` program: arguments in, exit code out. Its functions are in libraries, which are
//! combined here.

// The static build's: docs/decisions/allocator.md has the measurement.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(target_os = "linux")]
mod calibrate;
mod cli;
mod commands;
mod comparison;
mod experiment;
mod output;
#[cfg(all(test, target_os = "linux"))]
mod sentences;
#[cfg(target_os = "linux")]
mod trace;
#[cfg(target_os = "linux")]
mod view;

use std::io::Write;
use std::process::ExitCode;

use wavetank_units::{UserError, sanitize_lines};

use cli::{Command, FileFormat, LabCommand, OutFile, OutputFormat, ParseExit};

fn main() -> ExitCode {
    let argv: Vec<std::ffi::OsString> = std::env::args_os().collect();
    // The lab's processes are this program again.
    #[cfg(target_os = "linux")]
    if let Some(ended) = wavetank_lab::run_internal_command(&argv) {
        return ended.map_or_else(|error| refuse(&error, OutputFormat::Text), ExitCode::from);
    }
    #[cfg(target_os = "linux")]
    wavetank_driver::Signals::survive_file_size_limit();
    let command = match cli::parse(argv) {
        Ok(command) => command,
        Err(ParseExit::Help(text)) => {
            return match output::print(&text) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => refuse(&error, OutputFormat::Text),
            };
        }
        Err(ParseExit::Error { error, json, out }) => {
            output::deliver_error(&error, &out);
            return refuse(&error, if json { OutputFormat::Json } else { OutputFormat::Text });
        }
    };
    let (format, out) = wanted(&command);
    let result = match command {
        Command::Run(args) => commands::run(*args),
        Command::Search(args) => commands::search(*args),
        Command::Serve(args) => commands::serve(&args),
        Command::Control(command) => commands::control(&command),
        Command::Ui(args) => commands::ui(&args),
        Command::Report(args) => commands::report(&args),
        Command::Runs(args) => commands::runs(*args),
        Command::Compare(args) => commands::compare(&args),
        Command::Explain(args) => commands::explain(&args),
        Command::Demo(args) => commands::demo(&args),
        Command::New(file) => commands::new(&file),
        Command::Check(args) => commands::check(*args),
        Command::Plan(args) => commands::plan(*args),
        Command::Try(args) => commands::try_file(*args),
        Command::Calibrate(args) => commands::calibrate(*args),
        Command::CalibrationTarget(args) => commands::calibration_target(&args),
        Command::Size(args) => commands::size(*args),
        Command::Doctor(args) => commands::doctor(*args),
        Command::Schema(of) => commands::schema(of),
        Command::Fleet(args) => commands::fleet(*args),
        Command::Net(args) => commands::net(*args),
        Command::Observe(args) => commands::observe(&args),
        Command::Agent(args) => commands::agent(*args),
        Command::Lab(args) => commands::lab(args),
        Command::Completions(shell) => commands::completions(shell),
        Command::Man(dir) => commands::man(&dir),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output::deliver_error(&error, &out);
            refuse(&error, format)
        }
    }
}

/// Returns the format of errors, and the files to write them to as well.
fn wanted(command: &Command) -> (OutputFormat, Vec<OutFile>) {
    let is_json = match command {
        Command::Run(args) => return (args.output.format(), args.output.out.clone()),
        Command::Search(args) => return (args.output.format(), args.output.out.clone()),
        Command::Report(args) => return (args.format, args.out.clone()),
        Command::Net(args) => return (args.measure.format, args.measure.out.clone()),
        Command::Compare(args) => return (args.format, args.out.clone()),
        Command::Lab(LabCommand::Run(args)) => {
            return (args.run.output.format(), args.run.output.out.clone());
        }
        Command::Lab(command) => command.is_json(),
        Command::Fleet(args) => args.what.is_json(),
        Command::Runs(args) => args.is_json(),
        Command::Check(args) | Command::Plan(args) => args.file.format == FileFormat::Json,
        Command::Try(args) => args.file.format == FileFormat::Json,
        Command::Doctor(args) => args.format == FileFormat::Json,
        Command::Size(args) => args.format == FileFormat::Json,
        Command::Calibrate(args) => args.format == FileFormat::Json,
        Command::Control(command) => command.is_json(),
        Command::Explain(args) => args.format == FileFormat::Json,
        Command::Serve(_)
        | Command::Observe(_)
        | Command::Ui(_)
        | Command::CalibrationTarget(_)
        | Command::Agent(_)
        | Command::Demo(_)
        | Command::New(_)
        | Command::Schema(_)
        | Command::Completions(_)
        | Command::Man(_) => false,
    };
    (if is_json { OutputFormat::Json } else { OutputFormat::Text }, Vec::new())
}

/// Prints one clear message: as an object on stdout if JSON was requested, else as text on stderr.
fn refuse(error: &UserError, format: OutputFormat) -> ExitCode {
    let on_stdout =
        format != OutputFormat::Text && format.can_hold_errors() && error.code != output::UNWRITTEN;
    let printed = on_stdout && output::print(&output::render_error(error, format)).is_ok();
    if !printed {
        // The message may contain names from outside. If stderr is closed too, only the exit code
        // is left.
        let _ = writeln!(std::io::stderr(), "{}", sanitize_lines(&error.with_code()));
    }
    ExitCode::from(error.exit as u8)
}
