//! [`HostInventory`]: what hosts can do and how many there are.

use serde::Serialize;
use wavetank_units::quantity::{format_compact, show_size};
use wavetank_units::{Code, Nanos, Ports, UserError};

use super::capacity::RoleCapacity;
use super::{Balancing, PortsOption, Role, SizeOptions};

/// Ports that explicit binding can use: those that need no privileges.
pub(super) const PORTS: (u16, u16) = (1_024, 65_535);
/// Default service time of a response.
pub const SERVICE: Nanos = Nanos::from_millis(100);
/// Default size of a response in bytes: a head of some 150 and a small page.
pub const ANSWER_BYTES: u64 = 1_000;
/// Largest supported size of a request or response: 1 TiB.
pub const BYTES_MAX: u64 = 1 << 40;

/// Everything about hosts, fixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInventory {
    /// The kind of balancing between clients and servers.
    pub balancing: Balancing,
    /// The capacity of one host of each role.
    pub capacity: [RoleCapacity; 3],
    /// Hosts that there are, by role.
    pub hosts: [Option<u64>; 3],
    /// Balancers and servers that may be gone.
    pub spare: u64,
    /// Memory of each host.
    pub memory: Option<u64>,
    /// Bits a second of each host's link, each way.
    pub link: Option<u64>,
    /// Ports of one source address of a load host.
    pub load_ports: u64,
    /// Ports of one address of a balancer.
    pub balancer_ports: u64,
    /// First and last port, for the kernel's range.
    pub range: (u16, u16),
    /// Pairs of address and port that clients connect to.
    pub targets: u64,
    /// Pairs of address and port that a proxy connects to, if given.
    pub backends: Option<u64>,
    /// Source addresses that load hosts have together, if given.
    pub sources: Option<u64>,
    /// The effective values and their sources.
    pub settings: Vec<Setting>,
}

/// One number that sizing rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The option, without its dashes.
    pub name: &'static str,
    /// Its value, with unit.
    pub value: String,
    /// Whether the user gave the value; otherwise it is the default.
    pub given: bool,
    /// The source of the value.
    pub why: String,
}

impl HostInventory {
    /// Combines the user's options with defaults. `targets` is the number of targets in the
    /// URL or file.
    ///
    /// # Errors
    /// Options that contradict each other.
    pub fn from_options(wishes: &SizeOptions, targets: u64) -> Result<Self, UserError> {
        let mut capacity = [RoleCapacity::default(); 3];
        for (role, own) in &wishes.capacity {
            let place = &mut capacity[*role as usize];
            if (own.requests.is_some() && place.requests.is_some())
                || (own.connections.is_some() && place.connections.is_some())
            {
                return Err(twice("--capacity", *role));
            }
            place.requests = own.requests.or(place.requests);
            place.connections = own.connections.or(place.connections);
        }
        let mut hosts = [None; 3];
        for (role, count) in &wishes.hosts {
            if hosts[*role as usize].replace(*count).is_some() {
                return Err(twice("--hosts", *role));
            }
        }
        let balancing = balancing(wishes)?;
        let (load_ports, balancer_ports, range) = ports(wishes.ports);
        let mut means = Self {
            balancing,
            capacity,
            hosts,
            spare: wishes.spare.unwrap_or(0),
            memory: wishes.memory,
            link: wishes.link,
            load_ports,
            balancer_ports,
            range,
            targets: wishes.targets.unwrap_or(targets).max(1),
            backends: wishes.backends,
            sources: wishes.sources,
            settings: Vec::new(),
        };
        means.check_spare()?;
        means.settings = means.settings_of(wishes, targets);
        Ok(means)
    }

    /// Whether there are hosts of this role.
    pub fn has(&self, role: Role) -> bool {
        role != Role::Balancer || self.balancing != Balancing::None
    }

    /// Hosts of this role that may be gone: a test that loses a load host is done again.
    pub fn spare_hosts(&self, role: Role) -> u64 {
        if role == Role::Load { 0 } else { self.spare }
    }

    fn check_spare(&self) -> Result<(), UserError> {
        for role in [Role::Balancer, Role::Server] {
            if let Some(have) = self.hosts[role as usize].filter(|have| *have <= self.spare) {
                let message =
                    format!("--spare {} of {have} hosts in the role {} leaves none", self.spare, role.name());
                return Err(UserError::usage(Code::Conflict, message, "fewer spare ones, or more hosts"));
            }
        }
        Ok(())
    }

    fn settings_of(&self, wishes: &SizeOptions, targets: u64) -> Vec<Setting> {
        let one = |name, value, given, why: &str| Setting { name, value, given, why: why.to_owned() };
        let none = "not a limit".to_owned();
        let capacity = |role: Role| {
            let own = self.capacity[role as usize].show();
            if own.is_empty() { none.clone() } else { own }
        };
        let known = |role: Role| !self.capacity[role as usize].show().is_empty();
        let ports = if wishes.ports.is_some() {
            ""
        } else {
            "ports 1024 to 65535 of an address; a load leaves one in 16 to other programs of its host"
        };
        let mut all = vec![
            one(
                "balancer",
                self.balancing.name().to_owned(),
                wishes.balancer.is_some(),
                "a proxy if another option needs one, otherwise none",
            ),
            one("ports", ports_text(self), wishes.ports.is_some(), ports),
            one(
                "targets",
                self.targets.to_string(),
                wishes.targets.is_some(),
                if targets > 1 { "those of the file" } else { "one address and port, as a URL names" },
            ),
            one("spare", self.spare.to_string(), wishes.spare.is_some(), ""),
            one(
                "memory",
                self.memory.map_or_else(|| none.clone(), show_size),
                self.memory.is_some(),
                "of one host",
            ),
            one(
                "link",
                self.link.map_or_else(
                    || none.clone(),
                    |link| super::result::bits(super::PerSecond::per(u128::from(link), Nanos::SECOND)),
                ),
                self.link.is_some(),
                "of one host, each way",
            ),
        ];
        let hosts: Vec<String> =
            wishes.hosts.iter().map(|(role, count)| format!("{} {count}", role.name())).collect();
        all.extend((!hosts.is_empty()).then(|| one("hosts", hosts.join(", "), true, "")));
        all.extend(self.backends.map(|backends| one("backends", backends.to_string(), true, "")));
        all.extend(self.sources.map(|sources| one("source", format!("{sources} addresses"), true, "")));
        for (role, name) in [
            (Role::Load, "capacity load"),
            (Role::Balancer, "capacity balancer"),
            (Role::Server, "capacity server"),
        ] {
            if self.has(role) {
                all.push(one(name, capacity(role), known(role), "of one host; to be measured"));
            }
        }
        all
    }
}

fn ports_text(means: &HostInventory) -> String {
    if means.load_ports == means.balancer_ports {
        return format_compact(means.load_ports);
    }
    format!(
        "{} for load, {} for a balancer",
        format_compact(means.load_ports),
        format_compact(means.balancer_ports)
    )
}

fn twice(option: &str, role: Role) -> UserError {
    let message = format!("{option} {} is given twice", role.name());
    UserError::usage(Code::Conflict, message, "give it once")
}

/// Returns the kind of balancing: a proxy if an option implies one.
fn balancing(wishes: &SizeOptions) -> Result<Balancing, UserError> {
    match (wishes.balancer, wishes.balancer_only_option()) {
        (Some(Balancing::None), Some(option)) => {
            let message = format!("{option} means nothing with --balancer none");
            Err(UserError::usage(
                Code::Conflict,
                message,
                "--balancer proxy or direct, or leave one of the two out",
            ))
        }
        (Some(Balancing::Direct), _) if wishes.backends.is_some() => {
            let message =
                "--backends means nothing with --balancer direct: it has no ports of its own to servers";
            Err(UserError::usage(Code::Conflict, message, "leave --backends out, or --balancer proxy"))
        }
        (Some(own), _) => Ok(own),
        (None, Some(_)) => Ok(Balancing::Proxy),
        (None, None) => Ok(Balancing::None),
    }
}

/// Ports of one address on a load host and on a balancer, and the kernel's range.
fn ports(word: Option<PortsOption>) -> (u64, u64, (u16, u16)) {
    match word {
        Some(PortsOption::Count(count)) => (count, count, PORTS),
        Some(PortsOption::Range(first, last)) => {
            let count = u64::from(last - first) + 1;
            (count, count, (first, last))
        }
        None => {
            let all = Ports::range(PORTS.0, PORTS.1);
            (all.for_tuples(PORTS.0).count(), all.count(), PORTS)
        }
    }
}
