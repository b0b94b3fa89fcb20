//! The host process: PID 1 of a lab host. It creates the host's namespaces, configures them, runs
//! the services and reaps all ended processes. One thread carries out the keeper's requests, one
//! after the other. Other threads only copy service output, or slow a service down. The host
//! process ends with the keeper.

mod command;

use std::os::fd::AsFd;

use nix::sys::signal::{SigSet, Signal as NixSignal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, set_parent_process_death_signal, setsid};
use serde_json::{Value, json};
use wavetank_units::{Code, UserError};

use crate::fault::Faults;
use crate::json_socket::JsonSocket;
use crate::lab_spec::LabSpec;
use crate::response::{self, system};
use crate::service::Services;
use crate::{LabFolder, namespaces, net};

pub(crate) use command::HostCommand;

/// One host of a lab, in its own process.
struct Host {
    order: LabSpec,
    /// Its index in the topology's hosts.
    index: usize,
    services: Services,
    faults: Faults,
    keeper: JsonSocket,
}

/// Runs the host process from start to end. Fails only before it can report to the keeper.
pub(crate) fn run(folder: &LabFolder, name: &str) -> Result<(), UserError> {
    // This comes first: whatever happens to the keeper from now on, nothing of this host is left.
    // If the keeper died before, the socket reads an end below.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|errno| system("the host cannot be bound to its keeper", &errno))?;
    // A command's parent dies to this process. In a shared session the kernel would then hang up
    // the requester's whole process group, if a process of that group is stopped and no shell
    // manages the group.
    setsid().map_err(|errno| system("cannot start a session for the host", &errno))?;
    let mut keeper = JsonSocket::from_stdin()?;
    match born(folder, name) {
        Ok((order, index)) => {
            let services = Services::new(&order.lab, index, &folder.host_folder(name), &order.file);
            let faults = Faults::new(&order.lab, index);
            let mut host = Host { order, index, services, faults, keeper };
            host.report(&Ok(Value::Null));
            host.live()
        }
        Err(error) => {
            // The keeper may be gone.
            let _ = keeper.send(&response::from_result(&Err(error)));
            Ok(())
        }
    }
}

/// Creates the namespaces; returns the lab's specification and the host's index.
fn born(folder: &LabFolder, name: &str) -> Result<(LabSpec, usize), UserError> {
    let order = folder.order()?;
    let index = order.lab.host_index(name).ok_or_else(|| {
        UserError::refused(Code::LabState, format!("the lab has no host `{name}`"), "wavetank lab status")
    })?;
    net::join_group(&order.mark, name)?;
    namespaces::enter_host(name, Some(folder))?;
    Ok((order, index))
}

impl Host {
    /// Carries out the keeper's requests until the keeper is gone.
    fn live(&mut self) -> Result<(), UserError> {
        let mut children = SigSet::empty();
        children.add(NixSignal::SIGCHLD);
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        let blocked = children.thread_block().and_then(|()| SignalFd::with_flags(&children, flags));
        let dead = blocked.map_err(|errno| system("the host cannot wait for its children", &errno))?;
        loop {
            self.reap();
            // Requests that arrived while this process was stopped are handled without delay.
            let more = self.keeper.has_line();
            let mut handles = [
                PollFd::new(&self.keeper, PollFlags::IN),
                PollFd::from_borrowed_fd(dead.as_fd(), PollFlags::IN),
            ];
            match poll(&mut handles, more.then_some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(system("the host cannot wait", &errno)),
            }
            let (said, died) = (more || !handles[0].revents().is_empty(), !handles[1].revents().is_empty());
            if died {
                // One signal may represent several deaths; their number is determined below.
                while matches!(dead.read_signal(), Ok(Some(_))) {}
            }
            if said {
                match self.keeper.receive() {
                    Ok(Some(message)) => {
                        let result = self.carry_out(&message);
                        self.report(&result);
                    }
                    // The keeper is gone. All processes of the host end with this one.
                    Ok(None) | Err(_) => return Ok(()),
                }
            }
        }
    }

    fn report(&mut self, result: &Result<Value, UserError>) {
        // The next read notices if the keeper is gone.
        let _ = self.keeper.send(&response::from_result(result));
    }

    /// Handles every child that has ended. Services see theirs first; PID 1 also receives all
    /// orphans.
    fn reap(&mut self) {
        let ended = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        loop {
            let found = waitid(Id::All, ended);
            let Ok(WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, _, _)) = found else { return };
            if !self.services.handle_exit(pid.as_raw().unsigned_abs()) {
                // The child has ended, so this returns immediately and cannot fail.
                let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
            }
        }
    }

    fn carry_out(&mut self, message: &Value) -> Result<Value, UserError> {
        let Self { order, index, services, faults, .. } = self;
        match HostCommand::read(message)? {
            HostCommand::Furnish => net::configure_host(&order.lab, *index, &order.mark, &order.file)?,
            HostCommand::Check => drop(services.check()?),
            HostCommand::Start => services.start()?,
            HostCommand::Stop => faults.end_all(|| services.stop()),
            HostCommand::Status => return Ok(command::services_json(&services.status())),
            HostCommand::Say(say) => return services.handle(&say),
            HostCommand::Fault(what) => return faults.begin(&what, services).map(|id| json!({ "id": id })),
            HostCommand::FaultEnd(id) => faults.end(id, services)?,
        }
        Ok(Value::Null)
    }
}
