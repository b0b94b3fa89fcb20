//! Counters of the services' programs: `HAProxy`'s statistics socket, nginx's `stub_status`.
//!
//! They are read before and after a run and compared with the run's own counts. Therefore they must
//! not include the reading itself.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpStream};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use wavetank_topology::render::{HAPROXY_SOCKET, NGINX_SOCKET, NGINX_STATUS_PATH};

use super::status_socket::{ANSWER_BYTES_MAX, ANSWER_MAX, query_socket};

/// Status classes that `HAProxy` counts.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

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
    let mut all = Haproxy { fronts: vec!["in".to_owned()], backend: Some("servers"), ..Haproxy::default() };
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
    let mut all = Haproxy { fronts: fronts.to_vec(), ..Haproxy::default() };
    all.add(&said).ok_or("its statistics cannot be read")?;
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

/// Sums over copies.
#[derive(Debug, Default)]
struct Haproxy {
    /// The frontends that count.
    fronts: Vec<String>,
    /// The backend that counts; `None`: all of them.
    backend: Option<&'static str>,
    connections: u64,
    /// `None` in mode tcp, which does not count requests.
    requests: Option<u64>,
    /// Requests that ended before they were complete. `HAProxy` counts a connection that is closed
    /// without any as one.
    incomplete: u64,
    classes: [u64; 5],
    /// Of the fullest frontend: the most connections that were open together, and its limit.
    fullest: Option<(u64, u64)>,
    open: u64,
    bytes_in: u64,
    bytes_out: u64,
    denied: u64,
    connect_failed: u64,
    /// Responses of servers that were broken or did not come in time.
    response_failed: u64,
    /// The most requests that waited for a server together, since it started.
    queue_max: u64,
    /// Name, connections, whether it is up, in the order of the first copy.
    servers: Vec<(String, u64, bool)>,
}

impl Haproxy {
    /// Adds one copy's `show stat`: a line of names after `# `, then lines of values
    /// (management.txt, 9.1).
    fn add(&mut self, said: &str) -> Option<()> {
        let mut lines = said.lines();
        let names: Vec<&str> = lines.next()?.strip_prefix("# ")?.split(',').collect();
        let column = |name: &str| names.iter().position(|one| *one == name);
        let (proxy, place) = (column("pxname")?, column("svname")?);
        let mut seen = false;
        for line in lines.filter(|line| !line.is_empty()) {
            let values: Vec<&str> = line.split(',').collect();
            let text =
                |name: &str| column(name).and_then(|index| values.get(index)).copied().unwrap_or_default();
            let number = |name: &str| text(name).parse::<u64>().ok();
            match (*values.get(proxy)?, *values.get(place)?) {
                (front, "FRONTEND") if self.fronts.iter().any(|own| own == front) => {
                    seen = true;
                    // In versions without `conn_tot`, `stot` of a frontend has the same count.
                    self.connections += number("conn_tot").or_else(|| number("stot"))?;
                    self.open += number("scur")?;
                    self.note_peak(number("smax").zip(number("slim")));
                    self.bytes_in += number("bin")?;
                    self.bytes_out += number("bout")?;
                    self.denied += number("dreq").unwrap_or_default() + number("ereq").unwrap_or_default();
                    if let Some(requests) = number("req_tot").filter(|_| text("mode") != "tcp") {
                        *self.requests.get_or_insert(0) += requests;
                        self.incomplete += number("ereq").unwrap_or_default();
                        for (sum, class) in self.classes.iter_mut().zip(CLASSES) {
                            *sum += number(&format!("hrsp_{class}")).unwrap_or_default();
                        }
                    }
                }
                (_, "FRONTEND") => {}
                (backend, _) if self.backend.is_some_and(|own| own != backend) => {}
                (_, "BACKEND") => {
                    self.connect_failed += number("econ").unwrap_or_default();
                    self.response_failed += number("eresp").unwrap_or_default();
                    self.queue_max = self.queue_max.max(number("qmax").unwrap_or_default());
                }
                (backend, name) => {
                    let name =
                        if self.backend.is_some() { name.to_owned() } else { format!("{backend}/{name}") };
                    self.add_server(
                        &name,
                        number("stot").unwrap_or_default(),
                        text("status").starts_with("UP"),
                    );
                }
            }
        }
        seen.then_some(())
    }

    /// Keeps the frontend with the fewest connections left.
    fn note_peak(&mut self, one: Option<(u64, u64)>) {
        let left = |(peak, limit): (u64, u64)| limit.saturating_sub(peak);
        self.fullest = match (self.fullest, one) {
            (Some(known), Some(one)) if left(one) >= left(known) => Some(known),
            (known, one) => one.or(known),
        };
    }

    fn add_server(&mut self, name: &str, connections: u64, up: bool) {
        match self.servers.iter_mut().find(|(known, ..)| known == name) {
            // A server counts as down if any copy has it down.
            Some((_, sum, all_up)) => (*sum, *all_up) = (*sum + connections, *all_up && up),
            None => self.servers.push((name.to_owned(), connections, up)),
        }
    }

    fn value(&self) -> Value {
        let answers = self.requests.map(|_| {
            let classes =
                CLASSES.iter().zip(self.classes).map(|(class, count)| ((*class).to_owned(), json!(count)));
            classes.collect::<Map<String, Value>>()
        });
        let server = |(name, connections, up): &(String, u64, bool)| json!({ "name": name, "connections": connections, "up": up });
        let (peak, limit) = self.fullest.unzip();
        json!({
            "program": "haproxy", "peak": peak, "limit": limit, "connections": self.connections, "requests": self.requests, "incomplete": self.incomplete, "answers": answers,
            "open": self.open, "bytes_in": self.bytes_in, "bytes_out": self.bytes_out, "denied": self.denied,
            "connect_failed": self.connect_failed, "response_failed": self.response_failed, "queue_max": self.queue_max,
            "servers": self.servers.iter().map(server).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &str =
        "# pxname,svname,scur,stot,bin,bout,dreq,ereq,econ,status,mode,conn_tot,req_tot,hrsp_2xx,hrsp_5xx,";

    fn generated() -> Haproxy {
        Haproxy { fronts: vec!["in".to_owned()], backend: Some("servers"), ..Haproxy::default() }
    }

    #[track_caller]
    fn check(copies: &[&str], expected: &Value) {
        let mut all = generated();
        for rows in copies {
            assert_eq!(all.add(&format!("{NAMES}\n{rows}\n\n")), Some(()), "{rows}");
        }
        assert_eq!(all.value(), *expected);
    }

    #[test]
    fn copies_add_up() {
        let one = "in,FRONTEND,2,7,100,900,1,2,,OPEN,http,7,70,68,2,\nservers,app1,1,4,1,1,0,,0,UP,http,,,68,0,\n\
                   servers,app2,1,3,1,1,0,,0,DOWN,http,,,0,0,\nservers,BACKEND,2,7,1,1,0,,5,UP,http,,,68,0,\n\
                   page,FRONTEND,1,9,9,9,0,0,,OPEN,http,9,9,9,9,";
        let two =
            "in,FRONTEND,0,1,10,90,0,0,,OPEN,http,1,10,10,0,\nservers,app1,0,1,1,1,0,,0,UP,http,,,10,0,";
        let servers = json!([{ "name": "app1", "connections": 5, "up": true }, { "name": "app2", "connections": 3, "up": false }]);
        check(
            &[one, two],
            &json!({
                "program": "haproxy", "peak": null, "limit": null, "connections": 8, "requests": 80, "incomplete": 2, "open": 2, "bytes_in": 110, "bytes_out": 990,
                "denied": 3, "connect_failed": 5, "response_failed": 0, "queue_max": 0, "servers": servers,
                "answers": { "1xx": 0, "2xx": 78, "3xx": 0, "4xx": 0, "5xx": 2 },
            }),
        );
    }

    #[test]
    fn over_tcp_there_are_no_requests() {
        let one = "in,FRONTEND,2,7,100,900,0,0,,OPEN,tcp,7,,,,";
        check(
            &[one],
            &json!({
                "program": "haproxy", "peak": null, "limit": null, "connections": 7, "requests": null, "incomplete": 0, "answers": null, "open": 2, "bytes_in": 100,
                "bytes_out": 900, "denied": 0, "connect_failed": 0, "response_failed": 0, "queue_max": 0, "servers": [],
            }),
        );
    }

    #[test]
    fn a_users_own_frontends_count_by_name() {
        let rows = "web,FRONTEND,2,7,100,900,0,4,,OPEN,http,7,70,66,0,\nstats,FRONTEND,1,9,9,9,0,0,,OPEN,http,9,9,9,9,\n\
                    be,app1,1,4,1,1,0,,0,UP,http,,,68,0,\nbe,BACKEND,2,7,1,1,0,,5,UP,http,,,68,0,";
        let mut all = Haproxy { fronts: vec!["web".to_owned()], ..Haproxy::default() };
        assert_eq!(all.add(&format!("{NAMES}\n{rows}\n")), Some(()));
        let value = all.value();
        assert_eq!((&value["requests"], &value["incomplete"]), (&json!(70), &json!(4)));
        assert_eq!((&value["connect_failed"], &value["servers"][0]["name"]), (&json!(5), &json!("be/app1")));
    }

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
    fn what_is_no_statistics_is_reported() {
        for said in ["", "Unknown command.", NAMES, "# a,b\n1,2"] {
            assert_eq!(generated().add(said), None, "{said}");
        }
    }

    #[test]
    fn nginx_is_read_as_it_writes() {
        let said = "HTTP/1.1 200 OK\r\n\r\nActive connections: 3 \nserver accepts handled requests\n 14 13 40 \n\
                    Reading: 0 Writing: 1 Waiting: 0 \n";
        assert_eq!(nginx_read(said), Some([14, 13, 40, 3]));
        assert_eq!(nginx_read("HTTP/1.1 404 Not Found\r\n\r\n"), None);
    }
}
