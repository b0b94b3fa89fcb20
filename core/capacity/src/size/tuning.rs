//! [`Tuning`]: kernel limits that a role must raise, as commands.
//!
//! Only limits that the load needs are included, each with its formula, and none is ever lowered.
//! Further settings in articles about a million connections have no effect or do harm; docs/size.md
//! lists them.

use serde::Serialize;
use wavetank_units::Nanos;
use wavetank_units::quantity::format_grouped;

use super::{Balancing, HostInventory, LoadDemand, Role, TierSizing};
use wavetank_plan::NR_OPEN_DEFAULT;
use wavetank_plan::feasibility::{BACKLOG_ASKED, BURST, TIME_WAIT};
use wavetank_plan::feasibility::{PAGE_BYTES, TIME_WAIT_BYTES};

/// The shortest queue that is asked for: Linux's own since 5.4.
const SOMAXCONN: u64 = 4_096;
/// Neighbours on a link (`gc_thresh3`).
const NEIGHBOURS: u64 = 1_024;
/// Time for which connection tracking keeps a closed connection
/// (`nf_conntrack_tcp_timeout_time_wait`).
const TRACKED_AFTER: Nanos = Nanos::from_secs(120);

/// One limit that a role's hosts need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tuning {
    /// On which hosts.
    pub role: Role,
    /// `fs.file-max`.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// A host that has more keeps it.
    pub at_least: bool,
    /// The command that sets it.
    pub command: String,
    /// How the value was computed.
    pub formula: String,
}

/// Everything that hosts of the role need.
pub(super) fn tunings(
    tier: &TierSizing,
    per_source: u64,
    demand: &LoadDemand,
    means: &HostInventory,
) -> Vec<Tuning> {
    let role = tier.role;
    let mut list = List { role, all: Vec::new() };
    if tier.each.sockets > 0 {
        files(&mut list, tier, demand);
    }
    if connects(role, means) {
        ports(&mut list, per_source, means, tier, demand);
    }
    if accepts(role, means) {
        queue(&mut list, tier, demand);
    }
    waits(&mut list, tier, demand, means);
    pages(&mut list, tier, demand);
    tracking(&mut list, tier, demand);
    list.all
}

/// Whether hosts of the role open connections.
fn connects(role: Role, means: &HostInventory) -> bool {
    role == Role::Load || (role == Role::Balancer && means.balancing == Balancing::Proxy)
}

/// Whether hosts of the role accept connections.
fn accepts(role: Role, means: &HostInventory) -> bool {
    role == Role::Server || (role == Role::Balancer && means.balancing == Balancing::Proxy)
}

struct List {
    role: Role,
    all: Vec<Tuning>,
}

impl List {
    fn least(&mut self, name: &'static str, value: u64, formula: String) {
        self.all.push(Tuning {
            role: self.role,
            name,
            value: value.to_string(),
            at_least: true,
            command: format!("least {name} {value}"),
            formula,
        });
    }

    fn exactly(&mut self, name: &'static str, value: &str, formula: String) {
        let quoted = if value.contains(' ') { format!("'{value}'") } else { value.to_owned() };
        self.all.push(Tuning {
            role: self.role,
            name,
            value: value.to_owned(),
            at_least: false,
            command: format!("sysctl -w {name}={quoted}"),
            formula,
        });
    }
}

/// Sockets of the host and of its process.
fn files(list: &mut List, tier: &TierSizing, demand: &LoadDemand) {
    let sockets = tier.connections_each(demand).saturating_mul(tier.each.sockets);
    let of = format!("{} sockets", format_grouped(sockets));
    list.least(
        "fs.file-max",
        ceiling(sockets, 11, 10).saturating_add(10_000),
        format!("1.1 × {of} + 10,000"),
    );
    let process = sockets.saturating_add(sockets / 10).saturating_add(1_000);
    if process > NR_OPEN_DEFAULT {
        list.least("fs.nr_open", process, format!("1.1 × {of} + 1,000: the ceiling of ulimit -n"));
    }
    let (value, formula) = match list.role {
        // Sockets of io_uring are in tables of their rings. Each ring may hold as many as a
        // descriptor table.
        Role::Load => (
            process.min(65_536),
            "io_uring's sockets are in rings, each of which holds as many as a table".to_owned(),
        ),
        _ => (process, format!("1.1 × {of} + 1,000 (LimitNOFILE= of a service)")),
    };
    list.all.push(Tuning {
        role: list.role,
        name: "nofile",
        value: value.to_string(),
        at_least: true,
        // Alone it would lower the limit of a shell that has more.
        command: format!("[ $(ulimit -n) -ge {value} ] || ulimit -n {value}"),
        formula,
    });
}

/// Ports to connect from.
fn ports(list: &mut List, per_source: u64, means: &HostInventory, tier: &TierSizing, demand: &LoadDemand) {
    let (first, last) = means.range;
    let needed = if list.role == Role::Load { per_source } else { tier.connections_each(demand) };
    if needed > super::ports::KERNEL_PORTS / 2 {
        let formula = format!(
            "{} connections; add ports in it that have a listener to ip_local_reserved_ports",
            format_grouped(needed)
        );
        list.exactly("net.ipv4.ip_local_port_range", &format!("{first} {last}"), formula);
    }
    if !demand.opens.is_zero() {
        list.exactly(
            "net.ipv4.tcp_tw_reuse",
            "1",
            "a port is used again after 1 s instead of 60 s".to_owned(),
        );
    }
}

/// Connections that wait to be accepted.
fn queue(list: &mut List, tier: &TierSizing, demand: &LoadDemand) {
    let burst = demand.opening.part(tier.working()).count_in(BURST);
    let value = burst.checked_next_power_of_two().unwrap_or(u64::MAX).clamp(SOMAXCONN, BACKLOG_ASKED);
    let formula = format!(
        "{} new ones × 250 ms, 4,096 to 65,535; the program's own backlog too",
        demand.opening.part(tier.working()).show()
    );
    list.least("net.core.somaxconn", value, formula.clone());
    list.least("net.ipv4.tcp_max_syn_backlog", value, "as many half-open ones".to_owned());
}

/// Adds the limit for `TIME_WAIT` on the side that closes first.
fn waits(list: &mut List, tier: &TierSizing, demand: &LoadDemand, means: &HostInventory) {
    use super::CloseSide;
    let closes = match (demand.exchange.closing, list.role, means.balancing) {
        (CloseSide::Reset, ..) => false,
        (CloseSide::Client, role, _) => role == Role::Load || connects(role, means),
        (CloseSide::Server, role, _) => accepts(role, means),
    };
    let each = demand.opens.part(tier.working());
    let waiting = each.count_in(TIME_WAIT);
    if closes && waiting > 0 {
        let formula = format!("1.2 × {} closed × 60 s, {TIME_WAIT_BYTES} B each", each.show());
        list.least("net.ipv4.tcp_max_tw_buckets", ceiling(waiting, 6, 5), formula);
    }
}

/// Adds the limit for unread data, which takes at least one page per socket.
fn pages(list: &mut List, tier: &TierSizing, demand: &LoadDemand) {
    let sockets = tier.connections_each(demand).saturating_mul(tier.each.sockets);
    if sockets < 100_000 {
        return;
    }
    let most = ceiling(sockets, 6, 5);
    let value = format!("{} {} {most}", most / 2, most / 4 * 3);
    let size = wavetank_units::quantity::show_size(most.saturating_mul(PAGE_BYTES));
    let formula = format!("1.2 pages a socket, {size} if all had unread data");
    list.all.push(Tuning {
        role: list.role,
        name: "net.ipv4.tcp_mem",
        command: format!("least net.ipv4.tcp_mem '{value}'"),
        value,
        at_least: true,
        formula,
    });
}

/// Connection tracking: best none.
fn tracking(list: &mut List, tier: &TierSizing, demand: &LoadDemand) {
    let each = tier.connections_each(demand).saturating_mul(tier.each.sockets.max(1));
    let gone = demand.opens.part(tier.working()).count_in(TRACKED_AFTER);
    let value = ceiling(each.saturating_add(gone), 5, 4);
    let formula = format!(
        "1.25 × ({} + {} of the last 120 s), 320 B each; where connections are tracked; better not to track them",
        format_grouped(each),
        format_grouped(gone)
    );
    list.least("net.netfilter.nf_conntrack_max", value, formula);
}

/// Source addresses on a link that other hosts see as neighbours.
pub(super) fn neighbours(sources: u64, role: Role) -> Option<Tuning> {
    if sources < NEIGHBOURS / 2 {
        return None;
    }
    let mut list = List { role, all: Vec::new() };
    let value = sources.saturating_mul(2);
    let formula = format!("2 × {} source addresses, unless a route hides them", format_grouped(sources));
    list.least("net.ipv4.neigh.default.gc_thresh3", value, formula);
    list.all.pop()
}

/// `value` × `numerator` ÷ `denominator`, rounded up.
fn ceiling(value: u64, numerator: u64, denominator: u64) -> u64 {
    let exact = (u128::from(value) * u128::from(numerator)).div_ceil(u128::from(denominator));
    u64::try_from(exact).unwrap_or(u64::MAX)
}
