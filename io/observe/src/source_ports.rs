//! [`source_ports`]: the ports that connections may use as source.

use std::fs::File;
use std::io::{BufRead, BufReader};

use wavetank_units::Ports;

use crate::{parse, read};

/// The default range of local ports (Linux, `ip_local_port_range`).
const PORT_RANGE_DEFAULT: (u16, u16) = (32_768, 60_999);

/// Returns the first and last port of the kernel's range.
pub(crate) fn port_range() -> (u16, u16) {
    read::text("/proc/sys/net/ipv4/ip_local_port_range")
        .and_then(|text| parse::port_range(&text))
        .unwrap_or(PORT_RANGE_DEFAULT)
}

/// Returns the ports of `range` that we may bind. Reserved ports have another purpose. A port with
/// a listener cannot be bound on any address if the listener uses all addresses. Losing one port on
/// all addresses is cheaper than checking which.
pub(crate) fn source_ports(range: (u16, u16)) -> Ports {
    let reserved = read::text("/proc/sys/net/ipv4/ip_local_reserved_ports")
        .map(|text| parse::number_ranges(&text))
        .unwrap_or_default();
    let listened: Vec<(u16, u16)> = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"]
        .into_iter()
        .flat_map(listened_ports)
        .map(|port| (port, port))
        .collect();
    Ports::range(range.0, range.1).without(&reserved).without(&listened)
}

/// Returns the ports with a listener. The kernel lists listeners first and other sockets after
/// them. With a million connections it would take long to read those as well.
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
    fn a_port_in_use_is_left_out() {
        for place in ["0.0.0.0:0", "127.0.0.3:0"] {
            let listener = TcpListener::bind(place).expect("a free port");
            let port = listener.local_addr().expect("it is bound").port();
            let around = (port.saturating_sub(1), port.saturating_add(1));
            assert!(source_ports(around).iter().all(|free| free != port), "{port} is listened on");
        }
        assert!(source_ports(PORT_RANGE_DEFAULT).count() > 20_000);
    }
}
