//! [`source_ports`]: which ports connections may be made from.

use std::fs::File;
use std::io::{BufRead, BufReader};

use wavetank_plan::Ports;

use crate::{parse, read};

/// Ports a kernel picks from when nobody told it otherwise (Linux, `ip_local_port_range`).
const PORT_RANGE_DEFAULT: (u16, u16) = (32_768, 60_999);

/// First and last port the kernel picks from.
pub(crate) fn port_range() -> (u16, u16) {
    read::text("/proc/sys/net/ipv4/ip_local_port_range")
        .and_then(|text| parse::port_range(&text))
        .unwrap_or(PORT_RANGE_DEFAULT)
}

/// The ports of `range` that we may bind: whoever reserved one wants it, and one that somebody listens on cannot
/// be bound, on every address if he listens on all. One port lost on all addresses is cheaper than asking which.
pub(crate) fn source_ports(range: (u16, u16)) -> Ports {
    let reserved = read::text("/proc/sys/net/ipv4/ip_local_reserved_ports")
        .map(|text| parse::reserved_ports(&text))
        .unwrap_or_default();
    let listened: Vec<(u16, u16)> = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"]
        .into_iter()
        .flat_map(listened_ports)
        .map(|port| (port, port))
        .collect();
    Ports::range(range.0, range.1).without(&reserved).without(&listened)
}

/// Ports somebody listens on. The kernel tells listeners first and everybody else after them; with a million
/// connections it would take long to read those too.
fn listened_ports(file: &str) -> Vec<u16> {
    let Ok(file) = File::open(file) else { return Vec::new() };
    let lines = BufReader::new(file).lines().map_while(Result::ok).skip(1);
    let mut ports: Vec<u16> = lines.map_while(|line| parse::listened_port(&line)).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_port_somebody_listens_on_is_left_out() {
        for place in ["0.0.0.0:0", "127.0.0.3:0"] {
            let listener = TcpListener::bind(place).expect("a free port");
            let port = listener.local_addr().expect("it is bound").port();
            let around = (port.saturating_sub(1), port.saturating_add(1));
            assert!(source_ports(around).iter().all(|free| free != port), "{port} is listened on");
        }
        assert!(source_ports(PORT_RANGE_DEFAULT).count() > 20_000);
    }
}
