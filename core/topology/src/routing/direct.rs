//! Direct routing as rules of the balancer's ingress hook.

use wavetank_plan::Nanos;

use super::family::Family;
use super::ruleset::{self, Ruleset};
use crate::{DirectRouting, Host, Rendered, Service};

/// The name of the map that remembers connections.
pub(super) const FLOWS: &str = "flows";
/// A connection that a client has ended is remembered for this long, for the rest of the server's answer to be acknowledged.
const CLOSING: Nanos = Nanos::from_secs(60);

/// The family and name of the service's table.
pub(super) fn table(service: &Service) -> String {
    format!("netdev {}", ruleset::table_name(service))
}

/// The whole table, without the slots. `nft -f` of it replaces a table of that name.
pub(super) fn rules(service: &Service, direct: &DirectRouting, balancer: &Host, path: String) -> Rendered {
    let mut text = Ruleset::new(path, service);
    let table = table(service);
    text.own("# What may be there from an earlier start is taken away: deleting wants it to exist.");
    text.own(&format!("table {table} {{ }}"));
    text.own(&format!("delete table {table}"));
    text.own(&format!("table {table} {{"));
    maps(&mut text, direct);
    chains(&mut text, service, direct, balancer);
    text.own("}");
    for (index, server) in direct.servers.iter().enumerate() {
        let line = format!("add element {table} servers {{ {} : {} }}", mark(index), mac(server.mac));
        text.of_place(&line, server.place);
    }
    text.finish()
}

/// Lines that give the slots to the servers by `weights`. No connection under way notices.
pub(super) fn slots(service: &Service, direct: &DirectRouting, weights: &[u32]) -> String {
    let maglev = ruleset::maglev(&direct.servers, weights, direct.slots);
    let element = |(slot, owner): (usize, &u32)| format!("{slot} : {}", mark(*owner as usize));
    ruleset::swapped(&table(service), "slots", maglev.owners().iter().enumerate().map(element))
}

/// A server's number in the maps. 0 stands for none.
fn mark(index: usize) -> usize {
    index + 1
}

fn maps(text: &mut Ruleset<'_>, direct: &DirectRouting) {
    let (slots, flows_max) = (direct.slots, direct.flows_max);
    text.own("  # Slot to server: a Maglev table, swapped as a whole when a server comes or goes.");
    text.of_key(&format!("  map slots {{ typeof numgen inc mod {slots} : meta mark; }}"), "slots");
    text.own("  # Server to hardware address.");
    text.own("  map servers { typeof meta mark : ether daddr; }");
    text.own("  # Connections stay where they are, whatever becomes of the slots. The size bounds the kernel's memory.");
    text.own(&format!("  map {FLOWS} {{"));
    text.own(&format!("    typeof {} : meta mark;", Family::of(direct.address).key_type()));
    text.own("    flags dynamic,timeout;");
    text.of_key(&format!("    timeout {};", seconds(direct.sticky)), "sticky");
    text.of_key(&format!("    size {flows_max};"), "flows");
    text.own("  }");
}

fn chains(text: &mut Ruleset<'_>, service: &Service, direct: &DirectRouting, balancer: &Host) {
    let family = Family::of(direct.address);
    let interface = &balancer.interfaces[direct.interface];
    let device = &interface.name;
    text.own("  chain ingress {");
    text.own(&format!("    type filter hook ingress device \"{device}\" priority 0; policy accept;"));
    text.of_key(&format!("    {} goto steer", family.ours(&ruleset::ports(service))), "address");
    text.own(
        "    # What routers say about packets of the servers' answers, which are sent from this address.",
    );
    text.of_key(&format!("    {} goto told", family.told(&service.listen)), "address");
    text.own("  }");
    steer(text, family, direct);
    opening(text, family, direct);
    told(text, family, direct);
    text.own("  chain out {");
    text.own("    # From our own address: with the client's the switch would believe that the client had moved here.");
    let set = format!("    ether saddr set {} ether daddr set meta mark map @servers", mac(interface.mac));
    text.of_key(&format!("{set} counter fwd to \"{device}\";"), "servers");
    text.own("  }");
}

/// A packet from a client.
fn steer(text: &mut Ruleset<'_>, family: Family, direct: &DirectRouting) {
    let (flow, sticky) = (family.key(), seconds(direct.sticky));
    let closing = seconds(direct.sticky.min(CLOSING));
    text.own("  chain steer {");
    text.own("    meta mark set 0");
    text.own("    tcp flags syn / fin,syn,rst,ack goto opening");
    text.own(&format!("    meta mark set {flow} map @{FLOWS}"));
    text.own("    # Under way and unknown: opened before this balancer was there, or forgotten.");
    text.own("    meta mark 0 goto opening");
    text.own(&format!(
        "    tcp flags fin,rst update @{FLOWS} {{ {flow} timeout {closing} : meta mark }} goto out"
    ));
    text.own(
        "    # Acknowledgements alone refresh nothing: there are many, and the last one comes after the end.",
    );
    text.own(&format!("    tcp flags psh update @{FLOWS} {{ {flow} timeout {sticky} : meta mark }}"));
    text.own("    goto out");
    text.own("  }");
}

/// A connection that is new here.
fn opening(text: &mut Ruleset<'_>, family: Family, direct: &DirectRouting) {
    let (flow, sticky) = (family.key(), seconds(direct.sticky));
    text.own("  chain opening {");
    text.own("    # A client's port comes round again while it is still remembered, and updating leaves the server as it was.");
    text.own(&format!("    delete @{FLOWS} {{ {flow} : meta mark }}"));
    text.of_key(&format!("    meta mark set {} map @slots", family.slot(direct.slots)), "slots");
    text.own("    # No server is left: our own kernel has the address, and refuses.");
    text.own("    meta mark 0 counter accept");
    text.own(&format!("    update @{FLOWS} {{ {flow} timeout {sticky} : meta mark }}"));
    text.own("    goto out");
    text.own("  }");
}

/// A message about a packet that a server sent, for which it stands to hear that.
fn told(text: &mut Ruleset<'_>, family: Family, direct: &DirectRouting) {
    text.own("  chain told {");
    text.own("    meta mark set 0");
    text.own(&format!("    meta mark set {} map @{FLOWS}", family.told_key()));
    let slot = family.told_slot(direct.slots);
    text.of_key(&format!("    meta mark 0 meta mark set {slot} map @slots"), "slots");
    text.own("    meta mark 0 counter accept");
    text.own("    goto out");
    text.own("  }");
}

fn seconds(time: Nanos) -> String {
    let seconds = u64::try_from(time.0).unwrap_or(0).div_ceil(1_000_000_000);
    format!("{}s", seconds.max(1))
}

fn mac(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}
