//! Experiments that this host or the owner of a target refuses, before anything is sent.

use wavetank_experiment::{Experiment, ParseInput, read};
use wavetank_plan::{FileTables, RunOptions, SourcesPlan, Unsupported, parse_sources};
use wavetank_runner::{ExperimentSource, Host, PreparedRun, TargetAddresses};
use wavetank_units::{Code, ExitCode, UserError};

use crate::support::server;

/// Reads an experiment that has no mistakes.
fn experiment(text: &str) -> Experiment {
    let reading = read(&ParseInput {
        name: "x.yaml",
        bytes: text.as_bytes(),
        set: &[],
        env: &|_| None,
        has_secret: &|_| false,
        options: &RunOptions::default(),
    });
    let mistakes = reading.diagnostics.sorted().into_iter().map(|one| one.message.clone());
    let mistakes: Vec<String> = mistakes.collect();
    reading.experiment.unwrap_or_else(|| panic!("{text}: {mistakes:?}"))
}

/// Prepares a run of the experiment in `text` on `host`.
fn prepare(host: &Host, text: &str, options: &RunOptions) -> Result<PreparedRun, UserError> {
    let experiment = experiment(text);
    let source = ExperimentSource {
        experiment: &experiment,
        name: "x.yaml",
        addresses: &TargetAddresses::new(&experiment),
        file: &|name| Err(UserError::usage(Code::BadFile, format!("{name}: not in this test"), "")),
        secret: &|_| None,
        options,
        source_auto: false,
        command: "wavetank run x.yaml",
    };
    PreparedRun::from_experiment(&source, Vec::new(), host)
}

/// Returns the codes of a refusal, the first one and those after it.
fn codes(host: &Host, text: &str) -> (Vec<&'static str>, UserError) {
    let refused = prepare(host, text, &RunOptions::default()).err();
    let error = refused.unwrap_or_else(|| panic!("not refused: {text}"));
    assert_eq!(error.exit, ExitCode::Refused, "{text}: {error}");
    (std::iter::once(&error).chain(&error.others).map(|one| one.code.as_str()).collect(), error)
}

#[test]
fn a_public_target_is_refused_wherever_it_is() {
    let (server, host) = (server(), Host::inspect().expect("this host can be inspected"));
    let here = format!("http://{}", server.addresses()[0]);
    let public = "http://192.0.2.1/";
    for rest in [
        format!("target: {public}\nsteps: [{{get: /}}]"),
        format!("target: {here}\nsteps: [{{get: \"{public}x\"}}]"),
        format!("targets: {{a: {here}, b: \"{public}\"}}\nsteps: [{{get: /, to: a}}, {{get: /, to: b}}]"),
        format!("target: {here}\nbefore: [{{get: \"{public}x\"}}]\nsteps: [{{get: /}}]"),
    ] {
        let text = format!("wavetank: 1\n{rest}\nphases: [{{users: 1, for: 1s}}]\n");
        let (codes, error) = codes(&host, &text);
        assert_eq!(codes, ["target_not_allowed"], "{text}");
        assert!(error.hint.contains("--allow-target 192.0.2.1"), "{error}");
    }
    assert_eq!(server.truth().requests, 0, "nothing is sent");
    server.stop();
}

#[test]
fn what_this_host_lacks_is_reported_together() {
    let (server, mut host) = (server(), Host::inspect().expect("this host can be inspected"));
    let here = format!("http://{}", server.addresses()[0]);
    let file = |phase: &str| format!("wavetank: 1\ntarget: {here}\nsteps: [{{get: /}}]\nphases: [{phase}]\n");
    // io_uring's sockets are in no table of files.
    host.facts.sockets.uring = Err(Unsupported::new("masked", "leave out the mask"));
    host.facts.sockets.own_files = FileTables::Shared;
    host.facts.files_max = 128;
    let (few, error) = codes(&host, &file("{users: 4000, for: 1s}"));
    assert!(few == ["no_files"] && error.message.contains("128"), "{error}");
    let (all, error) = codes(&host, &file("{hold: 0 to 900M, at: 100M/s}"));
    assert_eq!(all, ["no_files", "no_source_address", "no_memory"], "{error}");
    assert!(error.message.contains("900,000,000 connections"), "{error}");
    let ranges = parse_sources("192.0.2.7").expect("an address");
    let sources =
        RunOptions { sources: SourcesPlan { ranges, ..SourcesPlan::default() }, ..RunOptions::default() };
    let error = prepare(&host, &file("{users: 1, for: 1s}"), &sources).err().expect("it is not this host's");
    assert_eq!((error.code.as_str(), error.exit), ("no_such_source", ExitCode::Refused), "{error}");
    assert_eq!(server.truth().requests, 0, "nothing is sent");
    server.stop();
}
