//! Every fallback for missing kernel features or forbidden operations in containers, tested on this
//! kernel by masking.

use crate::ways;

use std::time::Duration;

use wavetank_testkit::{Program, RunHarness, Running, Script, Serve, Signal, Target, skip};
use ways::{Way, agree, can, engine_reported, masked, plan_reports, truth};

const SECOND: Duration = Duration::from_secs(1);

/// Files of one table, and a number of connections that needs three tables.
const FILES: &str = "--nofile=400:400";
const CONNECTIONS: &str = "1000";

const WAYS: [Way; 8] = [
    Way { mask: "", engine: "uring", files: "shared" },
    Way { mask: "bind_op", engine: "uring", files: "shared" },
    Way { mask: "bind_op,unshare,own_process,epoll_pwait2", engine: "uring", files: "shared" },
    Way { mask: "uring", engine: "epoll", files: "per_thread" },
    Way { mask: "uring,epoll_pwait2", engine: "epoll", files: "per_thread" },
    Way { mask: "uring,own_process", engine: "epoll", files: "per_thread" },
    Way { mask: "uring,unshare", engine: "epoll", files: "per_process" },
    Way { mask: "uring,unshare,epoll_pwait2", engine: "epoll", files: "per_process" },
];

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

#[test]
fn every_way_counts_what_the_target_counts() {
    let name = "every_way_counts_what_the_target_counts";
    for way in WAYS {
        let trial = trial();
        if !can(name, &trial, way) {
            continue;
        }
        let serve = Serve::start(&masked(trial.program(), way), &[]);
        for words in ["-c 20 -n 4000", "-r 2000/s -d 1s", "-c 8 -n 400 --no-keepalive --source 127.0.0.1-9"] {
            let before = truth(&serve);
            let outcome = masked(trial.load(&serve.url("/"), words.split_whitespace()), way).run();
            engine_reported(&outcome.stderr, way);
            let result = outcome.result();
            assert_eq!(result.text("generator.engine"), way.engine, "{way:?}: {result}");
            agree(&result, &before, &serve);
        }
        engine_reported(&serve.running().stderr(), way);
    }
}

#[test]
fn more_connections_than_files_of_one_table() {
    let name = "more_connections_than_files_of_one_table";
    if Program::foreign("prlimit").is_none() {
        return skip(name, "`prlimit` is not installed");
    }
    for way in WAYS {
        let trial = trial();
        if !can(name, &trial, way) {
            continue;
        }
        let few = |program: Program| masked(program, way).under(["prlimit", FILES]);
        let program = few(trial.program());
        // `serve` takes its arguments at the end. Those of the limit come before the program.
        let serve = Serve::start(&program, &["--connections", CONNECTIONS]);
        let before = truth(&serve);
        let words = ["-c", CONNECTIONS, "-n", "3000"];
        let outcome = few(trial.load(&serve.url("/"), words)).run();
        let result = outcome.result();
        assert_eq!(result.count("connections.opened"), 1_000, "{way:?}: {result}");
        agree(&result, &before, &serve);
        let threads = if way.engine == "uring" { 2 } else { 3 };
        assert!(result.count("generator.threads") <= threads, "{way:?}: {result}");
        assert_eq!(outcome.stderr.contains("table of files of its own"), way.engine == "epoll", "{outcome}");
        plan_reports(&trial, way);
    }
}

/// Returns the engines that a program waits with while a response is outstanding.
fn waits_with(running: &Running) -> Vec<&'static str> {
    let files = std::fs::read_dir(format!("/proc/{}/fd", running.id())).expect("it runs");
    let names = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    let names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    let has = |what: &str| names.iter().any(|name| name.contains(what));
    [("[io_uring]", "uring"), ("[eventpoll]", "epoll")]
        .map(|(name, engine)| has(name).then_some(engine))
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn the_probe_and_once_use_the_engine_that_was_asked_for() {
    let name = "the_probe_and_once_use_the_engine_that_was_asked_for";
    for (mask, engine) in
        [("", "uring"), ("bind_op", "uring"), ("", "epoll"), ("epoll_pwait2", "epoll"), ("uring", "auto")]
    {
        let used = if engine == "auto" { "epoll" } else { engine };
        let trial = trial();
        let way = Way { mask, engine: used, files: "shared" };
        if !can(name, &trial, way) {
            continue;
        }
        for words in ["--once", "-c 1 -n 1"] {
            let target = Target::start(Script::silence());
            let words = format!("{words} --engine {engine} --timeout 100s --source 127.0.0.1");
            let program = trial.program().args(["run", &target.url("/")]).args(words.split(' '));
            let running = masked(program, way).start();
            target.wait_for("the request", 60 * SECOND, |truth| truth.requests == 1);
            assert_eq!(waits_with(&running), [used], "{mask} {words}");
            running.signal(Signal::INT);
            let outcome = running.wait(60 * SECOND);
            assert_eq!(outcome.exit, Some(130), "{outcome}");
        }
    }
}

#[test]
fn what_cannot_be_had_is_refused_with_cause_and_cure() {
    let trial = trial();
    let run = |words: &[&str]| {
        let words = ["run", "http://127.0.0.1:9/"].into_iter().chain(words.iter().copied());
        trial.program().args(words).environment("WAVETANK_MASK", "uring").run()
    };
    let refused = run(&["--engine", "uring"]);
    assert!(refused.expect_exit(5).stderr.contains("uring is masked by WAVETANK_MASK"), "{refused}");
    assert!(refused.stderr.contains("--engine epoll"), "{refused}");
    for command in [&["run", "http://127.0.0.1:9/"][..], &["serve", "--listen", "0"]] {
        let wrong = trial.program().args(command).environment("WAVETANK_MASK", "uring,xdp").run();
        assert!(wrong.expect_exit(2).stderr.contains("`xdp` in WAVETANK_MASK"), "{wrong}");
        assert!(wrong.stderr.contains("uring, bind_op, unshare, epoll_pwait2, own_process"), "{wrong}");
    }
    let serve = trial.program().args(["serve", "--listen", "0", "--engine", "uring"]);
    let refused = serve.environment("WAVETANK_MASK", "uring").run();
    assert!(refused.expect_exit(5).stderr.contains("uring is masked by WAVETANK_MASK"), "{refused}");
}

/// Starts a run in three worker processes against a slow target, and waits until all its
/// connections are open.
fn in_processes(trial: &RunHarness, target: &Target) -> Running {
    let way = Way { mask: "uring,unshare", engine: "epoll", files: "per_process" };
    let program = trial.load(&target.url("/"), ["-c", CONNECTIONS, "-d", "600s", "--no-probe"]);
    // Its own process group, as a shell gives to each job.
    let running = masked(program, way).under(["setsid", "prlimit", FILES]).start();
    target.wait_for("load", 60 * SECOND, |truth| truth.requests >= 1_500);
    running
}

/// Returns the processes that `running` started and that are still there.
fn children(running: &Running) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", running.id())).expect("it runs");
    let of_task = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children")).ok();
    let lists: Vec<String> = tasks.filter_map(|task| of_task(task.ok()?)).collect();
    lists.iter().flat_map(|list| list.split_whitespace()).map(|id| id.parse().expect("a number")).collect()
}

fn tools(test: &str) -> bool {
    let missing = ["prlimit", "setsid"].into_iter().find(|tool| Program::foreign(tool).is_none());
    if let Some(tool) = missing {
        skip(test, &format!("`{tool}` is not installed"));
    }
    missing.is_none()
}

fn signal(id: u32, signal: Signal, group: bool) {
    let id = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw).expect("an id of a process");
    let sent = if group {
        rustix::process::kill_process_group(id, signal)
    } else {
        rustix::process::kill_process(id, signal)
    };
    sent.expect("it is there, and ours");
}

#[test]
fn an_interrupt_of_the_whole_group_is_one() {
    if !tools("an_interrupt_of_the_whole_group_is_one") {
        return;
    }
    let (trial, target) = (trial(), Target::start(Script::constant(SECOND / 2)));
    let running = in_processes(&trial, &target);
    assert_eq!(children(&running).len(), 3);
    signal(running.id(), Signal::INT, true);
    let outcome = running.wait(60 * SECOND);
    let result = trial.check(&outcome, &target, 130);
    assert_eq!(result.count("requests.open"), 0, "heard once, it drains: {result}");
    assert_eq!(result.count("connections.lost"), 0, "{result}");
}

#[test]
fn a_lost_worker_process_is_reported_and_ends_the_run() {
    if !tools("a_lost_worker_process_is_reported_and_ends_the_run") {
        return;
    }
    let (trial, target) = (trial(), Target::start(Script::constant(SECOND / 2)));
    let running = in_processes(&trial, &target);
    signal(children(&running)[1], Signal::KILL, false);
    let outcome = running.wait(60 * SECOND);
    let result = outcome.expect_exit(4).result();
    assert_eq!(result.status(), "incomplete", "{result}");
    assert!(outcome.stdout.contains("ended by signal 9"), "{outcome}");
}

#[test]
fn worker_processes_end_with_their_maker() {
    if !tools("worker_processes_end_with_their_maker") {
        return;
    }
    let (trial, target) = (trial(), Target::start(Script::constant(SECOND / 2)));
    let running = in_processes(&trial, &target);
    assert_eq!(children(&running).len(), 3);
    running.signal(Signal::KILL);
    assert!(running.ends_within(60 * SECOND));
    // Their sockets are closed only after the processes are gone.
    target.wait_for("the end of all connections", 60 * SECOND, |truth| truth.open == 0);
}
