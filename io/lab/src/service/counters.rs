//! Counters of the services' programs: `HAProxy`'s statistics socket, nginx's `stub_status`.
//!
//! They are read before and after a run and compared with the run's own counts. Therefore they must
//! not include the reading itself.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpStream};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wavetank_topology::render::{HAPROXY_SOCKET, NGINX_SOCKET, NGINX_STATUS_PATH};

use super::haproxy_statistics::HaproxyStatistics;
use super::status_socket::{ANSWER_BYTES_MAX, ANSWER_MAX, query_socket};

/// Where a service reports its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CounterSource {
    /// A socket in the folder of each copy, for a generated configuration.
    Socket(&'static str),
    /// A user's own `HAProxy`: the first of its sockets and pages, and the names of the frontends
    /// that the load goes to.
    OwnHaproxy { place: OwnPlace, fronts: Vec<String> },
    /// The status page of a user's own nginx.
    OwnNginx(OwnPlace),
}

/// Where a user's own program reports its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OwnPlace {
    /// A socket for commands.
    Socket(PathBuf),
    /// A page: a socket or a port, the value of the Host field, and its path. The flag is set if
    /// readings count as requests of the load's own frontend.
    Page { at: PageAddress, host: String, path: String, counts_itself: bool },
}

/// The address of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PageAddress {
    Socket(PathBuf),
    Port(IpAddr, u16),
}

/// Returns the counters of a `HAProxy`, summed over its copies. `folders` are those of the copies.
pub(super) fn haproxy_counters<'a>(folders: impl Iterator<Item = &'a Path>) -> Result<Value, String> {
    let mut all = HaproxyStatistics::of(vec!["in".to_owned()], Some("servers"));
    for folder in folders {
        let said = query_socket(folder, HAPROXY_SOCKET, "show stat\n")?;
        all.add(&said).ok_or("its statistics cannot be read")?;
    }
    Ok(all.value())
}

/// Returns the counters of a user's own `HAProxy`. `readings` is the number of earlier readings.
pub(super) fn own_haproxy_counters(
    place: &OwnPlace,
    fronts: &[String],
    readings: &mut u64,
) -> Result<Value, String> {
    let said = place.read("show stat\n", ";csv")?;
    *readings += 1;
    let own = if place.counts_itself() { *readings } else { 0 };
    let mut all = HaproxyStatistics::of(fronts.to_vec(), None);
    all.add(&said).ok_or("its statistics cannot be read")?;
    if let OwnPlace::Socket(socket) = place {
        all.add_info(&query_path(socket, "show info\n")?);
    }
    all.connections = all.connections.saturating_sub(own);
    all.requests = all.requests.map(|requests| requests.saturating_sub(own));
    Ok(all.value())
}

/// Returns the counters of a user's own nginx.
pub(super) fn own_nginx_counters(place: &OwnPlace, readings: &mut u64) -> Result<Value, String> {
    *readings += 1;
    let read = nginx_read(&place.read("", "")?).ok_or("its statistics cannot be read")?;
    let own = *readings;
    let [accepted, handled, requests, open] = read;
    let less = |count: u64, own: u64| count.saturating_sub(own);
    Ok(nginx_value([less(accepted, own), less(handled, own), less(requests, own), less(open, 1)]))
}

impl OwnPlace {
    /// Returns the answer to `command` on a socket, or the page with `suffix` at its path.
    fn read(&self, command: &str, suffix: &str) -> Result<String, String> {
        let Self::Page { at, host, path, .. } = self else {
            let Self::Socket(socket) = self else { unreachable!("there are two kinds") };
            return query_path(socket, command);
        };
        let asked = format!("GET {path}{suffix} HTTP/1.0\r\nHost: {host}\r\n\r\n");
        let answer = match at {
            PageAddress::Socket(socket) => query_path(socket, &asked)?,
            PageAddress::Port(address, port) => query_port((*address, *port), &asked)?,
        };
        content(&answer).ok_or_else(|| "its page has no content".to_owned())
    }

    const fn counts_itself(&self) -> bool {
        matches!(self, Self::Page { counts_itself: true, .. })
    }
}

/// Returns the body of an HTTP answer. `HAProxy` sends chunks even to HTTP/1.0.
fn content(answer: &str) -> Option<String> {
    let (head, mut body) = answer.split_once("\r\n\r\n")?;
    if !head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        return Some(body.to_owned());
    }
    let mut all = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(all);
        }
        all.push_str(rest.get(..size)?);
        body = rest.get(size..)?.strip_prefix("\r\n")?;
    }
    None
}

/// Sends `asked` to a socket with an absolute path and returns the answer.
fn query_path(socket: &Path, asked: &str) -> Result<String, String> {
    let name = socket.file_name().and_then(|name| name.to_str()).ok_or("its socket has no name")?;
    query_socket(socket.parent().unwrap_or(Path::new("/")), name, asked)
}

/// Sends `asked` to a port of the host and returns the answer.
fn query_port(place: (IpAddr, u16), asked: &str) -> Result<String, String> {
    let exchange = || -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect_timeout(&place.into(), ANSWER_MAX)?;
        stream.set_read_timeout(Some(ANSWER_MAX))?;
        stream.set_write_timeout(Some(ANSWER_MAX))?;
        stream.write_all(asked.as_bytes())?;
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
        Ok(answer)
    };
    let answer = exchange().map_err(|error| format!("port {}: {error}", place.1))?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Returns the counters of an nginx, summed over all copies. `copies` has the folder of each, and
/// the number of earlier readings, which this one increments.
pub(super) fn nginx_counters<'a>(
    copies: impl Iterator<Item = (&'a Path, &'a mut u64)>,
) -> Result<Value, String> {
    let mut all = [0; 4];
    for (folder, readings) in copies {
        *readings += 1;
        let asked = format!("GET {NGINX_STATUS_PATH} HTTP/1.0\r\nHost: lab\r\n\r\n");
        let said = query_socket(folder, NGINX_SOCKET, &asked)?;
        let read = nginx_read(&said).ok_or("its statistics cannot be read")?;
        // This reading and those before it were connections with a request each; this one is still
        // open.
        let own = *readings;
        let taken_off = [own, own, own, 1];
        for ((sum, count), own) in all.iter_mut().zip(read).zip(taken_off) {
            *sum += count.saturating_sub(own);
        }
    }
    Ok(nginx_value(all))
}

fn nginx_value([accepted, handled, requests, open]: [u64; 4]) -> Value {
    json!({
        "program": "nginx", "connections": accepted, "dropped": accepted.saturating_sub(handled),
        "requests": requests, "open": open,
    })
}

/// Returns accepted, handled, requests, open.
fn nginx_read(said: &str) -> Option<[u64; 4]> {
    let open = said.split("Active connections:").nth(1)?.split_whitespace().next()?.parse().ok()?;
    let line = said.split("server accepts handled requests").nth(1)?;
    let mut numbers = line.split_whitespace().map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    Some([next()?, next()?, next()?, open])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_with_and_without_chunks() {
        let check = |answer: &str, expected: Option<&str>| {
            assert_eq!(content(answer).as_deref(), expected, "{answer}");
        };
        check("HTTP/1.1 200 OK\r\nA: b\r\n\r\nabc", Some("abc"));
        check(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n",
            Some("abcd"),
        );
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc\r\n", None);
        check("no answer", None);
    }

    #[test]
    fn nginx_is_read_as_it_writes() {
        let said = "HTTP/1.1 200 OK\r\n\r\nActive connections: 3 \nserver accepts handled requests\n 14 13 40 \n\
                    Reading: 0 Writing: 1 Waiting: 0 \n";
        assert_eq!(nginx_read(said), Some([14, 13, 40, 3]));
        assert_eq!(nginx_read("HTTP/1.1 404 Not Found\r\n\r\n"), None);
    }
}
