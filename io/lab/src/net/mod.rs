//! Networks: the switch's bridges, links into the hosts, what a host's namespace is furnished with, control groups.

use wavetank_plan::UserError;
use wavetank_topology::Lab;

use crate::Mark;

/// Whether this machine can make the lab's networks: known before anything is created.
pub fn check(lab: &Lab) -> Result<(), UserError> {
    if lab.networks.is_empty() {
        return Ok(());
    }
    Err(UserError::refused(
        "value_later",
        "networks of a lab come with a later version",
        "a lab without networks",
    ))
}

/// Makes the control groups of `lab.hosts[host]`, named after the mark and the host.
pub fn make_group(_lab: &Lab, _host: usize, _mark: &Mark) -> Result<(), UserError> {
    Ok(())
}

/// The calling process joins the host's control groups, if there are any.
pub fn join_group(_mark: &Mark, _host: &str) -> Result<(), UserError> {
    Ok(())
}

/// Removes all control groups that bear the mark.
pub fn remove_groups(_mark: &Mark) -> Result<(), UserError> {
    Ok(())
}

/// In the keeper, whose network namespace is the switch: bridges, and links into the hosts' namespaces.
pub fn connect(_lab: &Lab, _mark: &Mark, _pids: &[u32]) -> Result<(), UserError> {
    Ok(())
}

/// In the host's namespaces: files, kernel settings, addresses, routes.
pub fn furnish(_lab: &Lab, _host: usize, _mark: &Mark) -> Result<(), UserError> {
    Ok(())
}
