//! [`HaproxyStatistics`]: what `show stat` of `HAProxy` says, summed over copies.

use serde_json::{Map, Value, json};

/// Status classes that `HAProxy` counts.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Sums over copies.
#[derive(Debug, Default)]
pub(super) struct HaproxyStatistics {
    /// The frontends that count.
    fronts: Vec<String>,
    /// The backend that counts; `None`: all of them.
    backend: Option<&'static str>,
    pub(super) connections: u64,
    /// `None` in mode tcp, which does not count requests.
    pub(super) requests: Option<u64>,
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
    /// Requests, connections and sessions that its own rules rejected.
    rejected: u64,
    /// Of the frontend nearest to its limit on new sessions a second: the most, and the limit.
    rate: Option<(u64, u64)>,
    connect_failed: u64,
    /// Responses of servers that were broken or did not come in time.
    response_failed: u64,
    /// The most requests that waited for a server together, since it started.
    queue_max: u64,
    /// In the order of the first copy.
    servers: Vec<Server>,
}

/// A server of a `HAProxy`.
#[derive(Debug)]
struct Server {
    name: String,
    connections: u64,
    /// It counts as down if any copy has it down.
    up: bool,
    backup: bool,
    /// Its status and what its last check found: `DOWN (L7STS 404)`.
    state: String,
}

impl HaproxyStatistics {
    /// Counts the frontends called `fronts`, and one backend or all.
    pub(super) fn of(fronts: Vec<String>, backend: Option<&'static str>) -> Self {
        Self { fronts, backend, ..Self::default() }
    }

    /// Adds one copy's `show stat`: a line of names after `# `, then lines of values
    /// (management.txt, 9.1).
    pub(super) fn add(&mut self, said: &str) -> Option<()> {
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
                    self.fullest = nearest(self.fullest, number("smax").zip(number("slim")));
                    self.bytes_in += number("bin")?;
                    self.bytes_out += number("bout")?;
                    self.denied += number("dreq").unwrap_or_default() + number("ereq").unwrap_or_default();
                    self.rejected +=
                        ["dreq", "dcon", "dses"].iter().filter_map(|name| number(name)).sum::<u64>();
                    let rate = number("rate_max").zip(number("rate_lim").filter(|limit| *limit > 0));
                    self.rate = nearest(self.rate, rate);
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
                    // A server without a weight gets no requests, and its status does not show it.
                    let is_drained = number("weight") == Some(0) && !text("status").starts_with("DOWN");
                    let status = if is_drained { "DRAIN" } else { text("status") };
                    let check = [text("check_status"), text("check_code")];
                    let check = check.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
                    let check =
                        if check.is_empty() { String::new() } else { format!(" ({})", check.join(" ")) };
                    self.add_server(Server {
                        name,
                        connections: number("stot").unwrap_or_default(),
                        up: status.starts_with("UP") || status == "no check",
                        backup: text("bck") == "1",
                        state: format!("{status}{check}"),
                    });
                }
            }
        }
        seen.then_some(())
    }

    /// Adds the limits of the whole process on new connections and sessions from `show info`.
    pub(super) fn add_info(&mut self, said: &str) {
        let number = |name: &str| {
            let value = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
            value.trim().parse::<u64>().ok()
        };
        for (most, limit) in [("MaxConnRate", "ConnRateLimit"), ("MaxSessRate", "SessRateLimit")] {
            let limit = number(limit).filter(|limit| *limit > 0);
            self.rate = nearest(self.rate, number(most).zip(limit));
        }
    }

    fn add_server(&mut self, one: Server) {
        match self.servers.iter_mut().find(|known| known.name == one.name) {
            Some(known) => {
                known.connections += one.connections;
                if known.up && !one.up {
                    (known.up, known.state) = (false, one.state);
                }
            }
            None => self.servers.push(one),
        }
    }

    pub(super) fn value(&self) -> Value {
        let answers = self.requests.map(|_| {
            let classes =
                CLASSES.iter().zip(self.classes).map(|(class, count)| ((*class).to_owned(), json!(count)));
            classes.collect::<Map<String, Value>>()
        });
        let server = |one: &Server| json!({ "name": one.name, "connections": one.connections, "up": one.up, "backup": one.backup, "state": one.state });
        let ((peak, limit), (rate, rate_limit)) = (self.fullest.unzip(), self.rate.unzip());
        json!({
            "program": "haproxy", "peak": peak, "limit": limit, "connections": self.connections, "requests": self.requests, "incomplete": self.incomplete, "answers": answers,
            "open": self.open, "bytes_in": self.bytes_in, "bytes_out": self.bytes_out, "denied": self.denied,
            "connect_failed": self.connect_failed, "response_failed": self.response_failed, "queue_max": self.queue_max,
            "rejected": self.rejected, "rate": rate, "rate_limit": rate_limit,
            "servers": self.servers.iter().map(server).collect::<Vec<_>>(),
        })
    }
}

/// Returns that of two values with limits which has less left.
fn nearest(known: Option<(u64, u64)>, one: Option<(u64, u64)>) -> Option<(u64, u64)> {
    let left = |(most, limit): (u64, u64)| limit.saturating_sub(most);
    match (known, one) {
        (Some(known), Some(one)) if left(one) >= left(known) => Some(known),
        (known, one) => one.or(known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &str =
        "# pxname,svname,scur,stot,bin,bout,dreq,ereq,econ,status,mode,conn_tot,req_tot,hrsp_2xx,hrsp_5xx,";

    fn generated() -> HaproxyStatistics {
        HaproxyStatistics {
            fronts: vec!["in".to_owned()],
            backend: Some("servers"),
            ..HaproxyStatistics::default()
        }
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
        let servers = json!([
            { "name": "app1", "connections": 5, "up": true, "backup": false, "state": "UP" },
            { "name": "app2", "connections": 3, "up": false, "backup": false, "state": "DOWN" },
        ]);
        check(
            &[one, two],
            &json!({
                "program": "haproxy", "peak": null, "limit": null, "connections": 8, "requests": 80, "incomplete": 2, "open": 2, "bytes_in": 110, "bytes_out": 990,
                "denied": 3, "connect_failed": 5, "response_failed": 0, "queue_max": 0, "servers": servers,
                "rejected": 1, "rate": null, "rate_limit": null,
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
                "rejected": 0, "rate": null, "rate_limit": null,
            }),
        );
    }

    #[test]
    fn a_users_own_frontends_count_by_name() {
        let rows = "web,FRONTEND,2,7,100,900,0,4,,OPEN,http,7,70,66,0,\nstats,FRONTEND,1,9,9,9,0,0,,OPEN,http,9,9,9,9,\n\
                    be,app1,1,4,1,1,0,,0,UP,http,,,68,0,\nbe,BACKEND,2,7,1,1,0,,5,UP,http,,,68,0,";
        let mut all = HaproxyStatistics { fronts: vec!["web".to_owned()], ..HaproxyStatistics::default() };
        assert_eq!(all.add(&format!("{NAMES}\n{rows}\n")), Some(()));
        let value = all.value();
        assert_eq!((&value["requests"], &value["incomplete"]), (&json!(70), &json!(4)));
        assert_eq!((&value["connect_failed"], &value["servers"][0]["name"]), (&json!(5), &json!("be/app1")));
    }

    #[test]
    fn a_server_without_a_weight_gets_no_requests() {
        let mut all = generated();
        let text = "# pxname,svname,status,weight,scur,stot,bin,bout,conn_tot,slim,smax,\n\
                    in,FRONTEND,OPEN,,2,7,1,1,7,9,2,\nservers,app1,no check,0,1,4,1,1,,,,\nservers,app2,UP,1,1,3,1,1,,,,\n";
        assert_eq!(all.add(text), Some(()));
        let states: Vec<_> = all.servers.iter().map(|one| (one.up, one.state.as_str())).collect();
        assert_eq!(states, [(false, "DRAIN"), (true, "UP")]);
    }

    #[test]
    fn limits_of_the_process_are_in_its_information() {
        let mut all = generated();
        all.add_info("Name: HAProxy\nConnRate: 3\nConnRateLimit: 10\nMaxConnRate: 10\nSessRateLimit: 0\nMaxSessRate: 9\n");
        assert_eq!(all.rate, Some((10, 10)));
    }

    #[test]
    fn what_is_no_statistics_is_reported() {
        for said in ["", "Unknown command.", NAMES, "# a,b\n1,2"] {
            assert_eq!(generated().add(said), None, "{said}");
        }
    }
}
