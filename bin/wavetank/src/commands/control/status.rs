//! `wavetank status`: the running runs of this user.

use wavetank_record::LiveDoc;
use wavetank_report::live_line;
use wavetank_units::{ExitCode, UserError, sanitize};

use super::selection::{running, select};
use crate::cli::{FileFormat, StatusArgs};
use crate::output;

/// Prints two lines for each run, or an object as JSON.
pub(super) fn status(args: &StatusArgs) -> Result<u8, UserError> {
    let runs = match &args.run {
        Some(named) => vec![select(Some(named))?],
        None => running()?,
    };
    let text = match args.format {
        FileFormat::Json => runs.iter().map(|run| run.to_json() + "\n").collect(),
        FileFormat::Text if runs.is_empty() => "no run of this user is running\n".to_owned(),
        FileFormat::Text => runs.iter().map(lines).collect(),
    };
    output::print(&text)?;
    Ok(ExitCode::Pass as u8)
}

fn lines(run: &LiveDoc) -> String {
    format!(
        "{}  {}  {}  {}  pid {}\n    {}\n",
        sanitize(&run.id),
        sanitize(&run.name),
        run.state.name(),
        sanitize(&run.target),
        run.pid,
        live_line(run)
    )
}
