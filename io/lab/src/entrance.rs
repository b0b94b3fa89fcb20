//! [`Entrance`]: the way into a host of a lab.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;

use wavetank_driver::Signals;
use wavetank_plan::{UserError, harmless};

use crate::answer::system;
use crate::keeper::host_unknown;
use crate::state::Phase;
use crate::{LabFolder, Mark, net, spaces};

/// A host of a lab that is up, by a handle on its process: what goes through it reaches that host or nothing.
#[derive(Debug)]
pub struct Entrance {
    handle: OwnedFd,
    pid: u32,
    mark: Mark,
    folder: LabFolder,
    host: String,
}

impl Entrance {
    /// To `host` of the lab in `folder`.
    ///
    /// # Errors
    /// A lab that is not up, a host that it does not have, or one whose process has ended.
    pub fn to(folder: &LabFolder, host: &str) -> Result<Self, UserError> {
        let state = folder.state()?;
        let names = state.hosts.iter().map(|host| host.name.as_str());
        let found = state.hosts.iter().find(|one| one.name == host);
        if state.phase != Phase::Up {
            let message = format!("lab `{}` is not up", folder.name());
            return Err(UserError::usage("lab_not_up", message, "wavetank lab status tells how it stands"));
        }
        let found = found.ok_or_else(|| host_unknown(host, names))?;
        let handle = found.process.marked(&state.mark).ok_or_else(|| {
            let message = format!("the process of host {host} has ended");
            let hint = format!("wavetank lab down --lab {}, then up again", folder.name());
            UserError::refused("lab_host_dead", message, hint)
        })?;
        let (pid, mark) = (found.process.pid, state.mark);
        Ok(Self { handle, pid, mark, folder: folder.clone(), host: host.to_owned() })
    }

    /// The host's network namespace, for threads to enter.
    ///
    /// # Errors
    /// Where it may not be opened, or the host has ended since.
    pub fn net_namespace(&self) -> Result<OwnedFd, UserError> {
        let opened = spaces::network_of(self.pid);
        opened.map_err(|error| system(&format!("the network of host {} cannot be opened", self.host), &error))
    }

    /// A command that runs what is added to its words inside the host: in all its namespaces and its control groups.
    /// For callers that have several threads, or do not want to enter for good.
    pub fn command(&self) -> Command {
        let mut command = Command::new("/proc/self/exe");
        command.arg0("wavetank").arg("lab-enter").arg("--mark").arg(self.mark.word());
        command.arg("--folder").arg(self.folder.path()).arg("--host").arg(&self.host).arg("--");
        command
    }

    /// Runs `words` inside the host, with this process's input and output, and gives back its exit code; 128 and the
    /// signal's number if a signal ended it. The calling process, which must have one thread, enters the host for good.
    ///
    /// # Errors
    /// No words, a program that is not there, or rights that are missing: the command has not run then.
    pub fn run(&self, words: &[OsString]) -> Result<u8, UserError> {
        let host = &self.host;
        let Some((program, arguments)) = words.split_first() else {
            return Err(UserError::usage(
                "lab_command",
                "there is no command",
                format!("wavetank lab exec {host} -- ip address"),
            ));
        };
        net::join_group(&self.mark, host)?;
        // Who enters is no child of the host's process, whose limits he would have by birth.
        if let Some(found) = self.folder.order()?.lab.host(host) {
            net::confine(&found.limits)?;
        }
        let here = std::env::current_dir();
        spaces::enter(&self.handle).map_err(|errno| match errno {
            nix::errno::Errno::EPERM => crate::up::no_root(),
            _ => system(&format!("host {host} cannot be entered"), &errno),
        })?;
        // The host has the same files but for those it has its own of.
        let there = here.is_ok_and(|folder| std::env::set_current_dir(folder).is_ok());
        if !there {
            std::env::set_current_dir("/").map_err(|error| system("there is no root folder", &error))?;
        }
        // Ctrl-C reaches the command, too. This process stays to tell how the command took it.
        Signals::listen().map_err(|errno| system("signals cannot be counted", &errno))?;
        match Command::new(program).args(arguments).status() {
            Ok(status) => {
                let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
                Ok(u8::try_from(code).unwrap_or(u8::MAX))
            }
            Err(error) => Err(not_run(program, host, &error)),
        }
    }
}

fn not_run(program: &OsStr, host: &str, error: &std::io::Error) -> UserError {
    let shown = program.to_string_lossy();
    let message = match error.kind() {
        ErrorKind::NotFound => format!("there is no program `{}` in host {host}", harmless(&shown)),
        _ => format!("`{}` cannot be run in host {host}: {error}", harmless(&shown)),
    };
    UserError::usage(
        "lab_command",
        message,
        format!("wavetank lab exec {host} -- sh -c '…' for words of a shell"),
    )
}
