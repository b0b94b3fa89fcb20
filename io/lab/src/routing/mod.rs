//! Balancers in the kernel: direct routing and NAT by `nftables`, IPVS by keepalived.
//!
//! The kernel of the balancer's network namespace forwards the packets. It continues even if every
//! process there is stopped. A *director*, our own program again, runs in parallel. It checks the
//! health of the servers and swaps the kernel's table on a change. It is a service like any other:
//! it writes a log and can be stopped and killed. An orderly stop removes the rules. A killed
//! director leaves them, as a killed keepalived leaves those of IPVS.

mod conntrack;
mod health_check;
mod ipvs;
mod nft;
mod state_file;
mod steering_daemon;
mod weights;

use std::path::Path;

pub(crate) use conntrack::flows;
pub(crate) use ipvs::{ipvs_missing, keepalived_args};
pub(crate) use state_file::{DirectorState, STATE_FILE, ServerState};
pub(crate) use steering_daemon::run;
pub(crate) use weights::Weights;

/// Returns our own program's arguments that start the director of `service`, which must be direct
/// routing or NAT. `folder` is the host's folder in the lab's.
pub(crate) fn director_args(folder: &Path, service: &str) -> Vec<String> {
    let folder = folder.to_string_lossy();
    ["lab-director", "--folder", &folder, "--service", service].map(str::to_owned).to_vec()
}
