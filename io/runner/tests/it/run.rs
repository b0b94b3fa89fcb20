//! A run: counts, a stop from outside, a plan that is refused, a probe without an answer.

use std::sync::Mutex;
use std::thread::{self, JoinHandle};

use wavetank_control::client::{running, send};
use wavetank_control::{ControlReply, ControlRequest};
use wavetank_plan::{RunOptions, TargetUrl};
use wavetank_record::{RunRecord, Status};
use wavetank_runner::{FinishedRun, Host, execute, run_folder};
use wavetank_units::{ExitCode, Nanos, Rate};

use crate::support::{KeptConsole, execution, prepare, server, url_of};

fn host() -> Host {
    Host::inspect().expect("this host can be inspected")
}

fn reasons(record: &RunRecord) -> Vec<&str> {
    record.verdict.reasons.iter().map(String::as_str).collect()
}

#[test]
fn a_run_and_its_target_count_the_same() {
    let (server, host, dir) = (server(), host(), tempfile::tempdir().expect("a folder"));
    let url = url_of(&server, "/bytes/64");
    let options = RunOptions { connections: Some(2), requests: Some(200), ..RunOptions::default() };
    let prepared = prepare(&host, &url, &options).expect("a plan");
    let mut console = KeptConsole::new(&|_| {});
    let finished = execute(execution(prepared, &host, dir.path()), &mut console).expect("the run begins");
    let FinishedRun { record, archive, latency, .. } = finished;
    assert_eq!((record.requests.done, record.requests.failed), (200, 0));
    assert_eq!((record.setup.sent, record.setup.done), (1, 1), "one probe");
    assert_eq!(server.truth().requests, record.wire.sent + record.setup.sent);
    assert!(latency.is_some(), "the probe was timed");
    assert!(console.warnings.is_empty(), "{:?}", console.warnings);
    let archive = wavetank_store::open(&archive.expect("an archive")).expect("the archive can be read");
    assert_eq!(archive.record.map(|stored| stored.requests), Some(record.requests));
    server.stop();
}

/// Asks the run of `target` to stop, from another thread: the run replies between two turns.
fn ask_to_stop(target: String) -> JoinHandle<ControlReply> {
    thread::spawn(move || {
        let all = running(&run_folder()).expect("the folder of running runs can be read");
        let run = all.iter().find(|run| run.target == target).expect("the run listens");
        send(&run_folder(), &run.id, &ControlRequest::Stop { now: true }).expect("the run replies")
    })
}

#[test]
fn a_run_that_is_stopped_has_a_record() {
    let (server, host, dir) = (server(), host(), tempfile::tempdir().expect("a folder"));
    let url = url_of(&server, "/");
    let options = RunOptions {
        rate: Some(Rate { count: 20, per: Nanos::SECOND }),
        duration: Some(Nanos::from_secs(3_600)),
        ..RunOptions::default()
    };
    let prepared = prepare(&host, &url, &options).expect("a plan");
    let (target, asked) = (prepared.plan.targets[0].url.clone(), Mutex::new(None));
    let stop = |seals: u32| {
        if seals == 1 {
            *asked.lock().expect("not poisoned") = Some(ask_to_stop(target.clone()));
        }
    };
    let mut console = KeptConsole::new(&stop);
    let finished = execute(execution(prepared, &host, dir.path()), &mut console).expect("the run begins");
    let reply = asked.lock().expect("not poisoned").take().expect("an interval was sealed").join();
    assert!(matches!(reply.expect("the thread ends"), ControlReply::Accepted(_)));
    let record = finished.record;
    assert_eq!((record.verdict.status, reasons(&record)), (Status::Incomplete, vec!["stopped"]));
    assert_eq!(record.verdict.exit, ExitCode::Incomplete as u8);
    assert!(record.requests.done > 0 && record.requests.offered < 72_000, "{:?}", record.requests);
    let archive = finished.archive.expect("an archive");
    assert!(archive.join("run.json").exists(), "the archive is complete");
    server.stop();
}

#[test]
fn a_plan_that_is_refused_sends_nothing() {
    let (server, mut host) = (server(), host());
    let url = url_of(&server, "/");
    let public = TargetUrl::parse("http://192.0.2.1:80/").expect("a URL");
    let refused = |host: &Host, url: &TargetUrl, options: &RunOptions| {
        let error = prepare(host, url, options).err().expect("the plan is refused");
        assert_eq!(error.exit, ExitCode::Refused, "{error}");
        error.code
    };
    assert_eq!(refused(&host, &public, &RunOptions::default()), "target_not_allowed");
    host.facts.files_max = 64;
    let many = RunOptions { connections: Some(4_000), ..RunOptions::default() };
    assert_eq!(refused(&host, &url, &many), "no_files");
    assert_eq!(server.truth().requests, 0);
    server.stop();
}

#[test]
fn a_run_ends_with_its_probe_if_nothing_answers() {
    let (host, dir) = (host(), tempfile::tempdir().expect("a folder"));
    // No server has this port, and no test is given it.
    let url = TargetUrl::parse("http://127.0.0.1:1/").expect("a URL");
    let options = RunOptions { requests: Some(5), ..RunOptions::default() };
    let prepared = prepare(&host, &url, &options).expect("a plan");
    let mut console = KeptConsole::new(&|_| {});
    let finished = execute(execution(prepared, &host, dir.path()), &mut console).expect("the probe is sent");
    let record = finished.record;
    assert_eq!((record.verdict.status, reasons(&record)), (Status::Fail, vec!["probe"]));
    assert_eq!((record.requests.offered, record.wire.sent), (0, 0), "no load after a failed probe");
    assert_eq!(console.intervals, 0);
    assert!(finished.archive.is_some(), "the failed probe is in the archive");
}
