//! [`host_rows`]: how hosts stood over a run, as CSV.

use std::io::{self, Write};

use wavetank_record::HostLine;
use wavetank_report::HostRows;
use wavetank_store::OpenedRun;
use wavetank_units::{Code, UserError};

use super::write_error::WriteError;

/// The name of the host that the run's clock is of, as its file in the archive has it.
const LOCAL: &str = "local";

/// Writes a row for each sample in the archive: first of the host that sent the load, if it was
/// sampled, then of others.
///
/// # Errors
/// A run without samples, or with no readable sample.
pub(super) fn host_rows(opened: &OpenedRun, to: &mut dyn Write) -> Result<(), WriteError> {
    let mut table = Table { to: Some(to), rows: None, full: None };
    let damaged = opened.read_hosts(|line| table.add(LOCAL, &line)).map_err(WriteError::Unmade)?
        + opened.read_others(|name, line| table.add(name, &line)).map_err(WriteError::Unmade)?;
    if let Some(error) = table.full {
        return Err(WriteError::Io(error));
    }
    let Some(rows) = table.rows else {
        if damaged > 0 {
            return Err(WriteError::Unmade(UserError::usage(
                Code::ArchiveDamaged,
                format!("none of the {damaged} lines in `{}/hosts` can be read", opened.display_path()),
                "they are damaged or from a later version of wavetank; the other formats show the rest of the run",
            )));
        }
        return Err(WriteError::Unmade(UserError::usage(
            Code::NoHostSamples,
            format!("no host was sampled in `{}`", opened.display_path()),
            "earlier versions sampled hosts only in a lab; leave out --by-host for the load",
        )));
    };
    if damaged > 0 {
        // If stderr is closed, the warning is dropped.
        let _ = writeln!(
            io::stderr(),
            "warning: {damaged} lines in `{}/hosts` cannot be read: left out",
            opened.display_path()
        );
    }
    Ok(rows.finish()?)
}

/// The rows so far.
struct Table<'a> {
    /// Where to begin with the first row: without one nothing is written.
    to: Option<&'a mut dyn Write>,
    rows: Option<HostRows<&'a mut dyn Write>>,
    /// Why there is no more room.
    full: Option<io::Error>,
}

impl Table<'_> {
    fn add(&mut self, host: &str, line: &HostLine) {
        if self.full.is_none() {
            self.full = self.write(host, line).err();
        }
    }

    fn write(&mut self, host: &str, line: &HostLine) -> io::Result<()> {
        if let Some(to) = self.to.take() {
            self.rows = Some(HostRows::new(to)?);
        }
        self.rows.as_mut().map_or(Ok(()), |rows| rows.add(host, &line.sample))
    }
}
