//! [`RunningLab`]: a lab in its keeper.

use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde_json::Value;
use wavetank_units::UserError;

use super::broadcast::ask_all_within;
use super::clients::Clients;
use super::host_link::HostLink;
use crate::host::HostCommand;
use crate::lab_spec::LabSpec;
use crate::lock::Lock;
use crate::response::{self, system};
use crate::{HostState, LabFolder, LabState, Phase, TaggedProcess, cleanup, crash};

/// Time limit for services to stop when the lab goes down; `down` promises 2 s in total.
const STOPPING_MAX: Duration = Duration::from_millis(1_200);

/// All parts of a lab.
#[derive(Debug)]
pub(super) struct RunningLab {
    pub(super) folder: LabFolder,
    pub(super) order: LabSpec,
    pub(super) hosts: Vec<HostLink>,
    /// The hosts as stored in the lab's folder.
    pub(super) states: Vec<HostState>,
    /// The hosts' processes, in the same order.
    pub(super) children: Vec<Child>,
    keeper: TaggedProcess,
    lock: Option<Lock>,
}

impl RunningLab {
    pub(super) fn new(folder: LabFolder, order: LabSpec, lock: Lock, keeper: TaggedProcess) -> Self {
        let (hosts, states, children) = (Vec::new(), Vec::new(), Vec::new());
        Self { folder, order, hosts, states, children, keeper, lock: Some(lock) }
    }

    /// Stores the phase of the lab in its folder.
    pub(super) fn note(&self, phase: Phase) -> Result<(), UserError> {
        let (mark, hosts) = (self.order.mark.clone(), self.states.clone());
        let state = LabState { mark, phase, keeper: self.keeper, hosts };
        let path = self.folder.path();
        state.write(path).map_err(|error| system(&format!("`{}` cannot be written", path.display()), &error))
    }

    /// Serves clients until one requests the lab's end, or a signal does, and ends it.
    pub(super) fn serve(mut self, listener: &UnixListener) -> Result<(), UserError> {
        let failed = |error: &(dyn std::error::Error + 'static)| system("the keeper cannot wait", error);
        let mut wanted = SigSet::empty();
        wanted.add(Signal::SIGTERM);
        wanted.add(Signal::SIGINT);
        wanted.add(Signal::SIGCHLD);
        // Signals are blocked before there are threads, which inherit the mask.
        wanted.thread_block().map_err(|errno| failed(&errno))?;
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        let signals = SignalFd::with_flags(&wanted, flags).map_err(|errno| failed(&errno))?;
        let (bell, button) = UnixStream::pair().map_err(|error| failed(&error))?;
        let owner = match self.order.owner.map(TaggedProcess::handle) {
            Some(Some(handle)) => Some(handle),
            // The owner was gone before the lab was complete.
            Some(None) => return self.shut_down(true),
            None => None,
        };
        let clients = Arc::new(Clients::new(std::mem::take(&mut self.hosts), button, owner));
        wait(listener, (&signals, &bell), &clients).map_err(|errno| failed(&errno))?;
        // Services stop in order, so that their logs show it. After that, everything ends together.
        // Errors do not matter any more.
        ask_all_within(clients.hosts(), &HostCommand::Stop, STOPPING_MAX);
        let fallen = self.shut_down(true);
        if let Some(mut asking) = clients.shutdown_requester() {
            // The requester waits for the end of this process anyway.
            let _ = asking.send(&response::from_result(&fallen.map(|()| Value::Null)));
        }
        Ok(())
    }

    /// Ends all hosts and removes what they leave. An orderly end passes the points at which a test
    /// may kill the keeper.
    pub(super) fn shut_down(&mut self, orderly: bool) -> Result<(), UserError> {
        let point = |name: &str| {
            if orderly {
                crash::point(name);
            }
        };
        // The state file is for other processes. If it cannot be written, the removal is still
        // necessary.
        let _ = self.note(Phase::Falling);
        point("falling");
        for child in &mut self.children {
            // A process that has already ended is reaped below.
            let _ = child.kill();
        }
        for child in &mut self.children {
            // PID 1 ends only after all processes of its namespace.
            let _ = child.wait();
        }
        point("killed");
        cleanup::remove_groups(&self.order.mark)?;
        point("ungrouped");
        let path = self.folder.path();
        let Some(lock) = self.lock.take() else { return Ok(()) };
        lock.remove().map_err(|error| system(&format!("`{}` cannot be removed", path.display()), &error))
    }
}

/// Waits until the end is requested, or the owner has ended.
fn wait(
    listener: &UnixListener,
    (signals, bell): (&SignalFd, &UnixStream),
    clients: &Arc<Clients>,
) -> rustix::io::Result<()> {
    loop {
        let mut handles = vec![
            PollFd::new(listener, PollFlags::IN),
            PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN),
            PollFd::new(bell, PollFlags::IN),
        ];
        handles.extend(clients.owner().map(|owner| PollFd::new(owner, PollFlags::IN)));
        match poll(&mut handles, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno),
        }
        let ready: Vec<bool> = handles.iter().map(|handle| !handle.revents().is_empty()).collect();
        let (called, signalled, over) = (ready[0], ready[1], ready[2..].contains(&true));
        if called && let Ok((stream, _)) = listener.accept() {
            Clients::serve_client(clients, stream);
        }
        while signalled && let Ok(Some(signal)) = signals.read_signal() {
            if signal.ssi_signo != Signal::SIGCHLD as u32 {
                return Ok(());
            }
        }
        if over {
            return Ok(());
        }
    }
}
