//! A client with the key of one agent that uses the broker as it likes: it reads nothing of the
//! others and steers none of them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event, HeaderMap};
use futures_util::StreamExt as _;
use wavetank_fleet::wire::{AgentFrame, ControllerFrame, encode_agent, encode_controller};
use wavetank_fleet::{
    AgentId, AgentMessage, AgentPayload, AgentState, Command, ControllerMessage, ControllerPayload, RunId,
};
use wavetank_link::{AgentLinkEvent, StreamEvent};
use wavetank_nats::{NatsAgentLink, NatsLink, Subjects};

use crate::LONG;
use crate::broker::TestBroker;

/// How long the client looks for a message at a time.
const TURN: Duration = Duration::from_millis(10);

/// A client of `load1` without our link, and the refusals that the broker sent it.
struct Thief {
    client: Client,
    refusals: Arc<Mutex<Vec<String>>>,
}

impl Thief {
    async fn connect(broker: &TestBroker) -> Self {
        let refusals: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&refusals);
        let options = ConnectOptions::with_nkey(broker.files.agents[0].seed().to_owned())
            .require_tls(true)
            .add_root_certificates(broker.ca_file().into())
            .event_callback(move |event| {
                if let Event::ServerError(error) = event {
                    seen.lock().expect("nothing panics").push(error.to_string());
                }
                std::future::ready(())
            });
        Self { client: options.connect(broker.url()).await.expect("the key is known"), refusals }
    }

    /// Publishes `line` as our link does.
    async fn publish(&self, subject: String, line: String) {
        let mut headers = HeaderMap::new();
        headers.insert("Wavetank-From", "0000000000000007 1");
        headers.insert("Wavetank-Packet", "part 1 0 1");
        self.client.publish_with_headers(subject, headers, line.into()).await.expect("it is connected");
    }

    /// Returns once the broker has answered all that was sent to it.
    async fn flush(&self) {
        self.client.flush().await.expect("it is connected");
    }

    fn refusals(&self) -> Vec<String> {
        self.refusals.lock().expect("nothing panics").clone()
    }
}

fn lease(seen: u64) -> ControllerFrame {
    let order = ControllerPayload::Lease { seen };
    ControllerFrame { message: ControllerMessage { run: RunId(7), epoch: 1, order }, plan: None }
}

fn state(state: AgentState) -> AgentFrame {
    let message = AgentMessage { run: RunId(7), epoch: 1, report: AgentPayload::State { state } };
    AgentFrame { message, interval: None }
}

/// What an agent hears next.
#[track_caller]
fn next_order(agent: &NatsAgentLink) -> ControllerFrame {
    let mut events = std::iter::from_fn(|| agent.receive(LONG));
    let frame = events.find_map(|event| match event {
        AgentLinkEvent::Frame(frame) => Some(frame),
        AgentLinkEvent::Connected | AgentLinkEvent::Disconnected { .. } => None,
        AgentLinkEvent::OtherVersion { found } => panic!("version {found}"),
    });
    frame.expect("a message arrives")
}

#[track_caller]
fn connected(link: &NatsLink) -> AgentId {
    let mut events = std::iter::from_fn(|| link.receive(LONG));
    let session = events.find_map(|event| match event {
        StreamEvent::Connected { agent, .. } => Some(agent),
        StreamEvent::Unreachable { .. } | StreamEvent::Disconnected { .. } => None,
        other => panic!("{other:?}"),
    });
    session.expect("the agent connects")
}

#[test]
fn a_stolen_key_cannot_reach_other_agents() {
    let test = "a_stolen_key_cannot_reach_other_agents";
    let Some(broker) = TestBroker::start(test, &["load1", "load2"]) else { return };
    let subjects = Subjects::new("dc1");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let thief = runtime.block_on(Thief::connect(&broker));
    let wanted = [
        ">".to_owned(),
        "*.*.*.*.*".to_owned(),
        "_INBOX.>".to_owned(),
        subjects.command("load2"),
        subjects.report("load2"),
        subjects.report("load1"),
        subjects.commands(),
        subjects.reports(),
    ];
    let mut subscriptions = Vec::new();
    runtime.block_on(async {
        for subject in &wanted {
            subscriptions.push(thief.client.subscribe(subject.clone()).await.expect("it is connected"));
        }
        thief.flush().await;
    });

    let agent = NatsAgentLink::start(broker.agent("load2"), "load2", None).expect("a link");
    let link = NatsLink::start(broker.controller(), vec!["load2".to_owned()]).expect("a link");
    let session = connected(&link);
    // A stop for the other agent, as its controller would send it, and a report in its name.
    let order = ControllerPayload::Command { seq: 1, command: Command::Stop };
    let stop = encode_controller(&ControllerMessage { run: RunId(7), epoch: 9, order }, None);
    let forged = encode_agent(&state(AgentState::Sealed).message, None).expect("a message");
    runtime.block_on(async {
        thief.publish(subjects.command("load2"), stop).await;
        thief.publish(subjects.report("load2"), forged).await;
        thief.flush().await;
    });
    // What controller and agent hear next is what they sent each other.
    link.send(session, lease(1)).expect("it is connected");
    assert_eq!(next_order(&agent), lease(1));
    agent.send(state(AgentState::Running)).expect("it is connected");
    assert_eq!(
        link.receive(LONG),
        Some(StreamEvent::Frame { agent: session, frame: state(AgentState::Running) })
    );

    // The broker refuses all of it, by name, and nothing of the exchange arrives.
    let expected = wanted.len() + 2;
    let refused = wavetank_testkit::poll_until(LONG, || {
        for (subscription, subject) in subscriptions.iter_mut().zip(&wanted) {
            let next = async { tokio::time::timeout(TURN, subscription.next()).await };
            assert!(!matches!(runtime.block_on(next), Ok(Some(_))), "{subject} is readable");
        }
        (thief.refusals().len() >= expected).then(|| thief.refusals())
    });
    let refused = refused.unwrap_or_else(|| panic!("{:?}", thief.refusals()));
    let count = |kind: &str| refused.iter().filter(|text| text.to_lowercase().contains(kind)).count();
    let counts =
        (count("permissions violation for subscription"), count("permissions violation for publish"));
    assert_eq!(counts, (wanted.len(), 2), "{refused:?}");
}
