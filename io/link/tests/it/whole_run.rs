//! A run over processes and sockets is complete.

use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use wavetank_link::{AgentListener, StreamHost, StreamLink};

use crate::bridge_process::bridge_command;
use crate::carried_run::{INTERVALS, RunContent, run_agent, run_controller};

fn content() -> RunContent {
    RunContent { plan: "cGxhbg==".into(), interval: |seq| format!(r#"{{"interval": {seq}}}"#) }
}

#[test]
fn a_run_is_complete_although_a_connection_breaks() {
    let place = tempfile::tempdir().expect("a folder");
    let names: [&str; 2] = ["load1", "load2"];
    let folders: Vec<PathBuf> = names.iter().map(|name| place.path().join(name)).collect();
    let pid_files: Vec<PathBuf> = names.iter().map(|name| place.path().join(format!("{name}.pid"))).collect();
    let agents: Vec<_> = names
        .into_iter()
        .zip(folders.clone())
        .map(|(name, folder)| {
            std::thread::spawn(move || {
                let listener = AgentListener::bind(&folder).expect("it listens");
                run_agent(name, &content(), |wait| listener.receive(wait), |frame| listener.send(frame))
            })
        })
        .collect();
    let hosts = names.iter().zip(folders).zip(pid_files.clone()).map(|((name, folder), file)| StreamHost {
        name: (*name).to_owned(),
        command: Box::new(move || bridge_command(&folder, &file)),
    });
    let link = StreamLink::start(hosts.collect(), 2).expect("a link");
    let kill_bridge = || {
        let number = std::fs::read_to_string(&pid_files[1]).expect("the bridge has a number");
        let pid = number.parse().ok().and_then(Pid::from_raw).expect("a number");
        kill_process(pid, Signal::KILL).expect("the bridge runs");
    };
    let (outcome, disconnected) = run_controller(
        &names,
        &content(),
        |wait| link.receive(wait),
        |to, frame| link.send(to, frame),
        kill_bridge,
    );
    assert!(outcome.is_complete(), "{outcome:?}");
    assert!(outcome.agents.iter().all(|agent| agent.intervals == INTERVALS), "{outcome:?}");
    assert!(disconnected >= 1, "the bridge was killed");
    assert_eq!(link.overflowed(), 0);
    drop(link);
    for agent in agents {
        // An offer that was repeated on the same connection has no plan.
        assert_eq!(agent.join().expect("the agent ended well"), 1);
    }
}
