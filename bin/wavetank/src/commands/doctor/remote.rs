//! Checks hosts over ssh: a shell prints the files, and they are judged here.

use wavetank_driver::Signals;
use wavetank_runner::host_error;
use wavetank_ssh::{HostEnd, RemoteCommand, run_on_hosts};
use wavetank_tuning::{Job, Snapshot, check_host, snapshot_script};
use wavetank_units::{Code, ExitCode, Nanos, UserError};

use super::table::HostReport;
use crate::cli::SshArgs;
use crate::commands::fleet::Selection;

/// Time limit of one host.
const TIME_LIMIT: Nanos = Nanos::from_secs(60);

/// Checks all selected hosts. The hosts need a POSIX shell, and no program of ours.
pub(super) fn check(selection: &Selection, ssh: &SshArgs, job: &Job) -> Result<Vec<HostReport>, UserError> {
    let (options, sudo) = selection.ssh_options(ssh);
    let command = RemoteCommand { text: snapshot_script(), sudo, ..RemoteCommand::default() };
    let signals = Signals::listen().map_err(|errno| host_error("handle signals", errno))?;
    let runs = run_on_hosts(
        &selection.hosts,
        (&command, &options),
        (selection.fan_out(ssh), Some(TIME_LIMIT)),
        &|| signals.received() > 0,
        &mut |_| {},
    );
    if signals.received() > 0 {
        let message = "interrupted before all hosts were checked";
        return Err(UserError {
            exit: ExitCode::Signal,
            ..UserError::refused(Code::DoctorInterrupted, message, "")
        });
    }
    let report = |(host, run): (&wavetank_inventory::Host, wavetank_ssh::HostRun)| {
        let (rows, failure) = match (Snapshot::parse(&run.stdout), run.end.failure()) {
            (Some(snapshot), None) => (check_host(&snapshot, job), String::new()),
            (_, Some(failure)) => (Vec::new(), failure),
            (None, None) => (Vec::new(), "its shell printed no settings".to_owned()),
        };
        debug_assert!(run.end != HostEnd::Interrupted || !failure.is_empty());
        HostReport { name: host.name.clone(), rows, findings: Vec::new(), failure }
    };
    Ok(selection.hosts.iter().zip(runs).map(report).collect())
}
