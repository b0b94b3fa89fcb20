//! NAT as rules of the kernel's connection tracking.

use super::family::Family;
use super::ruleset::{self, Ruleset};
use crate::{Nat, Rendered, Service};

/// Number of slots of the Maglev table, a prime. With 40 servers, each gets more than a hundred
/// slots. A table of 65,537 slots would be exact to a thousandth, but NAT has no key to choose the
/// size.
const SLOTS: u32 = 4_099;

/// Returns the family and name of the service's table.
pub(super) fn table(service: &Service, nat: &Nat) -> String {
    format!("{} {}", Family::from_address(nat.address).as_str(), ruleset::table_name(service))
}

/// Returns the whole table without the slots. Loading it with `nft -f` replaces a table with the
/// same name.
pub(super) fn rules(service: &Service, nat: &Nat, path: String) -> Rendered {
    let mut text = Ruleset::new(path, service);
    let (table, address, family) = (table(service, nat), nat.address, Family::from_address(nat.address));
    let ip = family.as_str();
    text.static_rule("# Removes the table of an earlier start. It is created first, since only an existing one can be deleted.");
    text.static_rule(&format!("table {table} {{ }}"));
    text.static_rule(&format!("delete table {table}"));
    text.static_rule(&format!("table {table} {{"));
    text.static_rule("  # Slot to server: a Maglev table, swapped as a whole when a server comes or goes. The first packet of a");
    text.static_rule("  # connection decides; after that the kernel's connection tracking knows it.");
    text.rule_from_key(
        &format!("  map slots {{ typeof numgen inc mod {SLOTS} : {ip} daddr . tcp dport; }}"),
        "servers",
    );
    text.static_rule("  chain prerouting {");
    text.static_rule("    type nat hook prerouting priority dstnat; policy accept;");
    let (hash, ports) = (family.slot(SLOTS), ruleset::ports(service));
    let line = format!("    {ip} daddr {address} tcp dport {ports} counter dnat {ip} to {hash} map @slots");
    text.rule_from_key(&line, "address");
    text.static_rule("  }");
    if nat.masquerade {
        text.static_rule("  # Responses return here only if the servers see the balancer's address.");
        text.static_rule("  chain postrouting {");
        text.static_rule("    type nat hook postrouting priority srcnat; policy accept;");
        text.rule_from_key(
            &format!("    ct status dnat ct original {ip} daddr {address} counter masquerade"),
            "masquerade",
        );
        text.static_rule("  }");
    }
    text.static_rule("}");
    text.finish()
}

/// Returns the lines that assign the slots to the servers by `weights`. Open connections stay on
/// their servers.
pub(super) fn slots(service: &Service, nat: &Nat, weights: &[u32]) -> String {
    let maglev = ruleset::maglev(&nat.servers, weights, SLOTS);
    let element = |(slot, owner): (usize, &u32)| {
        let server = &nat.servers[*owner as usize];
        format!("{slot} : {} . {}", server.address, server.port)
    };
    ruleset::replace_map(&table(service, nat), "slots", maglev.lookup_table().iter().enumerate().map(element))
}
