//! [`start_page`]: the page of `wavetank run --ui`, in a process of its own.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use wavetank_units::{Code, UserError};

use crate::commands::control::DETACHED;

/// Starts the page of this process's run, and returns its address. The page does not depend on this
/// process: it stays while a browser shows it.
pub(crate) fn start_page(runs_dir: Option<&Path>) -> Result<String, UserError> {
    let failed = |why: String| {
        let message = format!("cannot start the page: {why}");
        UserError::refused(Code::CannotStartPage, message, "leave out --ui; `wavetank ui` shows running runs")
    };
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["ui", "--of-process"]).arg(std::process::id().to_string());
    if let Some(runs_dir) = runs_dir {
        command.arg("--runs-dir").arg(runs_dir);
    }
    // Ctrl-C in the terminal ends the run and not the page.
    command.env(DETACHED, "1").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut line).map_err(|error| failed(error.to_string()))?;
    }
    match line.trim_end() {
        "" => {
            let ended = child.wait().map(|status| format!("it ended with {status}"));
            Err(failed(ended.unwrap_or_else(|error| error.to_string())))
        }
        url => Ok(url.to_owned()),
    }
}
