//! `wavetank lab logs HOST [SERVICE]`.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Write};

use wavetank_lab::{LabFolder, LogFile};
use wavetank_plan::{ExitCode, UserError, harmless};

use crate::run::output::said;

/// Show what was written, a log after the other, each below its name where there are several. Exit 0.
pub(super) fn logs(folder: &LabFolder, host: &str, service: Option<&str>) -> Result<u8, UserError> {
    let logs = wavetank_lab::logs(folder, host, service)?;
    let mut to = std::io::stdout().lock();
    for log in &logs {
        match show(log, logs.len() > 1, &mut to) {
            // Whoever reads has seen enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
            shown => shown.map_err(|error| {
                let message = format!("the log of {} cannot be shown: {}", log.name, said(&error));
                UserError::refused("lab_system", message, format!("it lies in `{}`", log.path.display()))
            })?,
        }
    }
    Ok(ExitCode::Pass as u8)
}

/// Line by line: what servers write comes from their clients, and is not meant for a terminal.
fn show(log: &LogFile, named: bool, to: &mut impl Write) -> std::io::Result<()> {
    let mut from = BufReader::new(File::open(&log.path)?);
    if named {
        writeln!(to, "==> {} <==", harmless(&log.name))?;
    }
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        writeln!(to, "{}", harmless(text.trim_end_matches('\n')))?;
        line.clear();
    }
    to.flush()
}
