//! [`up`]: brings up a lab, in the requesting process.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use wavetank_driver::Signals;
use wavetank_topology::{HostAction, Lab};
use wavetank_units::quantity::show_size;
use wavetank_units::{Code, ExitCode, UserError};

use crate::json_socket::{JsonSocket, LINE_BYTES_MAX};
use crate::refusals::interrupted;
use crate::response::{self, system};
use crate::{LabFolder, LabSpec, LabState, config_check, crash, down, net, privileged, service};

/// Polling interval for signals.
const LOOK_UP: Duration = Duration::from_millis(200);

/// Checks whether this machine can have the lab of `order`: rights, programs, features of the
/// kernel. Also checks whether the programs accept the configurations that they would have in
/// `folder`, which is not modified. Nothing is created. Returns what the programs warn of.
///
/// # Errors
/// Everything that is missing (exit 5) and all rejected configurations (exit 2), with the topology
/// file's line.
pub fn check(order: &LabSpec, folder: &LabFolder) -> Result<Vec<String>, UserError> {
    check_until(order, folder, None)
}

/// As [`check`]. It ends early when a signal is counted.
fn check_until(
    order: &LabSpec,
    folder: &LabFolder,
    signals: Option<Signals>,
) -> Result<Vec<String>, UserError> {
    let LabSpec { lab, file, .. } = order;
    privileged()?;
    message(order)?;
    // The checks are independent, so everything is reported together.
    let checked = [net::check(lab, file), service::check_programs(lab, file)];
    let missing: Vec<UserError> =
        checked.into_iter().filter_map(Result::err).flat_map(UserError::one_by_one).collect();
    match (config_check::try_configurations(order, folder, signals), UserError::combine(missing.clone())) {
        (Ok(warnings), None) => Ok(warnings),
        (Ok(_), Some(error)) => Err(error),
        (Err(error), _) => {
            // Where something is missing, a trial fails for the same reason. What it found about a
            // configuration counts.
            let found = error.one_by_one().into_iter();
            let found = found.filter(|one| missing.is_empty() || one.exit != ExitCode::Refused);
            let mut all: Vec<UserError> = found.collect();
            all.extend(missing);
            Err(UserError::combine(all).expect("there is at least one"))
        }
    }
}

/// Checks whether this machine can apply `actions` to hosts of `lab`, which [`up`] does not know
/// of. Nothing is created.
///
/// # Errors
/// The first missing feature (exit 5).
pub fn check_events(lab: &Lab, actions: &[HostAction]) -> Result<(), UserError> {
    if !net::needs_loss_check(lab, actions) {
        return Ok(());
    }
    privileged()?;
    net::check_loss()
}

/// Brings up the lab of `order` in `folder`, and returns when it is complete, with what programs
/// warn of in the user's configurations. If it fails, or a
/// signal comes, nothing is left.
///
/// # Errors
/// Those of [`check`]; an existing lab of that name; a failed step, with the program's own message;
/// a signal (exit 130).
pub fn up(order: &LabSpec, folder: &LabFolder) -> Result<(LabState, Vec<String>), UserError> {
    let signals = Signals::listen().map_err(|errno| system("signals cannot be counted", &errno))?;
    let checked = check_until(order, folder, Some(signals));
    // Ctrl-C ends the programs of the check as well. In that case the errors do not come from the
    // machine.
    if signals.received() > 0 {
        return Err(interrupted());
    }
    let warnings = checked?;
    folder.check_usable()?;
    let message = message(order)?;
    let (ours, theirs) = UnixStream::pair().map_err(|error| system("cannot create a socket", &error))?;
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("wavetank")
        .arg("lab-keeper")
        .arg("--mark")
        .arg(order.mark.to_string())
        .arg("--folder")
        .arg(folder.path());
    // A relative path would be wrong in the keeper's working directory.
    command.envs(folder.path().parent().map(|labs| ("WAVETANK_LABS", labs)));
    command.current_dir("/").stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null());
    // Ctrl-C at the terminal is handled by this process.
    command.process_group(0);
    let mut keeper = command.spawn().map_err(|error| system("the keeper cannot be started", &error))?;
    // The keeper closes the other end when it dies. While `command` holds a copy, that would not be
    // noticed.
    drop(command);
    let mut line = JsonSocket::new(ours);
    let answer = line.send(&message).and_then(|()| final_answer(&mut line, signals));
    if let Ok(Some(answer)) = answer {
        let whole = response::read(answer);
        if whole.is_err() {
            // The keeper ends after its answer.
            let _ = keeper.wait();
        }
        return whole.and_then(|_| Ok((folder.state()?, warnings)));
    }
    // The keeper sent no answer: the kernel has ended the lab, and its remains are removed here. A
    // keeper that still waits for its specification reads the end of the socket.
    drop(line);
    let _ = keeper.wait();
    crash::point("orphaned");
    down::clear_leftovers(folder)?;
    let name = folder.name();
    let message =
        format!("the keeper of lab `{name}` ended before the lab was complete; nothing of it is left");
    Err(UserError::refused(
        Code::LabKeeper,
        message,
        "it was killed by a signal or for lack of memory; check `dmesg`",
    ))
}

/// Returns the specification as a message. The keeper would wait forever for one that is too long
/// to send.
fn message(order: &LabSpec) -> Result<serde_json::Value, UserError> {
    let written = order.written();
    if written.len() > LINE_BYTES_MAX {
        let (size, most) = (show_size(written.len() as u64), show_size(LINE_BYTES_MAX as u64));
        let message = format!("the specification of the hosts has {size}, but a lab supports at most {most}");
        let hint = "use shorter texts or fewer hosts: a text of `files` or `config` counts for each host of a pattern";
        return Err(UserError::usage(Code::LabTooMany, message, hint));
    }
    Ok(serde_json::from_str(&written).expect("it has just been written as JSON"))
}

/// Returns the keeper's final answer. A signal meanwhile makes the keeper undo what it has done.
fn final_answer(line: &mut JsonSocket, signals: Signals) -> std::io::Result<Option<serde_json::Value>> {
    // A signal just before the wait does not interrupt it.
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
