//! Steps of a search: a level that fails, a level that this host refuses, a probe without an
//! answer.

use std::cell::Cell;

use wavetank_plan::{Condition, Plan, RunOptions, TargetUrl};
use wavetank_record::SearchDoc;
use wavetank_runner::{FleetLoad, Host, PreparedRun, SearchSettings, SearchedLoad, run_search};
use wavetank_search::{Granularity, SearchTiming, SearchVariable, Setup};
use wavetank_units::{Code, ExitCode, Nanos, UserError};

use crate::support::{KeptConsole, prepare, server, url_of};

/// Connections to one URL; levels above `most` are refused.
struct Connections<'a> {
    host: &'a Host,
    url: TargetUrl,
    most: f64,
    planned: Cell<u32>,
}

impl SearchedLoad for Connections<'_> {
    fn plan_run(&self, level: f64, length: Nanos, seed: u64) -> Result<PreparedRun, UserError> {
        // The first plan is only announced.
        if self.planned.replace(self.planned.get() + 1) > 0 && level > self.most {
            return Err(UserError::refused(Code::NoFiles, "no files are left", "raise ulimit -n"));
        }
        let options = RunOptions {
            connections: Some(level as u64),
            duration: Some(length),
            seed: Some(seed),
            thresholds: vec![Condition::parse("failed < 1%").expect("a condition")],
            ..RunOptions::default()
        };
        prepare(self.host, &self.url, &options)
    }

    fn connect_fleet(&self, _: &Plan) -> Result<Option<FleetLoad>, UserError> {
        Ok(None)
    }
}

/// Searches between 1 and 4 connections, and returns the result with what was printed.
fn search(host: &Host, url: TargetUrl, most: f64) -> (SearchDoc, KeptConsole<'static>) {
    let dir = tempfile::tempdir().expect("a folder");
    let load = Connections { host, url, most, planned: Cell::new(0) };
    let settings = SearchSettings {
        sought: SearchVariable::Connections,
        setup: Setup::new(Granularity::Whole, 1.0, 4.0).quickly(),
        limits: SearchTiming {
            length: Nanos::from_millis(100),
            warmup: Nanos::ZERO,
            settle: Nanos::ZERO,
            max_time: None,
        },
        command: "wavetank search".to_owned(),
        runs_dir: Some(dir.path().to_owned()),
    };
    let mut console = KeptConsole::new(&|_| {});
    let (doc, kept) = run_search(&load, &settings, (host, None), &mut console).expect("the search begins");
    let stored = kept.expect("the search is stored");
    assert!(stored.starts_with("archive ") && !stored.contains("without"), "{stored}");
    (doc, console)
}

#[test]
fn a_search_ends_below_a_lowest_level_that_fails() {
    let (server, host) = (server(), Host::inspect().expect("this host can be inspected"));
    let (doc, console) = search(&host, url_of(&server, "/status/503"), 4.0);
    assert_eq!((doc.answer.end.as_str(), doc.answer.exit), ("below", ExitCode::Fail as u8), "{doc:?}");
    assert!(doc.runs.iter().all(|run| run.result == "fail" && run.requests.failed > 0), "{:?}", doc.runs);
    assert_eq!(doc.answer.knee, None);
    let runs = console.lines.iter().filter(|line| line.starts_with("run ")).count();
    assert_eq!(runs, doc.runs.len(), "a line for each run: {:?}", console.lines);
    server.stop();
}

#[test]
fn a_level_that_this_host_refuses_is_its_limit() {
    let (server, host) = (server(), Host::inspect().expect("this host can be inspected"));
    let (doc, _) = search(&host, url_of(&server, "/"), 0.0);
    assert_eq!(doc.answer.end, "generator", "{doc:?}");
    assert_eq!(doc.answer.exit, ExitCode::Invalid as u8);
    assert!(doc.runs.iter().all(|run| run.why == "no files are left"), "{:?}", doc.runs);
    assert_eq!(server.truth().requests, 0, "a refused level sends nothing");
    server.stop();
}

#[test]
fn a_target_that_is_not_there_is_reported_once() {
    let host = Host::inspect().expect("this host can be inspected");
    // No server has this port, and no test is given it.
    let url = TargetUrl::parse("http://127.0.0.1:1/").expect("a URL");
    let (doc, _) = search(&host, url, 4.0);
    assert_eq!((doc.answer.end.as_str(), doc.answer.exit), ("broken", ExitCode::Fail as u8), "{doc:?}");
    assert_eq!(doc.runs.len(), 1, "{:?}", doc.runs);
    assert!(doc.answer.limit.contains("no answer to the probe"), "{}", doc.answer.limit);
}
