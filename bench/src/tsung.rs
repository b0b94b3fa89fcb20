//! Tsung: users that arrive, all in the controller's virtual machine, with a journey or messages.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::claims::ReportedResult;
use crate::contestant::Contestant;
use crate::journey_session::{STEPS, WANTED};
use crate::server::Server;
use crate::session::Session;

/// Returns the command for `sessions` sessions that arrive at `per_second`, against `server`.
pub(crate) fn party(
    session: &Session,
    server: &Server,
    sessions: u64,
    per_second: u64,
) -> Result<Contestant> {
    let requests = (1..=STEPS).map(|step| {
        let check = format!(r#"<match do="continue" when="match" name="ok">{WANTED}</match>"#);
        let check = if step == 1 { check } else { String::new() };
        format!(r#"<request>{check}<http url="/shop/{step}" method="GET" version="1.1"/></request>"#)
    });
    let script = Script { kind: "ts_http", requests: requests.collect(), sessions, per_second };
    script.contestant(session, server, claim)
}

/// Returns the command for `users` users that each send `messages` messages on a WebSocket and wait
/// for each response, against `server`.
pub(crate) fn websocket(session: &Session, server: &Server, users: u64, messages: u64) -> Result<Contestant> {
    let requests = format!(
        r#"<request><websocket type="connect" path="/ws/echo"/></request>
<for from="1" to="{messages}" var="i"><request><websocket type="message">hello</websocket></request></for>"#
    );
    let script = Script { kind: "ts_websocket", requests, sessions: users, per_second: users };
    script.contestant(session, server, messages_claim)
}

/// Returns the command for `rate` requests per second on `machines` virtual machines of the same
/// host, and its log directory.
pub(crate) fn fleet(
    session: &Session,
    address: SocketAddr,
    (rate, seconds): (u64, u64),
    machines: u64,
) -> Result<(String, PathBuf)> {
    let get = r#"<http url="/" method="GET" version="1.1"/>"#;
    let requests = format!(r#"<for from="1" to="{STEPS}" var="i"><request>{get}</request></for>"#);
    let per_second = rate / STEPS;
    let script = Script { kind: "ts_http", requests, sessions: per_second * seconds, per_second };
    // Not `localhost`: Tsung would use the controller's own virtual machine.
    let clients = format!(r#"<client host="control" cpu="{machines}" maxusers="60000"/>"#);
    script.write(session, address, &clients, "")
}

/// Reads the responses of [`fleet`].
pub(crate) fn fleet_claim(logs: &Path) -> Result<ReportedResult> {
    let done = last_total(&log(logs)?, "200")?;
    Ok(ReportedResult { done, sent: done, exact: true })
}

/// Sessions of one kind.
struct Script {
    kind: &'static str,
    requests: String,
    sessions: u64,
    per_second: u64,
}

impl Script {
    /// Returns the command for a load from the controller's virtual machine, and reads the counts
    /// from the log with `claim`.
    fn contestant(
        self,
        session: &Session,
        server: &Server,
        claim: impl Fn(&str) -> Result<ReportedResult> + 'static,
    ) -> Result<Contestant> {
        let clients = r#"<client host="localhost" use_controller_vm="true" maxusers="60000"/>"#;
        let (line, logs) = self.write(session, server.address(), clients, "-I 127.0.0.1 ")?;
        Ok(Contestant::peer("tsung", &line, move |_| claim(&log(&logs)?)))
    }

    /// Writes the file. Returns the command with these `options`, and its log directory.
    fn write(
        &self,
        session: &Session,
        address: SocketAddr,
        clients: &str,
        options: &str,
    ) -> Result<(String, PathBuf)> {
        let folder = session.folder.path().join(format!("tsung-{}-{}", self.kind, self.sessions));
        std::fs::create_dir_all(&folder).context("tsung's folder")?;
        let file = folder.join("tsung.xml");
        std::fs::write(&file, self.xml(address, clients)).context("tsung.xml")?;
        let logs = folder.join("log");
        // Disables its web page and the pause before the load. Tsung creates a directory in the
        // home directory.
        let line = format!(
            "env HOME={} tsung -n -w 0 {options}-f {} -l {} start",
            folder.display(),
            file.display(),
            logs.display()
        );
        Ok((line, logs))
    }

    fn xml(&self, address: SocketAddr, clients: &str) -> String {
        let Self { kind, requests, sessions, per_second } = self;
        // One more second, so that the number of sessions ends the run.
        let seconds = sessions.div_ceil(*per_second) + 1;
        format!(
            r#"<?xml version="1.0"?>
<!DOCTYPE tsung SYSTEM "/usr/share/tsung/tsung-1.0.dtd">
<tsung loglevel="error" version="1.0">
<clients>{clients}</clients>
<servers><server host="{}" port="{}" type="tcp"/></servers>
<load><arrivalphase phase="1" duration="{seconds}" unit="second">
<users maxnumber="{sessions}" arrivalrate="{per_second}" unit="second"/></arrivalphase></load>
<sessions><session name="bench" probability="100" type="{kind}">
{requests}
</session></sessions>
</tsung>
"#,
            address.ip(),
            address.port(),
        )
    }
}

/// Reads the newest log. Tsung names the directory of a run by the minute.
fn log(logs: &Path) -> Result<String> {
    let entries = std::fs::read_dir(logs).context("tsung's logs")?;
    let newest = entries.flatten().map(|entry| entry.path()).max().context("tsung wrote no log")?;
    std::fs::read_to_string(newest.join("tsung.log")).context("tsung.log")
}

/// Reads the last lines `stats: 200 N TOTAL` (responses) and `stats: match N TOTAL` (passed
/// checks).
fn claim(log: &str) -> Result<ReportedResult> {
    let done = last_total(log, "200")?;
    anyhow::ensure!(last_total(log, "match")? * STEPS == done, "the check of some sessions failed");
    Ok(ReportedResult { done, sent: done, exact: true })
}

/// Reads the lines `stats: request N …`, which count requests since the line before, and the last
/// line `stats: websocket_succ N TOTAL` (connections). Requests to connect are not messages.
fn messages_claim(log: &str) -> Result<ReportedResult> {
    let counts = log.lines().filter_map(|line| line.strip_prefix("stats: request "));
    let requests: u64 = counts.filter_map(|rest| rest.split(' ').next()?.parse::<u64>().ok()).sum();
    let done = requests.checked_sub(last_total(log, "websocket_succ")?).context("tsung did not connect")?;
    Ok(ReportedResult { done, sent: done, exact: true })
}

/// Reads the last line `stats: NAME N TOTAL` of a counter.
fn last_total(log: &str, name: &str) -> Result<u64> {
    let prefix = format!("stats: {name} ");
    let last = log.lines().rev().find_map(|line| line.strip_prefix(prefix.as_str()));
    let total = last.and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
    total.with_context(|| format!("tsung counted no `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_totals_count() {
        let log = "stats: match 1 1\nstats: 200 5 5\n# stats: dump\nstats: match 2 3\nstats: 200 10 15\n";
        assert_eq!(claim(log).ok(), Some(ReportedResult { done: 15, sent: 15, exact: true }));
        assert!(claim("stats: 200 5 5\n").is_err());
        assert!(claim("stats: match 1 1\nstats: 200 9 9\n").is_err());
    }

    #[test]
    fn messages_are_requests_that_do_not_connect() {
        let log = "stats: request 40 1.2 0.3 2.0 0.9 0 0\nstats: websocket_succ 2 2\n\
                   stats: request 3 1.1 0.3 2.0 0.9 1.2 40\nstats: websocket_succ 1 3\n";
        assert_eq!(messages_claim(log).ok(), Some(ReportedResult { done: 40, sent: 40, exact: true }));
        assert!(messages_claim("stats: request 40 1.2 0.3 2.0 0.9 0 0\n").is_err());
    }
}
