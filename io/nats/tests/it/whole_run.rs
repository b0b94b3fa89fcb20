//! The state machines of controller and agents carry out a run over a broker.

use std::sync::Arc;
use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_fleet::wire::{AgentFrame, ControllerFrame};
use wavetank_fleet::{
    Agent, AgentAction, AgentMessage, AgentPayload, AgentSetup, AgentState, Capabilities, Clocks, Command,
    Controller, ControllerAction, ControllerNotice, ControllerPayload, Identity, Member, Members, Outcome,
    RunId, RunSetup,
};
use wavetank_link::{AgentLinkEvent, StreamEvent};
use wavetank_nats::{Broker, NatsAgentLink, NatsLink};
use wavetank_units::Nanos;

use crate::broker::TestBroker;

/// Bytes of the plan: many pieces.
const PLAN_BYTES: usize = 6 << 20;
/// Bytes of the last interval: several parts.
const LONG_INTERVAL_BYTES: usize = 3 << 20;
const INTERVALS: u64 = 3;
/// Longest turn of a loop.
const TURN: Duration = Duration::from_millis(50);

/// Runs an agent until its run is settled. Returns how many offers came with a plan.
fn run_agent(name: &str, broker: Broker) -> u32 {
    let clock = Clock::starting_now();
    let capabilities = Capabilities { cores: 1, ..Capabilities::default() };
    let identity = Identity { version: "0.1.0".to_owned(), name: name.to_owned(), instance: 5, capabilities };
    let mut agent = Agent::new(AgentSetup { identity, shares_process: false, spools: true }, clock.now());
    let link = NatsAgentLink::start(broker, name, None).expect("a link");
    let (mut plans, mut sealed) = (0, 0);
    loop {
        match link.receive(TURN) {
            Some(AgentLinkEvent::Connected) => agent.handle_connected(clock.now()),
            Some(AgentLinkEvent::Frame(frame)) => {
                plans += u32::from(frame.plan.is_some_and(|text| text == plan()));
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
                    let _ = link.send(AgentFrame { message, interval });
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
            while let Some(event) = link.receive(crate::LONG) {
                if matches!(event, AgentLinkEvent::Disconnected { .. }) {
                    return plans;
                }
            }
        }
    }
}

fn plan() -> Arc<str> {
    "cGxhbg==".repeat(PLAN_BYTES / 8).into()
}

fn interval_of(message: &AgentMessage) -> Option<String> {
    match message.report {
        AgentPayload::Sealed { seq } => {
            let filler = "x".repeat(if seq + 1 == INTERVALS { LONG_INTERVAL_BYTES } else { 0 });
            Some(format!(r#"{{"interval": {seq}, "filler": "{filler}"}}"#))
        }
        _ => None,
    }
}

/// Runs the controller to its end. As soon as the first interval arrives, the broker is killed and
/// started again.
fn run_controller(link: &NatsLink, members: Vec<Member>, broker: &mut TestBroker) -> (Outcome, u32) {
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
    let plan = plan();
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
                    broker.kill();
                    broker.start_again();
                }
                ControllerAction::Notify(ControllerNotice::Over(outcome)) => return (outcome, disconnected),
                ControllerAction::Notify(_) | ControllerAction::Journal(_) => {}
            }
        }
    }
}

#[test]
fn a_run_is_complete_although_the_broker_is_killed() {
    let names = ["load1", "load2.example"];
    let Some(mut broker) = TestBroker::start("a_run_is_complete_although_the_broker_is_killed", &names)
    else {
        return;
    };
    let agents: Vec<_> = names
        .into_iter()
        .map(|name| {
            let broker = broker.agent(name);
            std::thread::spawn(move || run_agent(name, broker))
        })
        .collect();
    let link = NatsLink::start(broker.controller(), names.map(str::to_owned).to_vec()).expect("a link");
    let members = names.iter().map(|name| Member::new(*name)).collect();
    let (outcome, disconnected) = run_controller(&link, members, &mut broker);
    assert!(outcome.is_complete(), "{outcome:?}");
    assert!(outcome.agents.iter().all(|agent| agent.intervals == INTERVALS), "{outcome:?}");
    assert!(disconnected >= 2, "the broker was killed");
    assert_eq!(link.failures(), []);
    drop(link);
    for agent in agents {
        assert!(agent.join().expect("the agent ended well") >= 1);
    }
}
