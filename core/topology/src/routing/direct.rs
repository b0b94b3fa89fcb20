//! Direct routing as rules of the balancer's ingress hook.

use wavetank_units::Nanos;

use super::family::Family;
use super::ruleset::{self, Ruleset};
use crate::{DirectRouting, Host, Rendered, Service};

/// The name of the map that remembers connections.
pub(super) const FLOWS: &str = "flows";
/// Lifetime of the entry of a connection that the client has closed. The rest of the server's
/// response is acknowledged within this time.
const CLOSING: Nanos = Nanos::from_secs(60);

/// Returns the family and name of the service's table.
pub(super) fn table(service: &Service) -> String {
    format!("netdev {}", ruleset::table_name(service))
}

/// Returns the whole table without the slots. Loading it with `nft -f` replaces a table with the
/// same name.
pub(super) fn rules(service: &Service, direct: &DirectRouting, balancer: &Host, path: String) -> Rendered {
    let mut text = Ruleset::new(path, service);
    let table = table(service);
    text.static_rule("# Removes the table of an earlier start. It is created first, since only an existing one can be deleted.");
    text.static_rule(&format!("table {table} {{ }}"));
    text.static_rule(&format!("delete table {table}"));
    text.static_rule(&format!("table {table} {{"));
    maps(&mut text, direct);
    chains(&mut text, service, direct, balancer);
    text.static_rule("}");
    for (index, server) in direct.servers.iter().enumerate() {
        let line = format!("add element {table} servers {{ {} : {} }}", mark(index), mac(server.mac));
        text.rule_for_server(&line, server.place);
    }
    text.finish()
}

/// Returns the lines that assign the slots to the servers by `weights`. Open connections are not
/// affected.
pub(super) fn slots(service: &Service, direct: &DirectRouting, weights: &[u32]) -> String {
    let maglev = ruleset::maglev(&direct.servers, weights, direct.slots);
    let element = |(slot, owner): (usize, &u32)| format!("{slot} : {}", mark(*owner as usize));
    ruleset::replace_map(&table(service), "slots", maglev.lookup_table().iter().enumerate().map(element))
}

/// Returns a server's number in the maps, in which 0 means none.
fn mark(index: usize) -> usize {
    index + 1
}

fn maps(text: &mut Ruleset<'_>, direct: &DirectRouting) {
    let (slots, flows_max) = (direct.slots, direct.flows_max);
    text.static_rule("  # Slot to server: a Maglev table, swapped as a whole when a server comes or goes.");
    text.rule_from_key(&format!("  map slots {{ typeof numgen inc mod {slots} : meta mark; }}"), "slots");
    text.static_rule("  # Server to hardware address.");
    text.static_rule("  map servers { typeof meta mark : ether daddr; }");
    text.static_rule(
        "  # Connections stay on their servers when slots change. The size limits the kernel's memory.",
    );
    text.static_rule(&format!("  map {FLOWS} {{"));
    text.static_rule(&format!("    typeof {} : meta mark;", Family::from_address(direct.address).key_type()));
    text.static_rule("    flags dynamic,timeout;");
    text.rule_from_key(&format!("    timeout {};", seconds(direct.sticky)), "sticky");
    text.rule_from_key(&format!("    size {flows_max};"), "flows");
    text.static_rule("  }");
}

fn chains(text: &mut Ruleset<'_>, service: &Service, direct: &DirectRouting, balancer: &Host) {
    let family = Family::from_address(direct.address);
    let interface = &balancer.interfaces[direct.interface];
    let device = &interface.name;
    text.static_rule("  chain ingress {");
    text.static_rule(&format!("    type filter hook ingress device \"{device}\" priority 0; policy accept;"));
    text.rule_from_key(
        &format!("    {} goto steer", family.service_match(&ruleset::ports(service))),
        "address",
    );
    text.static_rule(
        "    # ICMP errors about packets of the servers' responses, which are sent from this address.",
    );
    text.rule_from_key(
        &format!("    {} goto icmp_errors", family.icmp_error_match(&service.listen)),
        "address",
    );
    text.static_rule("  }");
    steer(text, family, direct);
    opening(text, family, direct);
    write_icmp_chain(text, family, direct);
    text.static_rule("  chain out {");
    text.static_rule("    # Sent from the balancer's own address: with the client's, the switch would assume that the client had moved here.");
    let set = format!("    ether saddr set {} ether daddr set meta mark map @servers", mac(interface.mac));
    text.rule_from_key(&format!("{set} counter fwd to \"{device}\";"), "servers");
    text.static_rule("  }");
}

/// Writes the chain for packets from clients.
fn steer(text: &mut Ruleset<'_>, family: Family, direct: &DirectRouting) {
    let (flow, sticky) = (family.key(), seconds(direct.sticky));
    let closing = seconds(direct.sticky.min(CLOSING));
    text.static_rule("  chain steer {");
    text.static_rule("    meta mark set 0");
    text.static_rule("    tcp flags syn / fin,syn,rst,ack goto opening");
    text.static_rule(&format!("    meta mark set {flow} map @{FLOWS}"));
    text.static_rule("    # Open but unknown: opened before this balancer started, or forgotten.");
    text.static_rule("    meta mark 0 goto opening");
    text.static_rule(&format!(
        "    tcp flags fin,rst update @{FLOWS} {{ {flow} timeout {closing} : meta mark }} goto out"
    ));
    text.static_rule(
        "    # Pure acknowledgements do not refresh an entry: there are many, and the last one arrives after the end.",
    );
    text.static_rule(&format!("    tcp flags psh update @{FLOWS} {{ {flow} timeout {sticky} : meta mark }}"));
    text.static_rule("    goto out");
    text.static_rule("  }");
}

/// Writes the chain for connections that are new here.
fn opening(text: &mut Ruleset<'_>, family: Family, direct: &DirectRouting) {
    let (flow, sticky) = (family.key(), seconds(direct.sticky));
    text.static_rule("  chain opening {");
    text.static_rule("    # A client may reuse a port while its entry still exists, and an update would keep the old server.");
    text.static_rule(&format!("    delete @{FLOWS} {{ {flow} : meta mark }}"));
    text.rule_from_key(&format!("    meta mark set {} map @slots", family.slot(direct.slots)), "slots");
    text.static_rule("    # No server is left: the balancer's own kernel has the address and refuses.");
    text.static_rule("    meta mark 0 counter accept");
    text.static_rule(&format!("    update @{FLOWS} {{ {flow} timeout {sticky} : meta mark }}"));
    text.static_rule("    goto out");
    text.static_rule("  }");
}

/// Writes the chain for ICMP messages about packets that a server has sent. They arrive at the
/// balancer and are forwarded to that server.
fn write_icmp_chain(text: &mut Ruleset<'_>, family: Family, direct: &DirectRouting) {
    text.static_rule("  chain icmp_errors {");
    text.static_rule("    meta mark set 0");
    text.static_rule(&format!("    meta mark set {} map @{FLOWS}", family.icmp_error_key()));
    let slot = family.icmp_error_slot(direct.slots);
    text.rule_from_key(&format!("    meta mark 0 meta mark set {slot} map @slots"), "slots");
    text.static_rule("    meta mark 0 counter accept");
    text.static_rule("    goto out");
    text.static_rule("  }");
}

fn seconds(time: Nanos) -> String {
    let seconds = u64::try_from(time.0).unwrap_or(0).div_ceil(1_000_000_000);
    format!("{}s", seconds.max(1))
}

fn mac(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}
