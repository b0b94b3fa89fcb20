//! [`NetHosts`]: hosts that can be ends of a measurement.

use std::net::IpAddr;
use std::process::Command;

use wavetank_units::{Code, UserError, did_you_mean, sanitize};

/// A host of a lab or fleet.
#[derive(Clone, Debug)]
pub(super) struct NetHost {
    pub(super) name: String,
    pub(super) role: String,
}

/// Hosts of a lab or fleet.
pub(super) trait NetHosts: Sync {
    /// The hosts, in the order of their file.
    fn hosts(&self) -> &[NetHost];

    /// Returns an address of host `to` that host `from` reaches.
    fn address(&self, from: usize, to: usize) -> Result<IpAddr, UserError>;

    /// Returns the process that runs `wavetank net endpoint` on a host, without its pipes.
    fn command(&self, host: usize) -> Command;
}

/// Returns the hosts that names and roles select; all without any.
pub(super) fn select(
    hosts: &dyn NetHosts,
    option: &str,
    selected: &[String],
) -> Result<Vec<usize>, UserError> {
    let all = hosts.hosts();
    let mut chosen = Vec::new();
    for word in selected {
        let word = word.trim();
        let fits = |host: &NetHost| host.name == word || host.role == word;
        let found: Vec<usize> = (0..all.len()).filter(|&at| fits(&all[at])).collect();
        if found.is_empty() {
            let message = format!("{option}: there is no host or role `{}`", sanitize(word));
            let names = || all.iter().flat_map(|host| [host.name.as_str(), &host.role]);
            let hint = did_you_mean(word, names()).map_or_else(
                || {
                    format!(
                        "use one of: {}",
                        all.iter().map(|host| host.name.as_str()).collect::<Vec<_>>().join(" ")
                    )
                },
                |near| format!("did you mean {near}?"),
            );
            return Err(UserError::usage(Code::NetHostUnknown, message, hint));
        }
        chosen.extend(found);
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(if selected.is_empty() { (0..all.len()).collect() } else { chosen })
}
