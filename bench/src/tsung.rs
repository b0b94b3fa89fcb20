//! The journey in Tsung: users that arrive, all in the controller's virtual machine.

use std::path::Path;

use anyhow::{Context, Result};

use crate::claims::ReportedResult;
use crate::journey_contestant::{JourneyContestant, STEPS, WANTED};
use crate::server::Server;
use crate::session::Session;

/// Returns the command for `sessions` sessions that arrive at `per_second`, against `server`.
pub(crate) fn party(
    session: &Session,
    server: &Server,
    sessions: u64,
    per_second: u64,
) -> Result<JourneyContestant> {
    let folder = session.folder.path().join(format!("tsung-{sessions}"));
    std::fs::create_dir_all(&folder).context("tsung's folder")?;
    let file = folder.join("tsung.xml");
    std::fs::write(&file, experiment(server, sessions, per_second)?).context("tsung.xml")?;
    let logs = folder.join("log");
    // Disables its web page and the pause before the load. Tsung creates a directory in the home
    // directory.
    let line = format!(
        "env HOME={} tsung -n -w 0 -I 127.0.0.1 -f {} -l {} start",
        folder.display(),
        file.display(),
        logs.display()
    );
    Ok(JourneyContestant {
        name: "tsung",
        words: line.split(' ').map(str::to_owned).collect(),
        fine: &[],
        claim: Box::new(move |_| {
            let text = std::fs::read_to_string(newest(&logs)?.join("tsung.log")).context("tsung.log")?;
            claim(&text)
        }),
        start: (0.0, 0.0),
    })
}

fn experiment(server: &Server, sessions: u64, per_second: u64) -> Result<String> {
    let url = server.url();
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let (host, port) = address.rsplit_once(':').context("an address has a port")?;
    // One more second, so that the number of sessions ends the run.
    let seconds = sessions.div_ceil(per_second) + 1;
    let requests = (1..=STEPS).map(|step| {
        let check = format!(r#"<match do="continue" when="match" name="ok">{WANTED}</match>"#);
        let check = if step == 1 { check } else { String::new() };
        format!(r#"<request>{check}<http url="/shop/{step}" method="GET" version="1.1"/></request>"#)
    });
    Ok(format!(
        r#"<?xml version="1.0"?>
<!DOCTYPE tsung SYSTEM "/usr/share/tsung/tsung-1.0.dtd">
<tsung loglevel="error" version="1.0">
<clients><client host="localhost" use_controller_vm="true" maxusers="60000"/></clients>
<servers><server host="{host}" port="{port}" type="tcp"/></servers>
<load><arrivalphase phase="1" duration="{seconds}" unit="second">
<users maxnumber="{sessions}" arrivalrate="{per_second}" unit="second"/></arrivalphase></load>
<sessions><session name="journey" probability="100" type="ts_http">
{}
</session></sessions>
</tsung>
"#,
        requests.collect::<Vec<_>>().join("\n")
    ))
}

/// Returns the newest log directory. Tsung names the directory of a run by the minute.
fn newest(logs: &Path) -> Result<std::path::PathBuf> {
    let entries = std::fs::read_dir(logs).context("tsung's logs")?;
    entries.flatten().map(|entry| entry.path()).max().context("tsung wrote no log")
}

/// Reads the last lines `stats: 200 N TOTAL` (responses) and `stats: match N TOTAL` (passed
/// checks).
fn claim(log: &str) -> Result<ReportedResult> {
    let total = |name: &str| -> Result<u64> {
        let prefix = format!("stats: {name} ");
        let last = log.lines().rev().find_map(|line| line.strip_prefix(prefix.as_str()));
        let total = last.and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        total.with_context(|| format!("tsung counted no `{name}`"))
    };
    let done = total("200")?;
    anyhow::ensure!(total("match")? * STEPS == done, "the check of some sessions failed");
    Ok(ReportedResult { done, sent: done, exact: true })
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
}
