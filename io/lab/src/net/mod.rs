//! Networks: the switch's bridges, links into the hosts, the set-up of a host's namespaces, control
//! groups.
//!
//! Pure functions produce the input of programs (`wiring`, `shaping`, `names`). Missing features of
//! the machine are found by trying them in a temporary namespace (`kernel`), before anything of a
//! lab exists.

mod accounts;
mod carrier;
mod confine;
mod etc;
mod group;
mod hierarchy;
mod kernel;
mod layers;
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

use wavetank_topology::{HostAction, Lab};
use wavetank_units::{Code, UserError};

use crate::{LabTag, LabsFolder};

pub use confine::apply_limits;
pub(crate) use layers::make_private;
pub(crate) use ssh::SSH_FILES;

/// Settings of the switch. It takes part in no network itself, so it must not send anything on one.
/// A firewall of the machine must not filter bridged packets. The second setting exists only with
/// such a firewall.
const SWITCH_SETTINGS: [(&str, &str); 3] = [
    ("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1"),
    ("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1"),
    ("/proc/sys/net/bridge/bridge-nf-call-iptables", "0"),
];

/// Checks whether this machine can make the lab's networks and limit its hosts, before anything is
/// created: programs, rights, kernel features, settings of hosts. Everything missing is reported
/// together (exit 5), with the line of `file` that requires it. `file` is the topology file as the
/// user named it.
pub fn check(lab: &Lab, file: &str) -> Result<(), UserError> {
    kernel::check(lab, file)
}

/// Whether `actions` lose packets in a lab that otherwise loses none, so that [`check`] would not
/// try it.
pub(crate) fn needs_loss_check(lab: &Lab, actions: &[HostAction]) -> bool {
    let by = |action: &HostAction| matches!(action, HostAction::Fault(what) if kernel::fault_needs_packet_loss(what));
    actions.iter().any(by) && !kernel::needs_packet_loss(lab)
}

/// Checks whether this machine can lose packets: the remaining part of [`check`].
pub(crate) fn check_loss() -> Result<(), UserError> {
    kernel::check_loss()
}

/// Creates the control groups of `lab.hosts[host]`, named after the tag and the host, with its
/// limits. Groups without limits are created where the machine permits them. `file` is the topology
/// file, for messages.
///
/// # Errors
/// A limit that the machine's groups do not accept.
pub fn make_group(lab: &Lab, host: usize, mark: &LabTag, file: &str) -> Result<(), UserError> {
    group::make(lab, host, mark, file)
}

/// Adds the calling process to the host's control groups, if there are any.
///
/// # Errors
/// A group that cannot be joined.
pub fn join_group(mark: &LabTag, host: &str) -> Result<(), UserError> {
    group::join(mark, host)
}

/// Removes all control groups with the tag. Fails while a process is in one.
pub fn remove_groups(mark: &LabTag) -> Result<(), UserError> {
    group::remove(mark)
}

/// Runs in the keeper, in the network namespace that is the switch. Creates bridges, and links into
/// the hosts' namespaces. Links have rate, delay and loss towards the hosts and their loss from
/// them. All of them carry packets when the function returns. `pids[i]` is the process of
/// `lab.hosts[i]`.
///
/// # Errors
/// A line that `ip`, `tc` or `nft` rejects, with its message; ports that do not forward in time.
pub fn connect(lab: &Lab, mark: &LabTag, pids: &[u32]) -> Result<(), UserError> {
    for (path, value) in SWITCH_SETTINGS {
        match fs::write(path, value) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let message = format!("cannot configure the lab's switch: {path}: {error}");
                return Err(UserError::refused(
                    Code::LabNetwork,
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

/// Runs in the process of `lab.hosts[host]`, in its namespaces, before anything else runs there.
/// Sets CPUs and files it may use, its own `/etc`, kernel settings, addresses and routes, rate and
/// delay of what it sends, and its SSH server. `file` is the topology file, for messages.
///
/// # Errors
/// The first of these steps that failed, with the message of the kernel or the program.
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

/// Runs in a process that acts as `lab.hosts[host]` for a trial, in its own namespaces. Does the
/// same with cables that lead nowhere, and without SSH.
pub(crate) fn set_up_for_trial(lab: &Lab, host: usize, mark: &LabTag, file: &str) -> Result<(), UserError> {
    let loose = wiring::unconnected_batch(&lab.hosts[host]);
    tool::Tool::IP.batch(&loose).map_err(tool::Refusal::into_error)?;
    furnish_itself(lab, host, mark, file)
}

/// Configures a host as far as it does not depend on other hosts.
fn furnish_itself(lab: &Lab, host: usize, mark: &LabTag, file: &str) -> Result<(), UserError> {
    let this = &lab.hosts[host];
    apply_limits(&this.limits)?;
    etc::mount_overlay()?;
    etc::write_file("/etc/hosts", &names::hosts_file(lab, host), 0o644)?;
    etc::write_file("/etc/resolv.conf", names::RESOLV_CONF, 0o644)?;
    etc::write_file("/etc/hostname", &format!("{}\n", this.name), 0o644)?;
    if let Some((users, groups)) = accounts::completed(this) {
        etc::write_file("/etc/group", &groups, 0o644)?;
        etc::write_file("/etc/passwd", &users, 0o644)?;
    }
    for file in &this.files {
        etc::write_file(&file.path, &file.text, file.mode)?;
    }
    // Settings come before the addresses, because a host must never answer for a silent address.
    for setting in setting::Setting::for_host(this) {
        setting.apply(file)?;
    }
    tool::Tool::IP.batch(&wiring::host_batch(lab, this, &mark.to_string())).map_err(tool::Refusal::into_error)
}
