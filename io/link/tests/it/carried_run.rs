//! The state machines of controller and agents, which carry out a run over any link.

use std::sync::Arc;
use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_fleet::wire::{AgentFrame, ControllerFrame};
use wavetank_fleet::{
    Agent, AgentAction, AgentId, AgentMessage, AgentPayload, AgentSetup, AgentState, Capabilities, Clocks,
    Command, Controller, ControllerAction, ControllerNotice, ControllerPayload, Identity, Member, Members,
    Outcome, RunId, RunSetup,
};
use wavetank_link::{AgentLinkEvent, Closed, StreamEvent};
use wavetank_units::Nanos;

/// Intervals of each agent.
pub(crate) const INTERVALS: u64 = 3;
/// Longest turn of a loop.
const TURN: Duration = Duration::from_millis(50);

/// What the run transfers.
#[derive(Clone)]
pub(crate) struct RunContent {
    pub(crate) plan: Arc<str>,
    /// Returns the interval with this number.
    pub(crate) interval: fn(u64) -> String,
}

impl RunContent {
    fn interval_of(&self, message: &AgentMessage) -> Option<String> {
        match message.report {
            AgentPayload::Sealed { seq } => Some((self.interval)(seq)),
            _ => None,
        }
    }
}

/// Runs an agent until its run is settled. Returns how many offers came with a plan.
pub(crate) fn run_agent(
    name: &str,
    content: &RunContent,
    receive: impl Fn(Duration) -> Option<AgentLinkEvent>,
    send: impl Fn(AgentFrame) -> Result<(), Closed>,
) -> u32 {
    let clock = Clock::starting_now();
    let capabilities = Capabilities { cores: 1, ..Capabilities::default() };
    let identity = Identity { version: "0.1.0".to_owned(), name: name.to_owned(), instance: 5, capabilities };
    let mut agent = Agent::new(AgentSetup { identity, shares_process: false, spools: true }, clock.now());
    let (mut plans, mut sealed) = (0, 0);
    loop {
        match receive(TURN) {
            Some(AgentLinkEvent::Connected) => agent.handle_connected(clock.now()),
            Some(AgentLinkEvent::Frame(frame)) => {
                plans += u32::from(frame.plan.is_some_and(|plan| plan == content.plan));
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
                    let interval = content.interval_of(&message);
                    // Without a connection it is lost, and repeated.
                    let _ = send(AgentFrame { message, interval });
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
            while let Some(event) = receive(crate::LONG) {
                if matches!(event, AgentLinkEvent::Disconnected { .. }) {
                    return plans;
                }
            }
        }
    }
}

/// Runs the controller to its end. `disturb` is called as soon as the first interval arrives.
/// Returns the outcome and how often an agent was disconnected.
pub(crate) fn run_controller(
    members: &[&str],
    content: &RunContent,
    receive: impl Fn(Duration) -> Option<StreamEvent>,
    send: impl Fn(AgentId, ControllerFrame) -> Result<(), Closed>,
    disturb: impl FnOnce(),
) -> (Outcome, u32) {
    let clock = Clock::starting_now();
    let minutes = Nanos::from_secs(300);
    let setup = RunSetup {
        gather_max: minutes,
        prepare_max: minutes,
        margin: Nanos::from_secs(4),
        orphan_grace: minutes,
        clocks: Clocks::Measured { tolerance: minutes },
        ..RunSetup::fleet(
            RunId(9),
            1,
            "0.1.0",
            "hash",
            Members::Named(members.iter().map(|name| Member::new(*name)).collect()),
        )
    };
    let mut controller = Controller::new(setup, clock.now());
    let (mut disturb, mut disconnected) = (Some(disturb), 0);
    loop {
        match receive(TURN) {
            Some(StreamEvent::Frame { agent, frame }) => {
                assert_eq!(frame.interval, content.interval_of(&frame.message));
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
                    let plan = is_offer.then(|| Arc::clone(&content.plan));
                    // To a connection that has ended it is lost, and repeated.
                    let _ = send(to, ControllerFrame { message, plan });
                }
                ControllerAction::Archive(outcome) => {
                    let digests = vec!["digest".to_owned(); outcome.agents.len()];
                    controller.handle_archived(&digests, clock.now());
                }
                ControllerAction::Notify(ControllerNotice::Delivered { .. }) => {
                    disturb.take().into_iter().for_each(|disturb| disturb());
                }
                ControllerAction::Notify(ControllerNotice::Over(outcome)) => return (outcome, disconnected),
                ControllerAction::Notify(_) | ControllerAction::Journal(_) => {}
            }
        }
    }
}
