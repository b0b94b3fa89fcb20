//! [`check`]: whether a service answers, checked from inside its host.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use wavetank_topology::{Host, Probe};

/// Time limit of one try.
const TRY_MAX: Duration = Duration::from_secs(1);
/// Bytes of a response that are read: its first line.
const ANSWER_BYTES_MAX: usize = 1_024;

/// Returns the address at which a host checks its services: its own first address.
pub(super) fn check_address(host: &Host) -> IpAddr {
    let first = host.interfaces.iter().find_map(|interface| interface.addresses.first());
    first.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |(address, _)| *address)
}

/// Returns why the service is not up; `Ok` if it is.
pub(super) fn check(address: IpAddr, probe: &Probe) -> Result<(), String> {
    match probe {
        // The caller checks whether its processes run.
        Probe::None | Probe::Alive => Ok(()),
        Probe::Tcp { port } => connected(address, *port).map(drop),
        Probe::Http { port, path } => {
            let stream = connected(address, *port)?;
            answered(stream, address, path).map_err(|error| format!("GET {path} on port {port}: {error}"))
        }
    }
}

fn connected(address: IpAddr, port: u16) -> Result<TcpStream, String> {
    let place = SocketAddr::new(address, port);
    TcpStream::connect_timeout(&place, TRY_MAX).map_err(|error| format!("connecting to {place}: {error}"))
}

fn answered(mut stream: TcpStream, host: IpAddr, path: &str) -> Result<(), String> {
    let name = if host.is_ipv6() { format!("[{host}]") } else { host.to_string() };
    let asked = format!(
        "GET {path} HTTP/1.1\r\nHost: {name}\r\nUser-Agent: wavetank-lab\r\nConnection: close\r\n\r\n"
    );
    let mut answer = Vec::new();
    let mut exchange = || -> std::io::Result<()> {
        stream.set_read_timeout(Some(TRY_MAX))?;
        stream.set_write_timeout(Some(TRY_MAX))?;
        stream.write_all(asked.as_bytes())?;
        let mut bytes = [0; ANSWER_BYTES_MAX];
        while !answer.contains(&b'\n') && answer.len() < ANSWER_BYTES_MAX {
            match stream.read(&mut bytes)? {
                0 => break,
                count => answer.extend_from_slice(&bytes[..count]),
            }
        }
        Ok(())
    };
    exchange().map_err(|error| error.to_string())?;
    let line = String::from_utf8_lossy(&answer);
    let status = line.split(' ').nth(1).and_then(|word| word.trim().parse::<u16>().ok());
    match status {
        Some(200..=399) => Ok(()),
        Some(other) => Err(format!("status {other}")),
        None => Err("no HTTP".to_owned()),
    }
}

/// Whether every one of `ports` has a listener, by the kernel's own list. A probe would be counted
/// by the server; this is not.
pub(super) fn all_listen(ports: &[u16]) -> bool {
    let lists = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"]
        .map(|path| fs::read_to_string(path).unwrap_or_default());
    let listening: Vec<u16> = lists.iter().flat_map(|list| list.lines().filter_map(listener)).collect();
    ports.iter().all(|port| listening.contains(port))
}

/// Returns the port of a line of `/proc/net/tcp` if it is a listening socket (state 0A, see
/// proc(5)).
fn listener(line: &str) -> Option<u16> {
    let mut words = line.split_whitespace();
    let local = words.nth(1)?;
    let state = words.nth(1)?;
    let (_, port) = local.rsplit_once(':')?;
    (state == "0A").then(|| u16::from_str_radix(port, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Checks the result of a probe against a server that always sends `answer`.
    #[track_caller]
    fn check(answer: &'static str, up: bool) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let place = listener.local_addr().expect("it is bound");
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client connects");
            let mut bytes = [0; 1_024];
            let count = stream.read(&mut bytes).expect("it asks");
            let asked = String::from_utf8_lossy(&bytes[..count]).into_owned();
            stream.write_all(answer.as_bytes()).expect("it listens");
            asked
        });
        let probe = Probe::Http { port: place.port(), path: "/healthz".to_owned() };
        let outcome = super::check(place.ip(), &probe);
        let heard = server.join().expect("no panic");
        assert!(heard.starts_with("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"), "{heard}");
        assert_eq!(outcome.is_ok(), up, "{answer}: {outcome:?}");
    }

    #[test]
    fn statuses_decide() {
        check("HTTP/1.1 200 OK\r\n\r\n", true);
        check("HTTP/1.0 302 Found\r\n\r\n", true);
        check("HTTP/1.1 404 Not Found\r\n\r\n", false);
        check("HTTP/1.1 503\r\n\r\n", false);
        check("SSH-2.0-OpenSSH\r\n", false);
        check("", false);
    }

    #[test]
    fn a_free_port_has_no_listener() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let port = listener.local_addr().expect("it is bound").port();
        assert!(all_listen(&[port]) && all_listen(&[]));
        // Bound and not listening: no other test can take the port meanwhile.
        let bound =
            rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None)
                .expect("a socket");
        rustix::net::bind(&bound, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a port");
        let address = rustix::net::getsockname(&bound).expect("it is bound");
        let port = SocketAddr::try_from(address).expect("an address of IPv4").port();
        assert!(!all_listen(&[port]));
        let refused = super::check(IpAddr::V4(Ipv4Addr::LOCALHOST), &Probe::Tcp { port });
        assert!(refused.is_err_and(|words| words.contains("refused")));
    }

    #[test]
    fn the_kernels_list_is_read() {
        let check = |line: &str, expected| assert_eq!(listener(line), expected, "{line}");
        check("   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000", Some(8_080));
        check("   1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000", None);
        check("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when", None);
    }
}
