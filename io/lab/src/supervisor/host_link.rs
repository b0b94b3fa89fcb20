//! [`HostLink`]: the keeper's connection to a host.

use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde_json::Value;
use wavetank_topology::Host;
use wavetank_units::{Code, UserError, sentence};

use super::broadcast::ask_all_within;
use super::host_channel::HostChannel;
use crate::fault::FAULTS_MAX;
use crate::host::HostCommand;
use crate::json_socket::JsonSocket;
use crate::response::{self, system};
use crate::{LabFolder, LabTag, TaggedProcess, namespaces};

/// The code of a host that does not answer.
pub(super) const SILENT: Code = Code::LabSilent;

/// Time limit for a host's answer. A command in the host has 10 s.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(15);

/// A host's process and the channel to it, which one thread at a time may use.
#[derive(Debug)]
pub(super) struct HostLink {
    pub(super) name: String,
    pub(super) process: TaggedProcess,
    /// Time limit for an answer.
    pub(super) patience: Duration,
    talk: Mutex<HostChannel>,
    /// Faults that are to end, and for which the host has not received the request yet.
    strays: Mutex<Vec<u64>>,
}

impl HostLink {
    /// Starts the process of `host`, PID 1 of a new PID namespace. It sends one line after its
    /// start.
    pub(super) fn start(folder: &LabFolder, mark: &LabTag, host: &Host) -> Result<(Self, Child), UserError> {
        let name = &host.name;
        let failed = |error: &(dyn std::error::Error + 'static)| {
            system(&format!("host {name} cannot be started"), error)
        };
        let (ours, theirs) = UnixStream::pair().map_err(|error| failed(&error))?;
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.host_folder(name).join("host.log"));
        let log = log.map_err(|error| failed(&error))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0("wavetank").arg("lab-host").arg("--mark").arg(mark.to_string());
        command.arg("--folder").arg(folder.path()).arg("--host").arg(name);
        // The working directory must not be one over which the host mounts another file system.
        command.current_dir("/");
        command.stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
        command.stdout(Stdio::from(log.try_clone().map_err(|error| failed(&error))?)).stderr(log);
        let child = namespaces::in_new_pid_namespace(|| command.spawn())?.map_err(|error| failed(&error))?;
        // A child that has not been waited for keeps its number, even if it is already dead.
        let process = TaggedProcess::for_pid(child.id()).ok_or_else(|| failed(&Errno::SRCH))?;
        // The end of a fault may start a service, which may take as long as its health check
        // allows.
        let starts = host.services.iter().map(|service| service.health.within.0.unsigned_abs()).max();
        let patience = ANSWER_MAX + Duration::from_nanos(starts.unwrap_or_default());
        // A stopped process accepts nothing more once its socket is full.
        ours.set_write_timeout(Some(patience)).map_err(|error| failed(&error))?;
        Ok((Self::new(name, process, patience, ours), child))
    }

    /// Returns a link to the host process that has the other end of `stream`.
    pub(super) fn new(name: &str, process: TaggedProcess, patience: Duration, stream: UnixStream) -> Self {
        let (talk, strays) = (Mutex::new(HostChannel::new(JsonSocket::new(stream))), Mutex::default());
        Self { name: name.to_owned(), process, patience, talk, strays }
    }

    /// Sends a request to the host and waits for its answer, with a time limit, since the host may
    /// be stopped.
    pub(super) fn request(&self, action: &HostCommand) -> Result<Value, UserError> {
        let answered = ask_all_within(std::slice::from_ref(self), action, self.patience).pop().flatten();
        answered.unwrap_or_else(|| Err(self.silent()))
    }

    /// Has the host end the fault `id` without waiting for the result. The request is sent
    /// immediately, or after the current user of the channel has finished.
    pub(super) fn end_fault_async(&self, id: u64) {
        let mut strays = self.strays();
        if strays.len() < FAULTS_MAX && !strays.contains(&id) {
            strays.push(id);
        }
        drop(strays);
        self.end_orphaned_faults();
    }

    /// Sends pending ends of faults to the host, unless the channel is in use. Each user of the
    /// channel calls this afterwards.
    pub(super) fn end_orphaned_faults(&self) {
        let mut reported = true;
        // A thread that finds the channel in use relies on this check being repeated after its
        // release.
        while reported && !self.strays().is_empty() {
            let Some(mut talk) = self.try_lock() else { return };
            self.strays().retain(|id| {
                // A host that is gone has no faults.
                reported =
                    reported && !talk.send_end(*id).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
                !reported
            });
        }
    }

    fn strays(&self) -> MutexGuard<'_, Vec<u64>> {
        self.strays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn talk(&self) -> MutexGuard<'_, HostChannel> {
        // A panic in another thread left at worst a partial line, which cannot be parsed as the
        // next answer.
        self.talk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the channel unless it is in use.
    pub(super) fn try_lock(&self) -> Option<MutexGuard<'_, HostChannel>> {
        match self.talk.try_lock() {
            Ok(talk) => Some(talk),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    pub(super) fn send(&self, talk: &mut HostChannel, action: &HostCommand) -> Result<(), UserError> {
        talk.send(&action.to_json()).map_err(|error| self.unheard(&error))
    }

    fn receive(&self, talk: &mut HostChannel) -> Result<Value, UserError> {
        self.read(talk.receive())
    }

    /// Converts the received value into the host's answer.
    pub(super) fn read(&self, received: std::io::Result<Option<Value>>) -> Result<Value, UserError> {
        match received {
            Ok(Some(value)) => response::read(value),
            Ok(None) => Err(self.dead()),
            Err(error) => Err(self.unheard(&error)),
        }
    }

    fn unheard(&self, error: &std::io::Error) -> UserError {
        if error.kind() != ErrorKind::WouldBlock {
            return self.dead();
        }
        self.silent()
    }

    fn silent(&self) -> UserError {
        let message = sentence!("host {} has not answered for a long time", self.name);
        let hint = "its first process may be stopped, and may carry out the request later; run `wavetank lab down`, then `wavetank lab up`";
        UserError::refused(SILENT, message, hint)
    }

    fn dead(&self) -> UserError {
        let message = sentence!("the process of host {} has ended", self.name);
        let hint = format!(
            "see `wavetank lab logs {} host`, then run `wavetank lab down` and `wavetank lab up`",
            self.name
        );
        UserError::refused(Code::LabHostDead, message, hint)
    }
}

/// Sends `action` to hosts simultaneously; without one, waits for the line that each host sends
/// after its start. Returns as soon as one fails, or as `up` is closed: `Err(None)`.
pub(super) fn broadcast<'h>(
    hosts: impl IntoIterator<Item = &'h HostLink>,
    action: Option<&HostCommand>,
    up: &JsonSocket,
) -> Result<(), Option<UserError>> {
    let mut waiting: Vec<(&HostLink, MutexGuard<'_, HostChannel>)> =
        hosts.into_iter().map(|host| (host, host.talk())).collect();
    if let Some(action) = action {
        for (host, talk) in &mut waiting {
            host.send(talk, action)?;
        }
    }
    while !waiting.is_empty() {
        let mut handles: Vec<PollFd<'_>> = vec![PollFd::new(up, PollFlags::IN)];
        handles.extend(waiting.iter().map(|(_, talk)| PollFd::from_borrowed_fd(talk.as_fd(), PollFlags::IN)));
        match poll(&mut handles, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(Some(system("the keeper cannot wait", &errno))),
        }
        let ready: Vec<bool> = handles.iter().map(|handle| !handle.revents().is_empty()).collect();
        if ready[0] {
            return Err(None);
        }
        for index in (0..waiting.len()).rev().filter(|index| ready[index + 1]) {
            let (host, mut talk) = waiting.swap_remove(index);
            host.receive(&mut talk)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a host, and its own end of the connection.
    fn host() -> (HostLink, JsonSocket) {
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        let process = TaggedProcess::for_pid(std::process::id()).expect("this process is there");
        let link = HostLink::new("app", process, Duration::from_millis(20), ours);
        (link, JsonSocket::new(theirs))
    }

    #[test]
    fn an_unreported_end_is_reported_by_the_next_message() {
        let (link, mut host) = host();
        let talk = link.talk();
        for id in [7, 7, 8] {
            let unheard = link.request(&HostCommand::FaultEnd(id)).map_err(|error| error.code);
            assert_eq!(unheard, Err(SILENT), "another thread uses the channel");
        }
        drop(talk);
        assert_eq!(link.request(&HostCommand::Status).map_err(|error| error.code), Err(SILENT));
        for action in [HostCommand::Status, HostCommand::FaultEnd(7), HostCommand::FaultEnd(8)] {
            let asked = host.receive().expect("readable").expect("there is more");
            assert_eq!(HostCommand::read(&asked), Ok(action));
            host.send(&response::ok(&Value::Null)).expect("there is room");
        }
        assert!(link.strays().is_empty());
        drop(host);
        assert_eq!(
            link.request(&HostCommand::Status).map_err(|error| error.code.as_str()),
            Err("lab_host_dead")
        );
    }
}
