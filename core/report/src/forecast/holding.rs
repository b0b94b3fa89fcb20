//! The cost of held connections as text.

use wavetank_record::HoldingDoc;
use wavetank_units::quantity::show_size;
use wavetank_units::quantity::{format_grouped, show_rate, show_request_rate};

use super::format::clock;
use crate::text_layout::TextLayout;

/// Source addresses, pace, threads, memory, and the next limit.
pub(super) fn holding(page: &mut TextLayout, doc: &HoldingDoc) {
    page.line("");
    let mut first = vec![format!("{} connections", format_grouped(doc.connections))];
    if doc.opening_s.0 > 0.0 {
        let pace =
            doc.opened_per_s_max.map_or_else(String::new, |pace| format!(" at up to {}", show_rate(pace.0)));
        first.push(format!("opened in {}{pace}", clock(doc.opening_s)));
    }
    first.push(match doc.requests_per_s_max {
        Some(none) if none.0 <= 0.0 => "silent".to_owned(),
        Some(pace) => format!("up to {} on them", show_request_rate(pace.0)),
        None => "sequential requests on each".to_owned(),
    });
    page.parts("holding", &first);
    let on = match doc.rings {
        0 => format!("on {} load threads with epoll", doc.threads),
        rings => {
            format!("on {} load threads with up to {} rings of io_uring", doc.threads, format_grouped(rings))
        }
    };
    let from = match (doc.source_addresses, doc.ports_each) {
        (Some(addresses), Some(ports)) => {
            format!(
                "from {} source addresses, up to {} ports of each",
                format_grouped(addresses),
                format_grouped(ports)
            )
        }
        _ => "from the address and ports that the kernel chooses".to_owned(),
    };
    page.parts("", &[from, on]);
    let memory = doc.memory.iter().map(|part| {
        let name = match part.part.as_str() {
            "client_kernel" => "kernel on this side",
            "client" => "wavetank",
            "target_kernel" => "kernel on the target's side",
            "target" => "the target, if it is wavetank",
            _ => "requests in flight",
        };
        format!("{name} {} ({} B each)", show_size(part.bytes), format_grouped(part.each_bytes))
    });
    page.parts("", &memory.collect::<Vec<_>>());
    let limit = match doc.next_limit.as_str() {
        "connections" => "files",
        "source_ports" => "pairs of address and port",
        "tracking" => "the firewall's table",
        other => other,
    };
    page.sentence(
        "",
        &format!("the first limit is {limit}, at {} connections", format_grouped(doc.next_limit_connections)),
    );
}
