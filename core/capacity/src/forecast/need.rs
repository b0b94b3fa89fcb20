//! [`ResourceNeed`]: what a plan takes of its host, and what there is.

use serde::Serialize;
use std::net::SocketAddr;

use wavetank_units::UserError;
use wavetank_units::quantity::{format_grouped, show_size};

use wavetank_plan::feasibility::HostCapacity;
use wavetank_plan::feasibility::Peak;
use wavetank_plan::{FileBudget, HostFacts, Plan, Transport};

/// One thing that a plan takes of its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResourceNeed {
    /// `connections`, `source_ports`, `memory`, `threads`.
    pub what: &'static str,
    /// The highest amount needed.
    pub needed: u64,
    /// The available amount; `None` if there is no limit.
    pub available: Option<u64>,
    /// `count` or `bytes`.
    pub unit: &'static str,
    /// How the numbers were computed.
    pub why: String,
}

/// Returns all resources that `plan` takes of `host`. Both ends count if the target is this host.
///
/// # Errors
/// The plan has more threads than any host.
pub fn needs(plan: &Plan, host: &HostFacts) -> Result<Vec<ResourceNeed>, UserError> {
    let mut targets: Vec<SocketAddr> =
        plan.targets.iter().flat_map(|target| target.addresses.iter().copied()).collect();
    targets.sort_unstable();
    targets.dedup();
    let room =
        HostCapacity::new(host, &plan.sources.ranges, &targets, plan.engine, None, Transport::of(plan))?;
    let both_ends = host.is_target(&targets);
    let cpus = u32::try_from(host.cpus.len()).unwrap_or(1).max(1);
    let files = FileBudget::new(host, plan.engine, cpus, false, both_ends);
    let Peak { demand, users } = Peak::for_plan(plan);
    let connections = demand.connections;
    let each = room.footprint();
    let memory = demand.bytes(each, users);
    let ends = if both_ends { ", both ends included" } else { "" };
    let sources = match plan.sources.ranges.len() {
        0 => "the kernel's choice of one source address".to_owned(),
        _ => "source addresses × their ports × target addresses".to_owned(),
    };
    Ok(vec![
        ResourceNeed {
            what: "connections",
            needed: connections,
            available: Some(files.max_sockets()),
            unit: "count",
            why: format!("{} files in one table (ulimit -n){ends}", format_grouped(host.files_max)),
        },
        ResourceNeed {
            what: "source_ports",
            needed: connections,
            available: Some(room.tuples()),
            unit: "count",
            why: sources,
        },
        ResourceNeed {
            what: "memory",
            needed: memory,
            available: Some(room.memory_bytes()),
            unit: "bytes",
            why: format!(
                "{} a connection{ends}, {} more with an open request; other programs keep a part of the free memory",
                show_size(each.idle()),
                show_size(each.under_way),
            ),
        },
        ResourceNeed {
            what: "threads",
            needed: u64::from(plan.threads),
            available: Some(u64::from(cpus)),
            unit: "count",
            why: "load threads, and CPUs that may be used".to_owned(),
        },
    ])
}
