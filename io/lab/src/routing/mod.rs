//! Balancers in the kernel: direct routing and NAT by `nftables`, IPVS by keepalived.
//!
//! What passes packets on is the kernel of the balancer's network namespace; it goes on doing so if every process there
//! is stopped. Beside it runs a *director*, our own program again, that asks the servers whether they live and swaps the
//! kernel's table when that changes. It is a service like any other: it writes a log, it can be stopped and killed. Told
//! to end, it takes the rules away; killed, it leaves them, as a dead keepalived leaves those of IPVS.

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

/// The words after our own program's name that start the director of `service`, which must be direct routing or NAT.
/// `folder` is that of the host in the lab's.
pub(crate) fn director_args(folder: &Path, service: &str) -> Vec<String> {
    let folder = folder.to_string_lossy();
    ["lab-director", "--folder", &folder, "--service", service].map(str::to_owned).to_vec()
}
