//! [`try_configurations`]: has the services' programs check their configurations before anything of
//! the lab exists.
//!
//! Each host with services that can check a configuration gets a *trial*. This process acts
//! as that host for a moment, alone. It has the host's namespaces, files, settings, names and
//! addresses, with cables that lead nowhere, and a folder in its own memory. It is PID 1 of its PID
//! namespace and dies with the process that started it; everything it made goes with it.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Signal, set_parent_process_death_signal};
use serde_json::Value;
use wavetank_driver::Signals;
use wavetank_topology::{CustomConfig, Host, Lab, ServiceKind};
use wavetank_units::{Code, UserError};

use crate::json_socket::JsonSocket;
use crate::refusals::interrupted;
use crate::response::{self, system};
use crate::{LabFolder, LabSpec, namespaces, net, service};

/// Number of simultaneous trials; each is a process with namespaces.
const AT_ONCE: usize = 8;

/// Time limit for the trial of one host. Each of its programs has a shorter one.
const TRIAL_MAX: Duration = Duration::from_secs(90);

/// Folders below this one are in the memory of the process that acts as a host.
const IN_MEMORY: &str = "/run";

/// Has all programs check the configurations that the lab of `order` would give them in `folder`,
/// which is not modified. All rejected configurations are reported together, with the topology
/// file's line. Hosts of one pattern are tried once. Returns what the programs warn of.
pub(crate) fn try_configurations(
    order: &LabSpec,
    folder: &LabFolder,
    signals: Option<Signals>,
) -> Result<Vec<String>, UserError> {
    let (mut warnings, mut errors) = (Vec::new(), Vec::new());
    for hosts in worth_trying(&order.lab, folder).chunks(AT_ONCE) {
        let started: Vec<_> = hosts.iter().map(|host| Trial::start(order, folder, &host.name)).collect();
        for trial in started {
            match trial.and_then(|trial| trial.outcome(signals)) {
                Ok(reported) => warnings.extend(reported),
                Err(error) => errors.push(error),
            }
        }
    }
    UserError::combine(errors).map_or(Ok(warnings), Err)
}

/// Returns hosts with a service that can be checked, the first one of several equal hosts.
fn worth_trying<'l>(lab: &'l Lab, folder: &LabFolder) -> Vec<&'l Host> {
    let mut chosen: Vec<&Host> = Vec::new();
    for host in &lab.hosts {
        let has_check = |kind: &ServiceKind| !matches!(kind, ServiceKind::Serve(_) | ServiceKind::Command(_));
        let alike = |other: &&Host| {
            (&other.services, &other.files, &other.limits) == (&host.services, &host.files, &host.limits)
        };
        let checked = host.services.iter().any(|service| has_check(&service.kind));
        if checked && !needs_the_lab(host, folder) && !chosen.iter().any(alike) {
            chosen.push(host);
        }
    }
    chosen
}

/// Whether a user's file on `host` names something that exists only in a running lab, so that only
/// the check inside the lab can judge it. These are the SSH keys, and the lab's folder unless it is
/// in a host's own memory.
fn needs_the_lab(host: &Host, folder: &LabFolder) -> bool {
    let path = folder.path().to_string_lossy();
    let configs = host.services.iter().filter_map(|service| own_config(&service.kind));
    let mut texts = configs.map(|own| &own.text).chain(host.files.iter().map(|file| &file.text));
    let elsewhere = !folder.path().starts_with(IN_MEMORY);
    texts.any(|text| text.contains(net::SSH_FILES) || (elsewhere && text.contains(&*path)))
}

const fn own_config(kind: &ServiceKind) -> Option<&CustomConfig> {
    match kind {
        ServiceKind::Nginx(work) => work.own.config.as_ref(),
        ServiceKind::Haproxy(work) => work.own.config.as_ref(),
        ServiceKind::Ipvs(work) => work.own.config.as_ref(),
        ServiceKind::Serve(_)
        | ServiceKind::DirectRouting(_)
        | ServiceKind::Nat(_)
        | ServiceKind::Command(_) => None,
    }
}

/// A trial of one host. Dropping it ends its process.
#[derive(Debug)]
struct Trial {
    line: JsonSocket,
    process: Child,
    host: String,
}

impl Trial {
    fn start(order: &LabSpec, folder: &LabFolder, host: &str) -> Result<Self, UserError> {
        let failed = |error: &(dyn std::error::Error + 'static)| {
            system(&format!("cannot check the services of {host}"), error)
        };
        let (ours, theirs) = UnixStream::pair().map_err(|error| failed(&error))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0("wavetank").arg("lab-trial").arg("--mark").arg(order.mark.to_string());
        command.arg("--folder").arg(folder.path()).arg("--host").arg(host);
        // Ctrl-C at the terminal is for the parent process only; the trial ends with it.
        command.current_dir("/").process_group(0);
        command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::null());
        let process =
            namespaces::in_new_pid_namespace(|| command.spawn())?.map_err(|error| failed(&error))?;
        let mut trial = Self { line: JsonSocket::new(ours), process, host: host.to_owned() };
        let order = serde_json::from_str(&order.written()).map_err(|error| failed(&error))?;
        trial.line.send(&order).map_err(|error| failed(&error))?;
        Ok(trial)
    }

    /// Returns the result of the trial: what programs warn of. A signal that this process counts
    /// ends the wait.
    fn outcome(mut self, signals: Option<Signals>) -> Result<Vec<String>, UserError> {
        let is_counted = || signals.is_some_and(|signals| signals.received() > 0);
        let mut received = self.line.patience(Some(TRIAL_MAX)).and_then(|()| self.line.receive());
        // A process that was stopped and continued is interrupted, too.
        while received.as_ref().is_err_and(|error| error.kind() == ErrorKind::Interrupted) && !is_counted() {
            received = self.line.receive();
        }
        match received {
            Ok(Some(answer)) => {
                response::read(answer).map(|reported| serde_json::from_value(reported).unwrap_or_default())
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(interrupted()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let message = format!(
                    "the check of {}'s services took longer than {} s",
                    self.host,
                    TRIAL_MAX.as_secs()
                );
                let hint = "check that each program ends when it is asked to check its configuration";
                Err(UserError::refused(Code::LabKeeper, message, hint))
            }
            Ok(None) | Err(_) => {
                let message = format!("the check of {}'s services ended early", self.host);
                Err(UserError::refused(
                    Code::LabKeeper,
                    message,
                    "it was killed by a signal or for lack of memory; check `dmesg`",
                ))
            }
        }
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        // The trial has sent its result, or it is not needed any more. Killing an ended process is
        // harmless.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs the process of a trial. Fails only if the error cannot be sent to the requester.
pub(crate) fn run(folder: &LabFolder, name: &str) -> Result<(), UserError> {
    // As with a host, nothing is left, whatever happens to the requester.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|errno| system("cannot bind the check to its parent process", &errno))?;
    let mut asking = JsonSocket::from_stdin()?;
    let Ok(Some(order)) = asking.receive() else { return Ok(()) };
    let result = LabSpec::read(&order.to_string()).and_then(|order| tried(&order, folder, name));
    // The requester may be gone.
    let _ = asking.send(&response::from_result(&result.map(Value::from)));
    Ok(())
}

/// Acts as the host in its namespaces, from their set-up to the check of its configurations.
fn tried(order: &LabSpec, folder: &LabFolder, name: &str) -> Result<Vec<String>, UserError> {
    let LabSpec { mark, file, lab, .. } = order;
    let index = lab.host_index(name).ok_or_else(|| {
        UserError::refused(Code::LabState, format!("the lab has no host `{name}`"), "wavetank lab check FILE")
    })?;
    namespaces::enter_host(name, None)?;
    net::set_up_for_trial(lab, index, mark, file)?;
    let place = place(folder, name);
    let made = DirBuilder::new().recursive(true).mode(0o755).create(&place);
    made.map_err(|error| system(&format!("cannot create `{}`", place.display()), &error))?;
    service::try_out(lab, index, &place, file)
}

/// Returns where the trial writes: in its own memory, and under the final path if that is in memory
/// as well.
fn place(folder: &LabFolder, host: &str) -> PathBuf {
    if folder.path().starts_with(IN_MEMORY) {
        return folder.host_folder(host);
    }
    Path::new(IN_MEMORY).join("wavetank/labs").join(folder.name()).join("hosts").join(host)
}
