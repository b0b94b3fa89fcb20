//! [`LogFact`]: how often the log of a service reports one kind of failure.

use std::collections::BTreeMap;

/// What a line of a server's or balancer's log reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogEvent {
    /// No local port is left for a connection to a server (EADDRNOTAVAIL).
    NoPorts,
    /// A source port could not be bound before connecting to a server (EADDRINUSE).
    NoPortsToBind,
    /// The process has as many open files as it may (EMFILE).
    NoFiles,
    /// A connection did not begin with the header of the PROXY protocol, or with a broken one.
    BrokenProxyHeader,
    /// All servers are taken out, so no server is left for the request.
    NoLiveUpstreams,
    /// A limit on the requests of one client rejected a request.
    RateLimited,
    /// A limit on the connections of one client rejected a request.
    ConnectionsLimited,
    /// A body was longer than the program accepts.
    BodyTooLarge,
    /// A server refused the connection.
    UpstreamRefused,
    /// A server did not answer the connection request, or no route leads to it.
    UpstreamUnreachable,
    /// The name of a server could not be resolved.
    UpstreamUnresolved,
    /// No TLS connection to a server could be established.
    UpstreamTls,
    /// The header of a response was too large or not valid, so the balancer did not pass it on.
    ResponseRejected,
    /// A server closed or reset a connection before its response.
    UpstreamClosed,
    /// A server did not respond in time.
    UpstreamTimeout,
    /// All connections that a worker may have are in use.
    NoWorkerConnections,
    /// A request waited in the balancer's queue for too long (`HAProxy`, `sQ` or `cQ`).
    QueueTimeout,
    /// Checks of a server failed, and the balancer took it out.
    ServerDown,
    /// A server responded with a status of 500 or above, and the balancer passed it on (`HAProxy`).
    ServerError,
}

/// What the log of one service reports of one kind, over a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFact {
    /// The host of the service.
    pub host: String,
    /// The log's name, such as `nginx`.
    pub log: String,
    /// What it reports.
    pub event: LogEvent,
    /// Number of lines.
    pub lines: u64,
    /// The server that most of the lines name, as `10.40.1.3:8080`; empty if they name none.
    pub peer: String,
    /// Time of day of the first and last line, as the log has it; empty if it has none.
    pub first: String,
    /// Time of day of the last line.
    pub last: String,
}

/// Most servers that are counted separately for each kind of line.
const PEERS_MAX: usize = 64;

/// Texts by which lines of nginx and `HAProxy` are known.
const TEXTS: [(&str, LogEvent); 29] = [
    ("Cannot assign requested address", LogEvent::NoPorts),
    ("no free ports", LogEvent::NoPorts),
    ("Address already in use) while connecting to upstream", LogEvent::NoPortsToBind),
    ("Cannot bind to source address before connect()", LogEvent::NoPortsToBind),
    ("Too many open files", LogEvent::NoFiles),
    ("Process reached FD limit", LogEvent::NoFiles),
    ("while reading PROXY protocol", LogEvent::BrokenProxyHeader),
    ("no live upstreams", LogEvent::NoLiveUpstreams),
    ("limiting requests, excess", LogEvent::RateLimited),
    ("limiting connections by zone", LogEvent::ConnectionsLimited),
    ("client intended to send too large body", LogEvent::BodyTooLarge),
    ("could not be resolved", LogEvent::UpstreamUnresolved),
    ("no resolver defined to resolve", LogEvent::UpstreamUnresolved),
    ("Connection timed out) while connecting to upstream", LogEvent::UpstreamUnreachable),
    ("No route to host) while connecting to upstream", LogEvent::UpstreamUnreachable),
    ("Host is unreachable) while connecting to upstream", LogEvent::UpstreamUnreachable),
    ("Network is unreachable) while connecting to upstream", LogEvent::UpstreamUnreachable),
    (" is DOWN, reason: ", LogEvent::ServerDown),
    ("Connection refused) while connecting to upstream", LogEvent::UpstreamRefused),
    ("upstream prematurely closed connection", LogEvent::UpstreamClosed),
    ("Connection reset by peer) while reading response header from upstream", LogEvent::UpstreamClosed),
    ("upstream timed out", LogEvent::UpstreamTimeout),
    ("while SSL handshaking to upstream", LogEvent::UpstreamTls),
    ("upstream sent too big header", LogEvent::ResponseRejected),
    ("upstream sent invalid ", LogEvent::ResponseRejected),
    ("upstream sent no valid HTTP", LogEvent::ResponseRejected),
    ("upstream sent duplicate header line", LogEvent::ResponseRejected),
    ("worker_connections are not enough", LogEvent::NoWorkerConnections),
    ("worker_connections exceed open file resource limit", LogEvent::NoWorkerConnections),
];
/// Termination codes of `HAProxy`'s log lines (configuration manual, 8.5), by their first two
/// letters.
const TERMINATIONS: [(&str, LogEvent); 7] = [
    ("sH", LogEvent::UpstreamTimeout),
    ("sC", LogEvent::UpstreamUnreachable),
    ("SC", LogEvent::UpstreamRefused),
    ("SH", LogEvent::UpstreamClosed),
    ("PH", LogEvent::ResponseRejected),
    ("sQ", LogEvent::QueueTimeout),
    ("RC", LogEvent::NoPorts),
];

#[derive(Default)]
struct Count {
    lines: u64,
    peers: BTreeMap<String, u64>,
    first: String,
    last: String,
}

/// Returns what the log `log` of `host` reports, of each kind that occurs. `text` is what was
/// appended during a run.
pub fn log_facts(host: &str, log: &str, text: &str) -> Vec<LogFact> {
    let mut counts: BTreeMap<LogEvent, Count> = BTreeMap::new();
    let mut time = "";
    for line in text.lines() {
        // A message may continue on lines without a time.
        time = time_of_day(line).unwrap_or(time);
        let Some(event) = event(line) else { continue };
        let count = counts.entry(event).or_default();
        count.lines += 1;
        if let Some(peer) = peer(line)
            && (count.peers.len() < PEERS_MAX || count.peers.contains_key(peer))
        {
            *count.peers.entry(peer.to_owned()).or_default() += 1;
        }
        if count.lines == 1 {
            time.clone_into(&mut count.first);
        }
        time.clone_into(&mut count.last);
    }
    let fact = |(event, count): (LogEvent, Count)| {
        let most = count.peers.into_iter().max_by_key(|(_, lines)| *lines);
        LogFact {
            host: host.to_owned(),
            log: log.to_owned(),
            event,
            lines: count.lines,
            peer: most.map(|(peer, _)| peer).unwrap_or_default(),
            first: count.first,
            last: count.last,
        }
    };
    counts.into_iter().map(fact).collect()
}

fn event(line: &str) -> Option<LogEvent> {
    let known = TEXTS.iter().find(|(text, _)| line.contains(text)).map(|(_, event)| *event);
    known.or_else(|| {
        let code = termination(line)?;
        // `HAProxy` has no server left.
        if code.starts_with("SC") && line.contains("/<NOSRV> ") {
            return Some(LogEvent::NoLiveUpstreams);
        }
        if code.starts_with("--") && passed_status(line)? >= 500 {
            return Some(LogEvent::ServerError);
        }
        TERMINATIONS.iter().find(|(start, _)| code.starts_with(start)).map(|(_, event)| *event)
    })
}

/// Returns the status in a line of `HAProxy` in HTTP mode: the fourth word after the time.
fn passed_status(line: &str) -> Option<u16> {
    line.split_once("] ")?.1.split_whitespace().nth(3)?.parse().ok()
}

/// Returns the termination code of a line of `HAProxy`: two letters in TCP mode, four in HTTP mode,
/// before five numbers with slashes between them.
fn termination(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_code = |word: &str| {
        matches!(word.len(), 2 | 4)
            && word.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '-')
    };
    let is_counts = |word: &str| {
        word.split('/').count() == 5
            && word.split('/').all(|part| part.trim_start_matches('+').parse::<u64>().is_ok())
    };
    words.windows(2).find(|pair| is_code(pair[0]) && is_counts(pair[1])).map(|pair| pair[0])
}

/// Returns the server that a line names: `upstream: "http://10.40.1.3:8080/"` of nginx, `Server
/// be/app1 is DOWN` and the fourth word of a request (`be/app1`) of `HAProxy`. Of a limit on
/// connections it is the zone.
fn peer(line: &str) -> Option<&str> {
    if let Some((_, rest)) = line.split_once("limiting connections by zone \"") {
        return rest.split('"').next();
    }
    let Some((_, rest)) = line.split_once("upstream: \"") else {
        let Some((before, _)) = line.split_once(" is DOWN, ") else {
            let (_, rest) = line.split_once("] ").filter(|_| termination(line).is_some())?;
            let server = rest.split_whitespace().nth(1)?.split_once('/')?.1;
            return Some(server).filter(|server| !server.starts_with('<'));
        };
        return before.rsplit('/').next();
    };
    let rest = rest.split_once("://").map_or(rest, |(_, rest)| rest);
    rest.split(['/', '"']).next().filter(|peer| !peer.is_empty())
}

/// Returns the time of day in a line: `2026/11/26 17:00:05 [error] …`, `26/Nov/2026:17:00:05.123`.
fn time_of_day(line: &str) -> Option<&str> {
    let is_time = |text: &str| {
        let bytes = text.as_bytes();
        bytes.len() == 8
            && bytes.iter().enumerate().all(|(at, byte)| match at {
                2 | 5 => *byte == b':',
                _ => byte.is_ascii_digit(),
            })
    };
    // The two last digits of a year are not an hour.
    let follows_digit = |at: usize| at > 0 && line.as_bytes()[at - 1].is_ascii_digit();
    let starts = line.char_indices().map(|(at, _)| at).take(80).filter(|at| !follows_digit(*at));
    starts.filter_map(|at| line.get(at..at + 8)).find(|text| is_time(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(LogEvent, &str, &str)>) {
        let facts = log_facts("lb1", "nginx", line);
        let found = facts.first().map(|fact| (fact.event, fact.peer.as_str(), fact.first.as_str()));
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn lines_of_nginx() {
        let tail = r#", client: 10.40.0.2, server: , request: "GET / HTTP/1.1", upstream: "http://10.40.1.3:8080/", host: "lb1:8080""#;
        let line = |text: &str| format!("2026/11/26 17:00:05 [error] 12#12: *1 {text}{tail}");
        let peer = "10.40.1.3:8080";
        for (text, event) in [
            (
                "connect() to 10.40.1.3:8080 failed (99: Cannot assign requested address) while connecting to upstream",
                LogEvent::NoPorts,
            ),
            (
                "bind(10.40.1.2) failed (98: Address already in use) while connecting to upstream",
                LogEvent::NoPortsToBind,
            ),
            (
                "connect() failed (111: Connection refused) while connecting to upstream",
                LogEvent::UpstreamRefused,
            ),
            (
                "upstream prematurely closed connection while reading response header from upstream",
                LogEvent::UpstreamClosed,
            ),
            (
                "recv() failed (104: Connection reset by peer) while reading response header from upstream",
                LogEvent::UpstreamClosed,
            ),
            (
                "upstream timed out (110: Connection timed out) while reading response header from upstream",
                LogEvent::UpstreamTimeout,
            ),
            (
                "upstream timed out (110: Connection timed out) while connecting to upstream",
                LogEvent::UpstreamUnreachable,
            ),
            (
                "connect() failed (113: No route to host) while connecting to upstream",
                LogEvent::UpstreamUnreachable,
            ),
        ] {
            check(&line(text), Some((event, peer, "17:00:05")));
        }
        check(
            r#"2026/11/26 17:00:05 [error] 1#1: *9 no live upstreams while connecting to upstream, upstream: "http://app/""#,
            Some((LogEvent::NoLiveUpstreams, "app", "17:00:05")),
        );
        check(
            r#"2026/11/26 17:00:05 [error] 1#1: *9 limiting requests, excess: 20.840 by zone "each", client: 1.2.3.4"#,
            Some((LogEvent::RateLimited, "", "17:00:05")),
        );
        check(
            r#"2026/11/26 17:00:05 [error] 1#1: *9 limiting connections by zone "each", client: 1.2.3.4"#,
            Some((LogEvent::ConnectionsLimited, "each", "17:00:05")),
        );
        check(
            "2026/11/26 17:00:05 [error] 1#1: *9 client intended to send too large body: 20000 bytes, client: 1.2.3.4",
            Some((LogEvent::BodyTooLarge, "", "17:00:05")),
        );
        check(
            "2026/11/26 17:00:05 [error] 1#1: *9 app1.internal could not be resolved (110: Operation timed out), client: 1.2.3.4",
            Some((LogEvent::UpstreamUnresolved, "", "17:00:05")),
        );
        check(
            "2026/11/26 17:00:05 [crit] 1#1: accept4() failed (24: Too many open files)",
            Some((LogEvent::NoFiles, "", "17:00:05")),
        );
        check(
            r#"2026/11/26 17:00:05 [error] 1#1: *1 broken header: "GET / HTTP/1.1" while reading PROXY protocol, client: 10.40.1.2"#,
            Some((LogEvent::BrokenProxyHeader, "", "17:00:05")),
        );
        check("2026/11/26 17:00:05 [notice] 1#1: signal process started", None);
    }

    #[test]
    fn lines_of_nginx_about_responses_and_tls() {
        for (text, event) in [
            (
                "upstream SSL certificate verify error: (20:unable to get local issuer certificate) while SSL handshaking",
                LogEvent::UpstreamTls,
            ),
            (
                "upstream timed out (110: Connection timed out) while SSL handshaking",
                LogEvent::UpstreamTimeout,
            ),
            ("upstream sent too big header while reading response header from", LogEvent::ResponseRejected),
            (
                "upstream sent invalid header: \"x\\x20\" while reading response header from",
                LogEvent::ResponseRejected,
            ),
        ] {
            let line = format!(
                "2026/11/26 17:00:05 [error] 12#12: *1 {text} to upstream, client: 10.40.0.2, upstream: \"https://10.40.1.3:8443/\""
            );
            check(&line, Some((event, "10.40.1.3:8443", "17:00:05")));
        }
    }

    #[test]
    fn lines_of_haproxy() {
        check(
            "[WARNING] Connect() failed for backend servers: no free ports.",
            Some((LogEvent::NoPorts, "", "")),
        );
        check(
            "[ALERT] Cannot bind to source address before connect() for backend servers. Aborting.",
            Some((LogEvent::NoPortsToBind, "", "")),
        );
        check("[emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)", None);
        let http = |code: &str| {
            format!(
                "10.40.0.2:5 [26/Nov/2026:17:00:05.123] fe be/app1 0/0/0/-1/1001 504 217 - - {code} 1/1/0/0/0 0/0 \"GET / HTTP/1.1\""
            )
        };
        check(&http("sH--"), Some((LogEvent::UpstreamTimeout, "app1", "17:00:05")));
        check(&http("sQ--"), Some((LogEvent::QueueTimeout, "app1", "17:00:05")));
        check(&http("sC--"), Some((LogEvent::UpstreamUnreachable, "app1", "17:00:05")));
        check(&http("SC--"), Some((LogEvent::UpstreamRefused, "app1", "17:00:05")));
        let none = http("SC--").replace("app1", "<NOSRV>");
        check(&none, Some((LogEvent::NoLiveUpstreams, "", "17:00:05")));
        check(&http("PH--"), Some((LogEvent::ResponseRejected, "app1", "17:00:05")));
        check(&http("----"), Some((LogEvent::ServerError, "app1", "17:00:05")));
        check(&http("----").replace(" 504 ", " 404 "), None);
        check(&http("PR--"), None);
        check("10.40.0.2:5 [26/Nov/2026:17:00:05.123] in servers/app1 1/0/2000 212 -- 1/1/0/0/0 0/0", None);
    }

    #[test]
    fn lines_are_counted_with_the_server_that_most_of_them_name() {
        let line = |second: u32, server: &str| {
            format!(
                "2026/11/26 17:00:0{second} [error] 1#1: *1 upstream timed out, upstream: \"http://{server}/\"\n"
            )
        };
        let text = line(1, "a:1") + &line(2, "b:1") + "other\n" + &line(4, "b:1");
        let facts = log_facts("lb1", "nginx", &text);
        let fact = LogFact {
            host: "lb1".to_owned(),
            log: "nginx".to_owned(),
            event: LogEvent::UpstreamTimeout,
            lines: 3,
            peer: "b:1".to_owned(),
            first: "17:00:01".to_owned(),
            last: "17:00:04".to_owned(),
        };
        assert_eq!(facts, [fact]);
    }
}
