//! [`up`]: a lab brought up, as whoever asks for it sees it.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::thread::{CapabilitySet, capabilities};
use wavetank_driver::Signals;
use wavetank_plan::quantity::show_size;
use wavetank_plan::{ExitCode, UserError};
use wavetank_topology::{HostAction, Lab};

use crate::json_socket::{JsonSocket, LINE_BYTES_MAX};
use crate::response::{self, system};
use crate::{LabFolder, LabSpec, LabState, config_check, crash, down, net, service};

/// Time between two looks at whether a signal has come.
const LOOK_UP: Duration = Duration::from_millis(200);

/// Whether this machine can have the lab of `order`: rights, programs, features of the kernel; then whether the programs
/// accept the configurations that they would have in `folder`, which is not touched. Nothing is created.
///
/// # Errors
/// All that is missing (exit 5); if nothing is, all that a program does not accept (exit 2), with the topology file's line.
pub fn check(order: &LabSpec, folder: &LabFolder) -> Result<(), UserError> {
    let LabSpec { lab, file, .. } = order;
    privileged()?;
    // Neither depends on the other, and who has to install something wants to know of all of it.
    let checked = [net::check(lab, file), service::check_programs(lab, file)];
    UserError::combine(checked.into_iter().filter_map(Result::err).collect()).map_or(Ok(()), Err)?;
    message(order)?;
    config_check::try_configurations(order, folder)
}

/// Whether this machine can do `deeds` to hosts of `lab`, which [`up`] does not know of. Nothing is created.
///
/// # Errors
/// The first thing that is missing (exit 5).
pub fn check_events(lab: &Lab, deeds: &[HostAction]) -> Result<(), UserError> {
    if !net::needs_loss_check(lab, deeds) {
        return Ok(());
    }
    privileged()?;
    net::check_loss()
}

/// Brings up the lab of `order` in `folder`, and returns when it is whole. If it fails, or a signal comes, nothing is left.
///
/// # Errors
/// What [`check`] says; a lab of that name that is there already; what kept a step from being done, with the program's own
/// words; a signal (exit 130).
pub fn up(order: &LabSpec, folder: &LabFolder) -> Result<LabState, UserError> {
    let signals = Signals::listen().map_err(|errno| system("signals cannot be counted", &errno))?;
    let checked = check(order, folder);
    // Ctrl-C ends the programs that the check runs, too, and is not what is wrong with the machine then.
    if signals.received() > 0 {
        return Err(interrupted());
    }
    checked?;
    folder.check_usable()?;
    let message = message(order)?;
    let (ours, theirs) = UnixStream::pair().map_err(|error| system("no socket can be made", &error))?;
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("wavetank")
        .arg("lab-keeper")
        .arg("--mark")
        .arg(order.mark.to_string())
        .arg("--folder")
        .arg(folder.path());
    // A relative folder would be another one there.
    command.envs(folder.path().parent().map(|labs| ("WAVETANK_LABS", labs)));
    command.current_dir("/").stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null());
    // Ctrl-C at the terminal is this process's to understand.
    command.process_group(0);
    let mut keeper = command.spawn().map_err(|error| system("the keeper cannot be started", &error))?;
    // It closes the other end with its life; as long as the command has one, too, nobody would notice.
    drop(command);
    let mut line = JsonSocket::new(ours);
    let answer = line.send(&message).and_then(|()| told(&mut line, signals));
    if let Ok(Some(answer)) = answer {
        let whole = response::read(answer);
        if whole.is_err() {
            // It ends when it has said so.
            let _ = keeper.wait();
        }
        return whole.and_then(|_| folder.state());
    }
    // It has not said a word: the kernel has ended the lab, and what is left is cleared away here. A keeper that still
    // waits for its order reads the end of it.
    drop(line);
    let _ = keeper.wait();
    crash::point("orphaned");
    down::clear_leftovers(folder)?;
    let name = folder.name();
    let message = format!("the keeper of lab `{name}` ended before the lab was whole; nothing of it is left");
    Err(UserError::refused("lab_keeper", message, "something killed it: memory (dmesg), or a signal"))
}

/// The order as the keeper takes it. It would wait for ever for the end of one that cannot be sent.
fn message(order: &LabSpec) -> Result<serde_json::Value, UserError> {
    let written = order.written();
    if written.len() > LINE_BYTES_MAX {
        let (size, most) = (show_size(written.len() as u64), show_size(LINE_BYTES_MAX as u64));
        let message = format!("what the file says of its hosts comes to {size}, and a lab takes {most}");
        let hint =
            "a text of `files` or `config` counts for each host of a pattern: shorter texts, or fewer hosts";
        return Err(UserError::usage("lab_too_many", message, hint));
    }
    Ok(serde_json::from_str(&written).expect("it has just been written as JSON"))
}

/// What the keeper says at the end. A signal meanwhile tells it to undo what it has done.
fn told(line: &mut JsonSocket, signals: Signals) -> std::io::Result<Option<serde_json::Value>> {
    // A signal that comes just before the wait does not interrupt it.
    line.patience(Some(LOOK_UP))?;
    loop {
        if signals.received() > 0 {
            line.shutdown_write();
        }
        match line.receive() {
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            other => return other,
        }
    }
}

/// An error unless this process may make namespaces and networks.
pub fn privileged() -> Result<(), UserError> {
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    match capabilities(None) {
        Ok(own) if own.effective.contains(needed) => Ok(()),
        _ => Err(no_root()),
    }
}

/// Nobody waits for the lab any more.
pub(crate) fn interrupted() -> UserError {
    UserError {
        exit: ExitCode::Signal,
        ..UserError::refused(
            "lab_interrupted",
            "interrupted before the lab was whole; nothing of it is left",
            "",
        )
    }
}

/// The one answer to all who lack the right.
pub(crate) fn no_root() -> UserError {
    let message = "a lab needs root: it is made of namespaces, virtual links and control groups";
    UserError::refused(
        "lab_root",
        message,
        "sudo wavetank lab …, or a container with CAP_SYS_ADMIN and CAP_NET_ADMIN",
    )
}
