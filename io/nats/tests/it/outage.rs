//! Connections that end and begin again, on either side.

use std::time::Duration;

use wavetank_fleet::wire::{AgentFrame, ControllerFrame};
use wavetank_fleet::{AgentId, AgentMessage, AgentPayload, ControllerMessage, ControllerPayload, RunId};
use wavetank_link::{AgentLinkEvent, Closed, StreamEvent};
use wavetank_nats::{NatsAgentLink, NatsLink};

use crate::LONG;
use crate::broker::TestBroker;

fn lease(seen: u64) -> ControllerFrame {
    let order = ControllerPayload::Lease { seen };
    ControllerFrame { message: ControllerMessage { run: RunId(7), epoch: 1, order }, plan: None }
}

fn sealed(seq: u64) -> AgentFrame {
    let message = AgentMessage { run: RunId(7), epoch: 1, report: AgentPayload::Sealed { seq } };
    AgentFrame { message, interval: Some(format!(r#"{{"seq":{seq}}}"#)) }
}

/// Returns the next session that the controller sees.
#[track_caller]
fn connected(link: &NatsLink) -> AgentId {
    let mut events = std::iter::from_fn(|| link.receive(LONG));
    let session = events.find_map(|event| match event {
        StreamEvent::Connected { agent, host: 0 } => Some(agent),
        StreamEvent::Unreachable { .. } | StreamEvent::Disconnected { .. } => None,
        other => panic!("{other:?}"),
    });
    session.expect("the agent connects")
}

/// Messages go both ways.
#[track_caller]
fn check_exchange(link: &NatsLink, agent: &NatsAgentLink, session: AgentId, number: u64) {
    assert_eq!(link.send(session, lease(number)), Ok(()));
    let received = std::iter::from_fn(|| agent.receive(LONG)).find_map(|event| match event {
        AgentLinkEvent::Frame(frame) => Some(frame),
        _ => None,
    });
    assert_eq!(received, Some(lease(number)));
    assert_eq!(agent.send(sealed(number)), Ok(()));
    assert_eq!(link.receive(LONG), Some(StreamEvent::Frame { agent: session, frame: sealed(number) }));
}

#[test]
fn each_connection_is_a_session_of_its_own() {
    let test = "each_connection_is_a_session_of_its_own";
    let Some(mut broker) = TestBroker::start(test, &["load1", "load2"]) else { return };
    let agent = NatsAgentLink::start(broker.agent("load1"), "load1", None).expect("a link");
    assert_eq!(agent.send(sealed(0)), Err(Closed), "no controller is connected");
    let names = || vec!["load1".to_owned()];
    let link = NatsLink::start(broker.controller(), names()).expect("a link");
    let first = connected(&link);
    check_exchange(&link, &agent, first, 1);
    // An agent that the run leaves out is not heard.
    let other = NatsAgentLink::start(broker.agent("load2"), "load2", None).expect("a link");
    assert_eq!(other.receive(Duration::ZERO), None);

    broker.kill();
    match link.receive(LONG) {
        Some(StreamEvent::Disconnected { agent, host: 0, .. }) => assert_eq!(agent, first),
        other => panic!("{other:?}"),
    }
    assert_eq!(link.send(first, lease(2)), Err(Closed));
    broker.start_again();
    let second = connected(&link);
    assert!(second != first && link.send(first, lease(2)) == Err(Closed));
    // Each side connects on its own, so the agent may begin more than one session.
    let mut session = second;
    while let Some(event) = link.receive(Duration::from_secs(5)) {
        if let StreamEvent::Connected { agent, .. } = event {
            session = agent;
        }
    }
    check_exchange(&link, &agent, session, 3);

    // The agent's process is replaced.
    drop(agent);
    match link.receive(LONG) {
        Some(StreamEvent::Disconnected { reason, .. }) => assert_eq!(reason, "the agent ended"),
        other => panic!("{other:?}"),
    }
    let agent = NatsAgentLink::start(broker.agent("load1"), "load1", None).expect("a link");
    let third = connected(&link);
    check_exchange(&link, &agent, third, 4);

    // The controller's process is replaced.
    drop(link);
    assert_eq!(
        agent.receive(LONG),
        Some(AgentLinkEvent::Disconnected { reason: "the controller ended".to_owned() })
    );
    let link = NatsLink::start(broker.controller(), names()).expect("a link");
    check_exchange(&link, &agent, connected(&link), 5);
    assert_eq!((link.overflowed(), agent.overflowed()), (0, 0));
}
