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
mod run;
#[cfg(target_os = "linux")]
mod trace;

use std::io::Write;
use std::process::ExitCode;

use wavetank_plan::{UserError, sanitize_lines};

use cli::{
    Command, ExplainArgs, FileFormat, LabArgs, LabCommand, OutFile, OutputFormat, ParseExit, RunsArgs,
    RunsCommand,
};

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
            return match run::output::print(&text) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => refuse(&error, OutputFormat::Text),
            };
        }
        Err(ParseExit::Error { error, json, out }) => {
            run::output::deliver_error(&error, &out);
            return refuse(&error, if json { OutputFormat::Json } else { OutputFormat::Text });
        }
    };
    let (format, out) = wanted(&command);
    let result = match command {
        Command::Run(args) => commands::run(*args),
        Command::Search(args) => commands::search(*args),
        Command::Serve(args) => commands::serve(&args),
        Command::Report(args) => commands::report(&args),
        Command::Runs(args) => commands::runs(args),
        Command::Compare(args) => commands::compare(&args),
        Command::Explain(args) => commands::explain(&args),
        Command::Demo(args) => commands::demo(&args),
        Command::New(file) => commands::new(&file),
        Command::Check(args) => commands::check(*args),
        Command::Plan(args) => commands::plan(*args),
        Command::Try(args) => commands::try_file(*args),
        Command::Calibrate(args) => commands::calibrate(*args),
        Command::Size(args) => commands::size(*args),
        Command::Schema(of) => commands::schema(of),
        Command::Lab(args) => commands::lab(args),
        Command::Completions(shell) => commands::completions(shell),
        Command::Man(dir) => commands::man(&dir),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            run::output::deliver_error(&error, &out);
            refuse(&error, format)
        }
    }
}

/// Returns the format of errors, and the files to write them to as well.
fn wanted(command: &Command) -> (OutputFormat, Vec<OutFile>) {
    match command {
        Command::Run(args) | Command::Lab(LabArgs { deed: LabCommand::Run { args, .. }, .. }) => {
            (args.format, args.out.clone())
        }
        Command::Search(args) => (args.format, args.out.clone()),
        Command::Report(args) => (args.format, args.out.clone()),
        Command::Compare(args) => (args.format, args.out.clone()),
        Command::Check(args) | Command::Plan(args) if args.file.format == FileFormat::Json => {
            (OutputFormat::Json, Vec::new())
        }
        Command::Size(args) if args.format == FileFormat::Json => (OutputFormat::Json, Vec::new()),
        Command::Try(args) if args.file.format == FileFormat::Json => (OutputFormat::Json, Vec::new()),
        Command::Calibrate(args) if args.format == FileFormat::Json => (OutputFormat::Json, Vec::new()),
        Command::Lab(LabArgs {
            deed:
                LabCommand::Status { format: FileFormat::Json }
                | LabCommand::Check { format: FileFormat::Json, .. },
            ..
        })
        | Command::Explain(ExplainArgs { format: FileFormat::Json, .. })
        | Command::Runs(RunsArgs {
            deed:
                RunsCommand::List { format: FileFormat::Json, .. }
                | RunsCommand::Show { format: FileFormat::Json, .. },
            ..
        }) => (OutputFormat::Json, Vec::new()),
        Command::Serve(_)
        | Command::Explain(_)
        | Command::Runs(_)
        | Command::Calibrate(_)
        | Command::Demo(_)
        | Command::New(_)
        | Command::Check(_)
        | Command::Plan(_)
        | Command::Try(_)
        | Command::Size(_)
        | Command::Schema(_)
        | Command::Lab(_)
        | Command::Completions(_)
        | Command::Man(_) => (OutputFormat::Text, Vec::new()),
    }
}

/// Prints one clear message: as an object on stdout if JSON was requested, else as text on stderr.
fn refuse(error: &UserError, format: OutputFormat) -> ExitCode {
    let on_stdout =
        format != OutputFormat::Text && format.can_hold_errors() && error.code != run::output::UNWRITTEN;
    let printed = on_stdout && run::output::print(&run::output::render_error(error, format)).is_ok();
    if !printed {
        // The message may contain names from outside. If stderr is closed too, only the exit code
        // is left.
        let _ = writeln!(std::io::stderr(), "{}", sanitize_lines(&error.with_code()));
    }
    ExitCode::from(error.exit as u8)
}
