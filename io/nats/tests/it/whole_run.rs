//! A run over a broker is complete.

use wavetank_nats::{NatsAgentLink, NatsLink};

use crate::broker::TestBroker;
use crate::carried_run::{INTERVALS, RunContent, run_agent, run_controller};

/// Bytes of the plan: many pieces.
const PLAN_BYTES: usize = 6 << 20;
/// Bytes of the last interval: several parts.
const LONG_INTERVAL_BYTES: usize = 3 << 20;

fn content() -> RunContent {
    let interval = |seq| {
        let filler = "x".repeat(if seq + 1 == INTERVALS { LONG_INTERVAL_BYTES } else { 0 });
        format!(r#"{{"interval": {seq}, "filler": "{filler}"}}"#)
    };
    RunContent { plan: "cGxhbg==".repeat(PLAN_BYTES / 8).into(), interval }
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
            std::thread::spawn(move || {
                let link = NatsAgentLink::start(broker, name, None).expect("a link");
                run_agent(name, &content(), |wait| link.receive(wait), |frame| link.send(frame))
            })
        })
        .collect();
    let link = NatsLink::start(broker.controller(), names.map(str::to_owned).to_vec()).expect("a link");
    let restart_broker = || {
        broker.kill();
        broker.start_again();
    };
    let (outcome, disconnected) = run_controller(
        &names,
        &content(),
        |wait| link.receive(wait),
        |to, frame| link.send(to, frame),
        restart_broker,
    );
    assert!(outcome.is_complete(), "{outcome:?}");
    assert!(outcome.agents.iter().all(|agent| agent.intervals == INTERVALS), "{outcome:?}");
    assert!(disconnected >= 2, "the broker was killed");
    assert_eq!(link.failures(), []);
    drop(link);
    for agent in agents {
        assert!(agent.join().expect("the agent ended well") >= 1);
    }
}
