//! [`net_text`]: measurements of a network for people.

use std::fmt::Write as _;

use wavetank_record::{
    ConnectDoc, ManyToOneDoc, MtuDoc, NetDoc, NetFindingDoc, NetPairDoc, Number, RequestResponseDoc,
    SizesDoc, TcpThroughputDoc, UdpDoc,
};
use wavetank_units::quantity::{format_grouped, show_link, show_rate, show_share, show_size};
use wavetank_units::sanitize_lines;

use super::matrix::Matrix;
use crate::format;
use crate::text_layout::{pad, pad_left, width};

/// A block for each pair, a matrix if there are several, and what is wrong.
pub fn net_text(doc: &NetDoc) -> String {
    let mut text = String::new();
    for pair in &doc.pairs {
        text.push_str(&pair_text(pair));
        text.push('\n');
    }
    if let Some(matrix) = Matrix::new(doc) {
        text.push_str(&matrix_text(&matrix));
        text.push('\n');
    }
    if let Some(many) = &doc.many_to_one {
        text.push_str(&many_text(many));
        text.push('\n');
    }
    text.push_str(&findings_text(&doc.findings));
    for note in &doc.notes {
        line(&mut text, "note", note);
    }
    // Names and messages of errors come from outside.
    sanitize_lines(&text).into_owned()
}

fn line(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "{name:<10} {value}");
}

fn pair_text(pair: &NetPairDoc) -> String {
    let mut text = String::new();
    let is_shown = pair.address.is_empty() || pair.address == pair.to;
    let address = if is_shown { String::new() } else { format!(" ({})", pair.address) };
    line(&mut text, "pair", &format!("{} → {}{address}", pair.from, pair.to));
    for link in pair.links.iter().filter_map(|link| Some((link, link.bits_per_s?))) {
        let (link, speed) = link;
        line(&mut text, "link", &format!("{} {} {}", link.host, link.interface, show_link(speed.0)));
    }
    for streams in stream_counts(&pair.tcp) {
        line(&mut text, "tcp", &tcp_text(&pair.tcp, streams));
    }
    if let Some(rr) = &pair.rr {
        line(&mut text, "round trip", &round_trip_text(rr));
    }
    if let Some(connect) = &pair.connect {
        line(&mut text, "connect", &connect_text(connect));
    }
    if let Some(sizes) = &pair.sizes {
        line(&mut text, "sizes", &sizes_text(sizes));
    }
    for mode in ["rate", "packets"] {
        let flows: Vec<&UdpDoc> = pair.udp.iter().filter(|udp| udp.mode == mode).collect();
        if let Some(first) = flows.first() {
            line(&mut text, "udp", &udp_text(first, &flows));
        }
    }
    if let Some(mtu) = &pair.mtu {
        line(&mut text, "mtu", &mtu_text(mtu));
    }
    for failure in &pair.failures {
        line(&mut text, "failed", &format!("{} [{}]", failure.message, failure.code));
        line(&mut text, "", &failure.hint);
    }
    text
}

fn stream_counts(tcp: &[TcpThroughputDoc]) -> Vec<u32> {
    let mut counts: Vec<u32> = tcp.iter().map(|one| one.streams).collect();
    counts.dedup();
    counts
}

/// An arrow for a direction, seen from the client.
fn arrow(direction: &str) -> char {
    if direction == "forward" { '→' } else { '←' }
}

fn tcp_text(tcp: &[TcpThroughputDoc], streams: u32) -> String {
    let of = |both: bool| {
        let own = tcp.iter().filter(|one| one.streams == streams && one.both == both);
        let values = own.map(|one| format!("{} {}", arrow(&one.direction), show_link(one.bits_per_s.0)));
        values.collect::<Vec<_>>().join("  ")
    };
    let plural = if streams == 1 { "stream" } else { "streams" };
    let both = of(true);
    let both = if both.is_empty() { both } else { format!("  together {both}") };
    let again: u64 = tcp.iter().filter(|one| one.streams == streams).filter_map(|one| one.retransmits).sum();
    let again =
        if again > 0 { format!("  {} segments sent again", format_grouped(again)) } else { String::new() };
    format!("{streams} {plural}  {}{both}{again}", of(false))
}

fn round_trip_text(rr: &RequestResponseDoc) -> String {
    let times = &rr.round_trip_us;
    format!(
        "p50 {}  p99 {}  p99.9 {}  {} of one connection",
        format::time(times.p50),
        format::time(times.p99),
        format::time(times.p999),
        show_rate(rr.per_s.0)
    )
}

fn connect_text(connect: &ConnectDoc) -> String {
    let times = &connect.connect_us;
    let failed = match connect.failed {
        0 => String::new(),
        failed => format!("  {} failed", format_grouped(failed)),
    };
    format!(
        "{} by {} threads  p50 {}  p99 {}{failed}",
        show_rate(connect.per_s.0),
        connect.threads,
        format::time(times.p50),
        format::time(times.p99)
    )
}

fn sizes_text(sizes: &SizesDoc) -> String {
    let Some((first, last)) = sizes.points.first().zip(sizes.points.last()) else { return String::new() };
    let half = sizes.half_bytes.map(|half| format!("  half of it at {}", show_size(half.0 as u64)));
    format!(
        "{} takes {} one way  up to {}: {}{}",
        show_size(first.bytes),
        format::time(first.latency_us),
        show_size(last.bytes),
        show_link(sizes.max_bits_per_s.0),
        half.unwrap_or_default()
    )
}

fn udp_text(first: &UdpDoc, flows: &[&UdpDoc]) -> String {
    let head = match first.target_bits_per_s {
        Some(target) => format!("{} of {} B", show_link(target.0), first.bytes),
        None => format!("{} B as fast as possible", first.bytes),
    };
    let flow = |udp: &&UdpDoc| {
        let loss = show_share(udp.loss.0);
        let again = match (udp.reordered, udp.duplicates) {
            (0, 0) => String::new(),
            (reordered, duplicates) => format!(" {reordered} reordered {duplicates} twice"),
        };
        if udp.target_bits_per_s.is_some() {
            let jitter = format::time(udp.jitter_us);
            return format!("{} loss {loss} jitter {jitter}{again}", arrow(&udp.direction));
        }
        let (sent, received) = (show_rate(udp.sent_per_s.0), show_rate(udp.received_per_s.0));
        format!("{} {sent} sent {received} received loss {loss}{again}", arrow(&udp.direction))
    };
    let flows = flows.iter().map(flow).collect::<Vec<_>>().join("  ");
    format!("{head}  {flows}")
}

fn mtu_text(mtu: &MtuDoc) -> String {
    let size = |size: Option<u32>| size.map_or_else(|| "unknown".to_owned(), |size| size.to_string());
    let hole = if mtu.black_holes.is_empty() { "" } else { "  black hole: larger packets vanish silently" };
    format!("→ {}  ← {}{hole}", size(mtu.forward), size(mtu.reverse))
}

fn matrix_text(matrix: &Matrix<'_>) -> String {
    let cell = |value: Option<f64>| value.map_or_else(|| "·".to_owned(), show_link);
    let shown: Vec<Vec<String>> =
        matrix.rows.iter().map(|row| row.iter().map(|value| cell(*value)).collect()).collect();
    let first = matrix.hosts.iter().map(|host| width(host)).max().unwrap_or_default().max(9);
    let column = |at: usize| {
        let cells = shown.iter().map(|row| width(&row[at]));
        cells.chain([width(matrix.hosts[at])]).max().unwrap_or_default()
    };
    let row = |head: &str, cells: Vec<&str>| {
        let cells = cells.iter().enumerate().map(|(at, cell)| pad_left(cell, column(at)));
        format!("{}  {}\n", pad(head, first), cells.collect::<Vec<_>>().join("  "))
    };
    let mut text = row("from ↓ to", matrix.hosts.clone());
    for (host, cells) in matrix.hosts.iter().zip(&shown) {
        text.push_str(&row(host, cells.iter().map(String::as_str).collect()));
    }
    text
}

fn many_text(many: &ManyToOneDoc) -> String {
    let mut text = String::new();
    let head = format!(
        "{} hosts → {}  {} together  best by itself {}",
        many.senders.len(),
        many.to,
        show_link(many.bits_per_s.0),
        show_link(many.best_alone_bits_per_s.0)
    );
    line(&mut text, "many to 1", &head);
    let rate = |value: Option<Number>| value.map_or_else(|| "unknown".to_owned(), |value| show_link(value.0));
    for sender in &many.senders {
        let failure = if sender.failure.is_empty() { String::new() } else { format!("  {}", sender.failure) };
        let (alone, together) = (rate(sender.alone_bits_per_s), rate(sender.together_bits_per_s));
        line(&mut text, "", &format!("{}  {alone} by itself  {together} together{failure}", sender.from));
    }
    text
}

fn findings_text(findings: &[NetFindingDoc]) -> String {
    let mut text = String::new();
    for finding in findings {
        line(&mut text, "finding", &format!("{} [{}]", finding.message, finding.code));
        line(&mut text, "", &finding.hint);
    }
    text
}
