//! Settling: what is refused, and what is noted of hosts and runs without an archive.

use std::process::Command;

use wavetank_plan::RunOptions;
use wavetank_runner::{
    Host, SPOOL_MARK, SettledRuns, SpoolCommand, SpoolDoc, SpoolHosts, SpoolsDoc, execute, settle,
};
use wavetank_store::RunsDir;

use crate::support::{KeptConsole, execution, prepare, server, url_of};

/// Hosts with the output of `agent spool list`, or why there is none.
struct Hosts(Vec<(&'static str, Result<String, String>)>);

impl SpoolHosts for Hosts {
    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| *name).collect()
    }

    fn run(&self, commands: Vec<(usize, SpoolCommand)>) -> Vec<(usize, Result<String, String>)> {
        let run = |(host, command): (usize, SpoolCommand)| {
            assert_eq!(command, ["list"], "nothing is fetched or deleted");
            (host, self.0[host].1.clone())
        };
        commands.into_iter().map(run).collect()
    }

    fn process(&self, _: usize, _: &SpoolCommand) -> Command {
        panic!("nothing is fetched")
    }
}

/// The output of a host that keeps spools, after a line of its shell.
fn listed(spools: Vec<SpoolDoc>) -> String {
    format!("welcome\n{SPOOL_MARK}{}\n", SpoolsDoc { cores: 2, spools }.json())
}

#[test]
fn a_run_without_a_fleet_is_refused_before_hosts_are_asked() {
    let (server, dir) = (server(), tempfile::tempdir().expect("a folder"));
    let host = Host::inspect().expect("this host can be inspected");
    let options = RunOptions { connections: Some(1), requests: Some(1), ..RunOptions::default() };
    let prepared = prepare(&host, &url_of(&server, "/"), &options).expect("a plan");
    execute(execution(prepared, &host, dir.path()), &mut KeptConsole::new(&|_| {})).expect("a run");
    let settled = settle(&RunsDir::new(dir.path()), Some("latest"), || -> Result<Hosts, _> {
        panic!("no host is asked")
    });
    let error = settled.map(|_| ()).expect_err("it has no agents");
    assert_eq!(error.code.as_str(), "not_a_fleet_run", "{error}");
}

#[test]
fn hosts_that_fail_and_runs_without_an_archive_are_noted() {
    let dir = tempfile::tempdir().expect("a folder");
    let check = |hosts: Hosts, expected: &[&str]| {
        let settled = settle(&RunsDir::new(dir.path()), None, || Ok(hosts));
        let SettledRuns { settlements, notes, is_complete } =
            settled.map_err(|error| error.to_string()).expect("it settles");
        assert!(settlements.is_empty());
        assert_eq!(notes.len(), expected.len(), "{notes:?}");
        assert!(notes.iter().zip(expected).all(|(note, begin)| note.starts_with(begin)), "{notes:?}");
        assert_eq!(is_complete, expected.is_empty());
    };
    let spool = |run, running| SpoolDoc { run, running, ..SpoolDoc::default() };
    check(Hosts(vec![("load1", Ok(listed(Vec::new())))]), &[]);
    check(
        Hosts(vec![("load1", Ok(listed(vec![spool(7, false)])))]),
        &["load1: keeps run 7, which has no archive"],
    );
    // An agent that still carries out its run keeps its spool.
    check(Hosts(vec![("load1", Ok(listed(vec![spool(7, true)])))]), &[]);
    let failed = ("load2", Err("connection refused".to_owned()));
    let silent = ("load3", Ok("welcome\n".to_owned()));
    check(Hosts(vec![failed, silent]), &["load2: connection refused", "load3: it did not list its spools"]);
}
