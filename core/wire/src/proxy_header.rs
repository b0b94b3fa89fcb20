//! The PROXY protocol's header: a load balancer's description of its client, ahead of all else on a
//! connection.
//!
//! The format is that of `HAProxy`'s `proxy-protocol.txt`, versions 1 and 2, TCP over IPv4 and
//! IPv6. A header written here always describes a real connection, so the forms for unknown
//! connections (`UNKNOWN`, `LOCAL`) are not needed.

use std::fmt::Write;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Bytes of the longest possible header (version 1, IPv6), including its line end.
pub const PROXY_HEADER_BYTES_MAX: usize = 107;

/// The start of a version 2 header (§2.2). A text protocol cannot take it for a request.
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
/// Version 2, with the command `PROXY`: the connection was relayed for a client.
const VERSION_2_PROXY: u8 = 0x21;
const TCP_OVER_IPV4: u8 = 0x11;
const TCP_OVER_IPV6: u8 = 0x21;

/// Appends the line of version 1 to `out`: `PROXY TCP4 192.0.2.1 192.0.2.2 56324 443` and CRLF
/// (§2.1).
pub fn proxy_header_v1(out: &mut Vec<u8>, source: SocketAddr, destination: SocketAddr) {
    let [from, to] = of_one_family(source.ip(), destination.ip());
    let family = if from.is_ipv4() { "TCP4" } else { "TCP6" };
    let (from, to) = (address_text(from), address_text(to));
    let line = format!("PROXY {family} {from} {to} {} {}\r\n", source.port(), destination.port());
    out.extend_from_slice(line.as_bytes());
}

/// Appends the binary header of version 2 to `out`: 28 bytes for IPv4, 52 for IPv6 (§2.2).
pub fn proxy_header_v2(out: &mut Vec<u8>, source: SocketAddr, destination: SocketAddr) {
    let both = of_one_family(source.ip(), destination.ip());
    out.extend_from_slice(&SIGNATURE);
    // The length of both addresses, each followed by a port of two bytes.
    let (family, length) = if both[0].is_ipv4() { (TCP_OVER_IPV4, 12_u16) } else { (TCP_OVER_IPV6, 36) };
    out.extend_from_slice(&[VERSION_2_PROXY, family]);
    out.extend_from_slice(&length.to_be_bytes());
    for ip in both {
        match ip {
            IpAddr::V4(v4) => out.extend_from_slice(&v4.octets()),
            IpAddr::V6(v6) => out.extend_from_slice(&v6.octets()),
        }
    }
    for port in [source.port(), destination.port()] {
        out.extend_from_slice(&port.to_be_bytes());
    }
}

/// Returns both addresses in one family. An IPv4-mapped IPv6 address becomes IPv4, unless the other
/// address is real IPv6.
fn of_one_family(source: IpAddr, destination: IpAddr) -> [IpAddr; 2] {
    let both = [source.to_canonical(), destination.to_canonical()];
    if both[0].is_ipv4() == both[1].is_ipv4() {
        return both;
    }
    both.map(|ip| match ip {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().into(),
        v6 @ IpAddr::V6(_) => v6,
    })
}

/// Formats an address for version 1, which does not allow the mixed notation of RFC 4291 §2.2.
fn address_text(ip: IpAddr) -> String {
    match ip {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => groups(v6),
        ip => ip.to_string(),
    }
}

fn groups(v6: Ipv6Addr) -> String {
    let mut text = String::new();
    for (place, group) in v6.segments().into_iter().enumerate() {
        let between = if place == 0 { "" } else { ":" };
        write!(text, "{between}{group:x}").expect("a string takes all text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, destination: &str, v1: &str, v2: &[u8]) {
        let address = |text: &str| -> SocketAddr { text.parse().expect("an address and a port") };
        let (source, destination) = (address(source), address(destination));
        let (mut line, mut binary) = (b"before ".to_vec(), b"before ".to_vec());
        proxy_header_v1(&mut line, source, destination);
        proxy_header_v2(&mut binary, source, destination);
        assert_eq!(String::from_utf8_lossy(&line[7..]), v1, "version 1 of {source} to {destination}");
        assert_eq!(
            &binary[..23],
            b"before \r\n\r\n\0\r\nQUIT\n\x21".iter().chain(&v2[..3]).copied().collect::<Vec<_>>()
        );
        assert_eq!(&binary[23..], &v2[3..], "version 2 of {source} to {destination}");
        assert!(line.len() - 7 <= PROXY_HEADER_BYTES_MAX && binary.len() - 7 <= PROXY_HEADER_BYTES_MAX);
    }

    #[test]
    fn the_examples_of_its_description() {
        // The example of §2.1, and its worst cases of 56 and 104 bytes with CRLF.
        check(
            "192.168.0.1:56324",
            "192.168.0.11:443",
            "PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n",
            b"\x11\x00\x0c\xc0\xa8\x00\x01\xc0\xa8\x00\x0b\xdc\x04\x01\xbb",
        );
        check(
            "255.255.255.255:65535",
            "255.255.255.255:65535",
            "PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n",
            b"\x11\x00\x0c\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        );
        let ones = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
        let mut binary = b"\x21\x00\x24".to_vec();
        binary.extend([0xff; 36]);
        let line = format!("PROXY TCP6 {ones} {ones} 65535 65535\r\n");
        check(&format!("[{ones}]:65535"), &format!("[{ones}]:65535"), &line, &binary);
    }

    #[test]
    fn families_are_one() {
        let v6 = b"\x21\x00\x24\
            \x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\
            \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\
            \x00\x50\x1f\x90";
        check("[2001:db8::1]:80", "[::1]:8080", "PROXY TCP6 2001:db8::1 ::1 80 8080\r\n", v6);
        let v4 = b"\x11\x00\x0c\x7f\0\0\x01\x7f\0\0\x02\0\x01\0\x02";
        let line = "PROXY TCP4 127.0.0.1 127.0.0.2 1 2\r\n";
        check("[::ffff:127.0.0.1]:1", "127.0.0.2:2", line, v4);
        check("127.0.0.1:1", "[::ffff:127.0.0.2]:2", line, v4);
        let mixed = b"\x21\x00\x24\
            \0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\x01\
            \x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\
            \0\x01\0\x02";
        check(
            "127.0.0.1:1",
            "[2001:db8::1]:2",
            "PROXY TCP6 0:0:0:0:0:ffff:7f00:1 2001:db8::1 1 2\r\n",
            mixed,
        );
    }
}
