//! In-kernel balancers: direct routing, NAT, IPVS.

use std::net::{IpAddr, Ipv4Addr};

use wavetank_grammar::Node;
use wavetank_units::{Code, Nanos};

use super::service::Common;
use super::{Keys, Reader, TreeReader as _};
use crate::ast::{FileServer, FileService};
use crate::grammar::MapName;
use crate::{DirectRouting, Health, Ipvs, IpvsForward, Nat, Probe, ServiceKind};

/// Placeholder for an address that is set when names are resolved to hosts.
const LATER: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
/// A prime above 65,536. That is a hundred times as many slots as a lab has servers, as the Maglev
/// paper advises (§3.4).
const SLOTS: u32 = 65_537;
/// Maximum number of slots. Larger tables take too long to load.
const SLOTS_MAX: u32 = 655_373;
/// Connections live long, and only their first packets refresh their entries.
const STICKY: Nanos = Nanos::from_secs(300);
/// Number of remembered connections: 1,048,576 elements of a set, about 150 bytes each.
const FLOWS: u64 = 1 << 20;
const FLOWS_MAX: u64 = 1 << 24;

impl Reader<'_> {
    pub(super) fn direct_routing(&mut self, node: &Node) -> Option<FileService> {
        let mut keys = self.open(node, MapName::DirectRouting)?;
        let common = self.common(&mut keys, MapName::DirectRouting);
        let address = keys.require(self, "address").and_then(|node| self.address(node));
        let servers = self.servers_behind(&mut keys);
        let slots = keys.take("slots").map_or(Some(SLOTS), |node| self.slots(node));
        let sticky = keys.take("sticky").map_or(Some(STICKY), |node| self.positive_duration(node));
        let flows = keys.take("flows").map(|node| self.count_positive(node));
        let check = self.check(keys.take("check"));
        let flows_max = match flows {
            Some(flows) => {
                let flows = flows?;
                if flows.value > FLOWS_MAX {
                    let message = format!("{} connections are too many for a set in the kernel", flows.value);
                    return self.fail(Code::LabTooMany, flows.place, message, "at most 16M");
                }
                flows.value
            }
            None => FLOWS,
        };
        let kind = ServiceKind::DirectRouting(DirectRouting {
            address: LATER,
            interface: 0,
            servers: Vec::new(),
            slots: slots?,
            sticky: sticky?,
            flows_max,
            check: check.ok()?,
        });
        let service = common?.in_kernel(&keys, kind, servers);
        keys.finish();
        Some(FileService { address: Some(address?), ..service })
    }

    /// Reads the number of slots, which must be a prime. With any other number, some servers would
    /// get a larger share of the table.
    fn slots(&mut self, node: &Node) -> Option<u32> {
        let slots = self.count_up_to(node, SLOTS_MAX, "slots")?;
        let prime = slots.value > 2 && (2..=slots.value.isqrt()).all(|by| slots.value % by != 0);
        if prime {
            return Some(slots.value);
        }
        let message = format!("{} is not a prime", slots.value);
        self.fail(Code::LabValue, slots.place, message, "251, 4099, 65537 or 655373")
    }

    pub(super) fn nat(&mut self, node: &Node) -> Option<FileService> {
        let mut keys = self.open(node, MapName::Nat)?;
        let common = self.common(&mut keys, MapName::Nat);
        let address = keys.take("address").map(|node| self.address(node));
        let servers = self.servers_behind(&mut keys);
        let masquerade = keys.take("masquerade").map_or(Some(true), |node| self.bool(node));
        let check = self.check(keys.take("check"));
        let kind = Nat { address: LATER, servers: Vec::new(), masquerade: masquerade?, check: check.ok()? };
        let service = common?.in_kernel(&keys, ServiceKind::Nat(kind), servers);
        keys.finish();
        Some(FileService { address: address.map_or(Some(None), |address| address.map(Some))?, ..service })
    }

    pub(super) fn ipvs(&mut self, node: &Node) -> Option<FileService> {
        let mut keys = self.open(node, MapName::Ipvs)?;
        self.not_with_config(&keys, &["check", "scheduler", "connections"]);
        let common = self.common(&mut keys, MapName::Ipvs);
        let address = keys.require(self, "address").and_then(|node| self.address(node));
        let servers = self.servers_behind(&mut keys);
        let schedulers = Ipvs::SCHEDULERS.map(|word| (word, word));
        let scheduler =
            keys.take("scheduler").map_or(Some("mh"), |node| self.one_of(node, "scheduler", &schedulers));
        let ways = [("direct_routing", IpvsForward::DirectRouting), ("nat", IpvsForward::Nat)];
        let forward = keys
            .take("forward")
            .map_or(Some(IpvsForward::DirectRouting), |node| self.one_of(node, "way", &ways));
        let check = self.check(keys.take("check"));
        let own = self.own_program(&mut keys, MapName::Ipvs);
        let kind = ServiceKind::Ipvs(Ipvs {
            address: LATER,
            interface: 0,
            servers: Vec::new(),
            scheduler: scheduler?.to_owned(),
            forward: forward?,
            check: check.ok()?,
            own: own?,
        });
        let service = common?.in_kernel(&keys, kind, servers);
        keys.finish();
        Some(FileService { address: Some(address?), ..service })
    }

    fn servers_behind(&mut self, keys: &mut Keys<'_>) -> Vec<FileServer> {
        keys.require(self, "servers").map(|node| self.servers(node)).unwrap_or_default()
    }
}

impl Common {
    /// Makes a service that has no process, or a process that does not listen. There is nothing to
    /// probe.
    fn in_kernel(self, keys: &Keys<'_>, kind: ServiceKind, servers: Vec<FileServer>) -> FileService {
        let probe = if matches!(kind, ServiceKind::Ipvs(_)) { Probe::Alive } else { Probe::None };
        let health = Health { probe, every: Nanos::from_millis(50), within: Nanos::from_secs(10) };
        self.service(keys, kind, health, servers)
    }
}
