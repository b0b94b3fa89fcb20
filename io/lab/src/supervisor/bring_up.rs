//! Brings a lab up step by step, and undoes everything on a failure.

use std::os::unix::net::UnixListener;

use wavetank_driver::Clock;
use wavetank_topology::Role;
use wavetank_units::{Code, UserError};

use super::host_link::{HostLink, broadcast};
use super::running_lab::RunningLab;
use crate::down::{self, HELD_MAX, LOOK_AGAIN};
use crate::host::HostCommand;
use crate::json_socket::JsonSocket;
use crate::lab_spec::LabSpec;
use crate::lock::Lock;
use crate::refusals::interrupted;
use crate::response::system;
use crate::{HostState, LabFolder, Phase, TaggedProcess, cleanup, crash, namespaces, net, refusals};

/// Makes the lab, and the socket for its clients. Nothing is left if it fails, or if `up` closes
/// before.
pub(super) fn bring_up(
    folder: LabFolder,
    order: LabSpec,
    up: &JsonSocket,
) -> Result<(RunningLab, UnixListener), UserError> {
    let lock = locked(&folder)?;
    crash::point("locked");
    cleanup::sweep(&folder, &lock)?;
    let mut kept = begun(folder, order, lock)?;
    match rise(&mut kept, up) {
        Ok(listener) => Ok((kept, listener)),
        Err(why) => {
            let mut why = why.unwrap_or_else(interrupted);
            why.others.extend(kept.shut_down(false).err());
            Err(why)
        }
    }
}

/// Locks the folder. A process that only removes the remains of an earlier lab is awaited; a living
/// keeper is an error.
fn locked(folder: &LabFolder) -> Result<Lock, UserError> {
    let clock = Clock::starting_now();
    loop {
        if let Some(lock) = folder.lock(true)? {
            return Ok(lock);
        }
        if down::keeper(folder)?.is_some() {
            return Err(there_already(folder));
        }
        if clock.now() > HELD_MAX {
            return Err(refusals::held(folder.name()));
        }
        cleanup::pause(LOOK_AGAIN);
    }
}

/// Stores the lab's tag in the folder before anything else is made.
fn begun(folder: LabFolder, order: LabSpec, lock: Lock) -> Result<RunningLab, UserError> {
    let keeper = TaggedProcess::for_pid(std::process::id()).expect("the calling process is there");
    let kept = RunningLab::new(folder, order, lock, keeper);
    kept.note(Phase::Rising)?;
    crash::point("stated");
    Ok(kept)
}

/// Runs all steps in order. `Err(None)`: the requester does not wait for the lab any more.
fn rise(kept: &mut RunningLab, up: &JsonSocket) -> Result<UnixListener, Option<UserError>> {
    let path = kept.folder.path().to_owned();
    let failed =
        |what: &str, error: &std::io::Error| Some(system(&format!("{what} in `{}`", path.display()), error));
    // A caller may read the end of our standard error as the end of `up`, so it is redirected.
    let log = std::fs::File::create(path.join("keeper.log"))
        .map_err(|error| failed("cannot create the log", &error))?;
    rustix::stdio::dup2_stdout(&log)
        .and_then(|()| rustix::stdio::dup2_stderr(&log))
        .map_err(|errno| failed("cannot create the log", &std::io::Error::from(errno)))?;
    kept.folder.store(&kept.order).map_err(|error| failed("cannot store the specification", &error))?;
    namespaces::enter_new_netns()?;
    crash::point("switched");
    for (index, host) in kept.order.lab.hosts.iter().enumerate() {
        std::fs::create_dir_all(kept.folder.host_folder(&host.name))
            .map_err(|error| failed("cannot create the folders", &error))?;
        net::make_group(&kept.order.lab, index, &kept.order.mark, &kept.order.file)?;
    }
    crash::point("grouped");
    start_hosts(kept)?;
    broadcast(&kept.hosts, None, up)?;
    crash::point("born");
    let pids: Vec<u32> = kept.hosts.iter().map(|host| host.process.pid).collect();
    net::connect(&kept.order.lab, &kept.order.mark, &pids)?;
    crash::point("connected");
    for (action, point) in [(HostCommand::Furnish, "furnished"), (HostCommand::Check, "checked")] {
        broadcast(&kept.hosts, Some(&action), up)?;
        crash::point(point);
    }
    // Balancers start when their servers listen: a first check that fails takes a server out.
    for are_balancers in [false, true] {
        let hosts = kept.hosts.iter().zip(&kept.order.lab.hosts);
        let chosen = hosts.filter(|(_, host)| (host.role == Role::Balancer) == are_balancers);
        broadcast(chosen.map(|(link, _)| link), Some(&HostCommand::Start), up)?;
    }
    crash::point("started");
    let listener = UnixListener::bind(kept.folder.socket())
        .map_err(|error| failed("cannot create the socket", &error))?;
    kept.note(Phase::Up)?;
    crash::point("committed");
    Ok(listener)
}

fn start_hosts(kept: &mut RunningLab) -> Result<(), UserError> {
    for host in &kept.order.lab.hosts {
        let (link, child) = HostLink::start(&kept.folder, &kept.order.mark, host)?;
        kept.states.push(HostState { name: link.name.clone(), process: link.process });
        kept.hosts.push(link);
        kept.children.push(child);
    }
    kept.note(Phase::Rising)
}

fn there_already(folder: &LabFolder) -> UserError {
    let name = folder.name();
    let hint = format!(
        "take it down with `wavetank lab down --lab {name}`, or bring up another one with --lab NAME"
    );
    UserError::refused(Code::LabThere, format!("there is a lab `{name}` already"), hint)
}
