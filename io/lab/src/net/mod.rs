//! Networks: the switch's bridges, links into the hosts, what a host's namespaces are furnished with, control groups.
//!
//! What programs are told is made by pure functions (`wiring`, `shaping`, `names`); what this machine lacks is found by
//! trying in a throw-away namespace (`kernel`), before anything of a lab is there.

mod carrier;
mod confine;
mod etc;
mod group;
mod hierarchy;
mod kernel;
mod names;
mod neighbour_routes;
mod poll_until;
mod scratch_namespace;
mod setting;
mod shaping;
mod ssh;
mod tool;
mod wiring;

use std::fs;
use std::io::ErrorKind;

use wavetank_plan::UserError;
use wavetank_topology::{HostAction, Lab};

use crate::{LabTag, LabsFolder};

pub use confine::apply_limits;
pub(crate) use ssh::SSH_FILES;

/// In the switch: nothing there takes part in networks itself, so nothing of it shall be heard on them; and what is
/// bridged is nobody's to filter, whatever firewall the machine has. The second is there only with such a firewall.
const SWITCH_SETTINGS: [(&str, &str); 3] = [
    ("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1"),
    ("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1"),
    ("/proc/sys/net/bridge/bridge-nf-call-iptables", "0"),
];

/// Whether this machine can make the lab's networks and limit its hosts, known before anything is created: programs,
/// rights, features of the kernel, settings of hosts. All that is missing is told at once (exit 5), with the line of `file`,
/// the topology file as the user named it, that asks for it.
pub fn check(lab: &Lab, file: &str) -> Result<(), UserError> {
    kernel::check(lab, file)
}

/// Whether `deeds` lose packets in a lab that otherwise loses none, so that [`check`] would not try it.
pub(crate) fn needs_loss_check(lab: &Lab, deeds: &[HostAction]) -> bool {
    let by =
        |deed: &HostAction| matches!(deed, HostAction::Fault(what) if kernel::fault_needs_packet_loss(what));
    deeds.iter().any(by) && !kernel::needs_packet_loss(lab)
}

/// Whether this machine can lose packets: the part of [`check`] that is left then.
pub(crate) fn check_loss() -> Result<(), UserError> {
    kernel::check_loss()
}

/// Makes the control groups of `lab.hosts[host]`, named after the mark and the host, with its limits. Without limits they
/// are made where the machine lets us. `file` is the topology file, for messages.
///
/// # Errors
/// A limit that the machine's groups do not take.
pub fn make_group(lab: &Lab, host: usize, mark: &LabTag, file: &str) -> Result<(), UserError> {
    group::make(lab, host, mark, file)
}

/// The calling process joins the host's control groups, if there are any.
///
/// # Errors
/// A group that may not be joined.
pub fn join_group(mark: &LabTag, host: &str) -> Result<(), UserError> {
    group::join(mark, host)
}

/// Removes all control groups that bear the mark. Fails while a process is in one.
pub fn remove_groups(mark: &LabTag) -> Result<(), UserError> {
    group::remove(mark)
}

/// In the keeper, whose network namespace is the switch: bridges, and links into the hosts' namespaces, with their rate,
/// delay and loss towards the hosts and their loss from them; all of them carry when it is done. `pids[i]` is the process of `lab.hosts[i]`.
///
/// # Errors
/// What `ip`, `tc` or `nft` said against a line, with the line; ports that do not forward in time.
pub fn connect(lab: &Lab, mark: &LabTag, pids: &[u32]) -> Result<(), UserError> {
    for (path, value) in SWITCH_SETTINGS {
        match fs::write(path, value) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let message = format!("the lab's switch cannot be set: {path}: {error}");
                return Err(UserError::refused(
                    "lab_network",
                    message,
                    "a container may have /proc/sys read-only",
                ));
            }
            _ => {}
        }
    }
    tool::Tool::IP
        .batch(&wiring::switch_batch(lab, &mark.to_string(), pids))
        .map_err(tool::Refusal::into_error)?;
    carrier::bring_links_up(lab, pids)?;
    tool::Tool::TC.batch(&shaping::switch_batch(lab)).map_err(tool::Refusal::into_error)?;
    tool::Tool::NFT.rules(&shaping::loss_rules(lab)).map_err(tool::Refusal::into_error)?;
    if ssh::is_enabled(lab) {
        ssh::make_keys(LabsFolder::system().lab(mark.name())?.path())?;
    }
    Ok(())
}

/// In the process of `lab.hosts[host]`, in its namespaces, before anything else runs there: CPUs and files it may use, its
/// own `/etc`, kernel settings, then addresses and routes, rate and delay of what it sends, and its SSH server. `file` is
/// the topology file, for messages.
///
/// # Errors
/// The first of these steps that could not be done, in the words of the kernel or the program.
pub fn configure_host(lab: &Lab, host: usize, mark: &LabTag, file: &str) -> Result<(), UserError> {
    let this = &lab.hosts[host];
    furnish_itself(lab, host, mark, file)?;
    let shaped = this.interfaces.iter().map(|interface| shaping::outgoing(&interface.name, &interface.link));
    tool::Tool::TC.batch(&shaped.collect::<String>()).map_err(tool::Refusal::into_error)?;
    if ssh::is_enabled(lab) {
        let folder = LabsFolder::system().lab(mark.name())?;
        ssh::install(this, folder.path(), &folder.host_folder(&this.name))?;
    }
    Ok(())
}

/// In a process that is `lab.hosts[host]` for a trial, in namespaces of its own: the same, at cables that lead nowhere, and
/// without SSH.
pub(crate) fn set_up_for_trial(lab: &Lab, host: usize, mark: &LabTag, file: &str) -> Result<(), UserError> {
    let loose = wiring::unconnected_batch(&lab.hosts[host]);
    tool::Tool::IP.batch(&loose).map_err(tool::Refusal::into_error)?;
    furnish_itself(lab, host, mark, file)
}

/// What a host is by itself, whoever it is joined to.
fn furnish_itself(lab: &Lab, host: usize, mark: &LabTag, file: &str) -> Result<(), UserError> {
    let this = &lab.hosts[host];
    apply_limits(&this.limits)?;
    etc::mount_overlay()?;
    etc::write_file("/etc/hosts", &names::hosts_file(lab, host), 0o644)?;
    etc::write_file("/etc/resolv.conf", names::RESOLV_CONF, 0o644)?;
    etc::write_file("/etc/hostname", &format!("{}\n", this.name), 0o644)?;
    for file in &this.files {
        etc::write_file(&file.path, &file.text, file.mode)?;
    }
    // Settings come before the addresses: a host must not answer for a silent one even once.
    for setting in setting::Setting::for_host(this) {
        setting.apply(file)?;
    }
    tool::Tool::IP.batch(&wiring::host_batch(lab, this, &mark.to_string())).map_err(tool::Refusal::into_error)
}
