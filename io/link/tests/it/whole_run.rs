//! The state machines of controller and agents carry out a run over processes and sockets.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use wavetank_driver::Clock;
use wavetank_fleet::wire::{AgentFrame, ControllerFrame};
use wavetank_fleet::{
    Agent, AgentAction, AgentMessage, AgentPayload, AgentSetup, AgentState, Capabilities, Clocks, Command,
    Controller, ControllerAction, ControllerNotice, ControllerPayload, Identity, Member, Members, Outcome,
    RunId, RunSetup,
};
use wavetank_link::{AgentLinkEvent, AgentListener, StreamEvent, StreamHost, StreamLink};
use wavetank_units::Nanos;

use crate::bridge_process::bridge_command;

const PLAN: &str = "cGxhbg==";
const INTERVALS: u64 = 3;
/// Longest turn of a loop.
const TURN: Duration = Duration::from_millis(50);

/// Runs an agent until its run is settled. Returns how many offers came with a plan.
fn run_agent(name: &str, folder: &Path) -> u32 {
    let clock = Clock::starting_now();
    let capabilities = Capabilities { cores: 1, ..Capabilities::default() };
    let identity = Identity { version: "0.1.0".to_owned(), name: name.to_owned(), instance: 5, capabilities };
    let mut agent = Agent::new(AgentSetup { identity, shares_process: false, spools: true }, clock.now());
    let listener = AgentListener::bind(folder).expect("it listens");
    let (mut plans, mut sealed) = (0, 0);
    loop {
        match listener.receive(TURN) {
            Some(AgentLinkEvent::Connected) => agent.handle_connected(clock.now()),
            Some(AgentLinkEvent::Frame(frame)) => {
                plans += u32::from(frame.plan.is_some_and(|plan| &*plan == PLAN));
                agent.handle_message(frame.message, clock.now());
            }
            _ => {}
        }
        agent.handle_timeout(clock.now());
        if agent.state() == AgentState::Running {
            if sealed < INTERVALS {
                agent.handle_sealed(sealed, clock.now());
                sealed += 1;
            } else {
                agent.handle_finished("digest", clock.now());
            }
        }
        let mut is_over = false;
        while let Some(action) = agent.poll() {
            match action {
                AgentAction::Send(message) => {
                    is_over |= message.report == AgentPayload::Cleared;
                    let interval = interval_of(&message);
                    // Without a connection it is lost, and repeated.
                    let _ = listener.send(AgentFrame { message, interval });
                }
                AgentAction::Prepare { plan_hash, .. } => {
                    assert!(plans > 0, "the plan came with the offer");
                    agent.handle_prepared(Ok(plan_hash), clock.now());
                }
                _ => {}
            }
        }
        if is_over {
            // The controller closes the connection after it has read the last message.
            while let Some(event) = listener.receive(crate::LONG) {
                if matches!(event, AgentLinkEvent::Disconnected { .. }) {
                    return plans;
                }
            }
        }
    }
}

fn interval_of(message: &AgentMessage) -> Option<String> {
    match message.report {
        AgentPayload::Sealed { seq } => Some(format!(r#"{{"interval": {seq}}}"#)),
        _ => None,
    }
}

/// Runs the controller to its end. As soon as the first interval arrives, the bridge with the
/// number in `victim` is killed.
fn run_controller(link: &StreamLink, members: Vec<Member>, victim: &Path) -> (Outcome, u32) {
    let clock = Clock::starting_now();
    let minutes = Nanos::from_secs(300);
    let setup = RunSetup {
        gather_max: minutes,
        prepare_max: minutes,
        margin: Nanos::from_secs(4),
        orphan_grace: minutes,
        clocks: Clocks::Measured { tolerance: minutes },
        ..RunSetup::fleet(RunId(9), 1, "0.1.0", "hash", Members::Named(members))
    };
    let mut controller = Controller::new(setup, clock.now());
    let plan: Arc<str> = PLAN.into();
    let (mut killed, mut disconnected) = (false, 0);
    loop {
        match link.receive(TURN) {
            Some(StreamEvent::Frame { agent, frame }) => {
                assert_eq!(frame.interval, interval_of(&frame.message));
                controller.handle_message(agent, frame.message, clock.now());
            }
            Some(StreamEvent::Disconnected { .. }) => disconnected += 1,
            _ => {}
        }
        controller.handle_timeout(clock.now());
        while let Some(action) = controller.poll() {
            match action {
                ControllerAction::Send { to, message } => {
                    let is_offer = matches!(
                        message.order,
                        ControllerPayload::Command { command: Command::Offer { .. }, .. }
                    );
                    let plan = is_offer.then(|| Arc::clone(&plan));
                    // To a connection that has ended it is lost, and repeated.
                    let _ = link.send(to, ControllerFrame { message, plan });
                }
                ControllerAction::Archive(outcome) => {
                    let digests = vec!["digest".to_owned(); outcome.agents.len()];
                    controller.handle_archived(&digests, clock.now());
                }
                ControllerAction::Notify(ControllerNotice::Delivered { .. }) if !killed => {
                    killed = true;
                    let number = std::fs::read_to_string(victim).expect("the bridge has a number");
                    let pid = number.parse().ok().and_then(Pid::from_raw).expect("a number");
                    kill_process(pid, Signal::KILL).expect("the bridge runs");
                }
                ControllerAction::Notify(ControllerNotice::Over(outcome)) => return (outcome, disconnected),
                ControllerAction::Notify(_) | ControllerAction::Journal(_) => {}
            }
        }
    }
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
        .map(|(name, folder)| std::thread::spawn(move || run_agent(name, &folder)))
        .collect();
    let hosts = names.iter().zip(folders).zip(pid_files.clone()).map(|((name, folder), file)| StreamHost {
        name: (*name).to_owned(),
        command: Box::new(move || bridge_command(&folder, &file)),
    });
    let link = StreamLink::start(hosts.collect(), 2).expect("a link");
    let members = names.iter().map(|name| Member::new(*name)).collect();
    let (outcome, disconnected) = run_controller(&link, members, &pid_files[1]);
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
