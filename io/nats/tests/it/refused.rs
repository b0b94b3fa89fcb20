//! What the broker refuses: other agents' subjects, unknown keys, expired certificates.

use wavetank_fleet::AgentId;
use wavetank_link::{AgentLinkEvent, StreamEvent};
use wavetank_nats::{Broker, NatsAgentLink, NatsKey, NatsLink};

use crate::LONG;
use crate::broker::TestBroker;

/// Checks that an agent's link reports this reason, which has no part of a seed.
#[track_caller]
fn check_refused(broker: Broker, name: &str, part: &str) {
    let link = NatsAgentLink::start(broker, name, None).expect("a link");
    match link.receive(LONG) {
        Some(AgentLinkEvent::Disconnected { reason }) => {
            assert!(reason.contains(part) && !reason.contains("SU"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_key_opens_only_its_own_subjects() {
    let Some(broker) = TestBroker::start("a_key_opens_only_its_own_subjects", &["load1", "load2"]) else {
        return;
    };
    // As load2 it could read the orders for it, and report in its name.
    check_refused(broker.agent("load1"), "load2", "Permissions Violation for Subscription");
    // As a controller it could read all reports, and order all agents around.
    let link = NatsLink::start(broker.agent("load1"), vec!["load2".to_owned()]).expect("a link");
    match link.receive(LONG) {
        Some(StreamEvent::Unreachable { reason, .. }) => {
            assert!(reason.contains("Permissions Violation"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    assert!(broker.log().contains("Violation"), "{}", broker.log());
}

#[test]
fn an_unknown_key_is_refused() {
    let Some(broker) = TestBroker::start("an_unknown_key_is_refused", &["load1"]) else { return };
    let key = NatsKey::generate().expect("a key");
    check_refused(broker.with_key(key), "load1", "authorization violation");
}

#[test]
fn an_expired_certificate_is_refused() {
    let test = "an_expired_certificate_is_refused";
    let Some(mut broker) = TestBroker::prepare(test, &["load1"], (2020, 1, 1)) else { return };
    broker.start_again();
    check_refused(broker.agent("load1"), "load1", "expired");
}

#[test]
fn a_broker_of_another_authority_is_refused() {
    let test = "a_broker_of_another_authority_is_refused";
    let Some(broker) = TestBroker::start(test, &["load1"]) else { return };
    let place = tempfile::tempdir().expect("a folder");
    let other = TestBroker::prepare(test, &["load1"], (2200, 1, 1)).expect("it is installed");
    let ca = place.path().join("ca.pem");
    std::fs::write(&ca, &other.files.ca).expect("a file");
    let broker = Broker::new(&broker.url(), "dc1", broker.files.agents[0].clone(), &ca).expect("a broker");
    check_refused(broker, "load1", "invalid peer certificate");
}

#[test]
fn a_broker_that_is_not_there_is_tried_again() {
    let test = "a_broker_that_is_not_there_is_tried_again";
    let Some(mut broker) = TestBroker::prepare(test, &["load1"], (2200, 1, 1)) else { return };
    let link = NatsLink::start(broker.controller(), vec!["load1".to_owned()]).expect("a link");
    let agent = NatsAgentLink::start(broker.agent("load1"), "load1", None).expect("a link");
    for _ in 0..2 {
        match link.receive(LONG) {
            Some(StreamEvent::Unreachable { host: 0, reason }) => {
                assert!(reason.contains("refused"), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(link.failures()[0].name, "load1");
    broker.start_again();
    let connected = std::iter::from_fn(|| link.receive(LONG))
        .find(|event| !matches!(event, StreamEvent::Unreachable { .. }));
    assert_eq!(connected, Some(StreamEvent::Connected { agent: AgentId(0), host: 0 }));
    let reported = std::iter::from_fn(|| agent.receive(LONG))
        .find(|event| !matches!(event, AgentLinkEvent::Disconnected { .. }));
    assert_eq!(reported, Some(AgentLinkEvent::Connected));
}
