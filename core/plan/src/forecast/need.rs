//! [`Need`]: what a plan takes of its host, and what there is.

use std::net::SocketAddr;

use crate::quantity::show_whole;
use crate::resolve::Room;
use crate::{FileBudget, HostFacts, Plan, UserError};

/// What a virtual user takes of memory beside its connection, in bytes: its place in its journey, the clock it waits
/// for, its cookies' and variables' anchors. What those hold comes on top.
const BYTES_PER_USER: u64 = 512;

/// One thing that a plan takes of its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// `connections`, `source_ports`, `memory`, `threads`.
    pub what: &'static str,
    /// So much at the highest.
    pub needed: u64,
    /// So much is there; `None`: nothing limits it.
    pub available: Option<u64>,
    /// Of bytes; else it is a count.
    pub bytes: bool,
    /// How the numbers come about.
    pub why: String,
}

/// All that `plan` takes of `host`. Both ends count where the target is this host.
///
/// # Errors
/// Where the plan has more threads than any host.
pub fn needs(plan: &Plan, host: &HostFacts) -> Result<Vec<Need>, UserError> {
    let mut targets: Vec<SocketAddr> =
        plan.targets.iter().flat_map(|target| target.addresses.iter().copied()).collect();
    targets.sort_unstable();
    targets.dedup();
    let tls = plan.tls.is_some();
    let room = Room::new(host, &plan.sources.ranges, &targets, plan.engine, None, tls)?;
    let both_ends = targets.iter().all(|target| target.ip().is_loopback());
    let cpus = u32::try_from(host.cpus.len()).unwrap_or(1).max(1);
    let files = FileBudget::new(host, plan.engine, cpus, false, both_ends);
    let (connections, users) = peaks(plan);
    let user_bytes = users.saturating_mul(BYTES_PER_USER);
    let ends = if both_ends { ", both ends included" } else { "" };
    let sources = match plan.sources.ranges.len() {
        0 => "the kernel's choice of one source address".to_owned(),
        _ => "source addresses × their ports × target addresses".to_owned(),
    };
    Ok(vec![
        Need {
            what: "connections",
            needed: connections,
            available: Some(files.at_most()),
            bytes: false,
            why: format!("{} files in one table (ulimit -n){ends}", show_whole(host.files_max)),
        },
        Need {
            what: "source_ports",
            needed: connections,
            available: Some(room.tuples()),
            bytes: false,
            why: sources,
        },
        Need {
            what: "memory",
            needed: connections.saturating_mul(room.bytes_per_connection()).saturating_add(user_bytes),
            available: Some(room.by_memory().saturating_mul(room.bytes_per_connection())),
            bytes: true,
            why: format!(
                "{} bytes a connection with its request under way{ends}, {BYTES_PER_USER} a user; half of what is free is planned with",
                room.bytes_per_connection()
            ),
        },
        Need {
            what: "threads",
            needed: u64::from(plan.threads),
            available: Some(u64::from(cpus)),
            bytes: false,
            why: "load threads, and CPUs that may be used".to_owned(),
        },
    ])
}

/// Most connections and most users at once. What sessions of a phase need after its end is in what they need during it.
fn peaks(plan: &Plan) -> (u64, u64) {
    let at = |begin: crate::Nanos| {
        plan.phases.iter().filter(|phase| phase.holds(begin)).fold((0_u64, 0_u64), |sum, phase| {
            let users = phase.load.levels().map_or(phase.max_open, crate::Levels::max);
            (sum.0.saturating_add(phase.connections), sum.1.saturating_add(users))
        })
    };
    let begins = plan.phases.iter().map(|phase| at(phase.start));
    begins.fold((0, 0), |most, own| (most.0.max(own.0), most.1.max(own.1)))
}
