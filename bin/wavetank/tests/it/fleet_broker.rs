//! A run of two agents over a broker: the real nats-server, in a network of its own.

use std::time::Duration;

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{Program, Running, TestDir, poll_until, skip};

use crate::fleet_hosts::START_TOLERANCE;

const LIMIT: Duration = Duration::from_mins(2);
/// The only address of the network that is not a loopback address: fleets refuse those.
const ADDRESS: &str = "10.99.0.1";
const PORT: u16 = 4222;

/// A network that exists as long as its first process.
struct Network(Running);

impl Network {
    fn start() -> Self {
        let script = format!("ip link set lo up; ip addr add {ADDRESS}/32 dev lo; echo up; exec sleep 3600");
        let first = NetNs::shell("sh", &script).start();
        assert!(
            poll_until(LIMIT, || first.stdout().contains("up").then_some(())).is_some(),
            "{}",
            first.stderr()
        );
        Self(first)
    }

    /// `program` in this network.
    fn enter(&self, program: Program) -> Program {
        program.under(["nsenter", &format!("--net=/proc/{}/ns/net", self.0.id())])
    }
}

fn wavetank(place: &TestDir, words: &str) -> Program {
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(place.path());
    program.args(words.split_whitespace())
}

#[track_caller]
fn wait_for(running: &Running, text: &str) {
    let found = poll_until(LIMIT, || {
        let ended = running.ends_within(Duration::ZERO);
        let found = running.stderr().contains(text) || running.stdout().contains(text);
        (ended || found).then_some(found)
    });
    assert_eq!(found, Some(true), "{} {}", running.stdout(), running.stderr());
}

#[test]
fn two_agents_carry_out_a_run_over_a_broker() {
    let test = "two_agents_carry_out_a_run_over_a_broker";
    let Some(server) = Program::foreign("nats-server") else {
        return skip(test, "nats-server is not installed");
    };
    if !NetNs::available(test) {
        return;
    }
    let (place, network) = (TestDir::new(), Network::start());
    let file = format!(
        "wavetank_fleet: 1\nname: dc1\nlink: nats://{ADDRESS}:{PORT}\nallow: [{ADDRESS}]\nload:\n  load[1-2]: {{}}\n"
    );
    place.write("dc1.yaml", file);
    let made = wavetank(&place, "fleet broker init --fleet dc1.yaml").run();
    assert!(made.expect_exit(0).stdout.contains("start it: nats-server -c "), "{made}");
    let again = wavetank(&place, "fleet broker init --fleet dc1.yaml").run();
    assert!(again.expect_exit(5).stderr.contains("cannot make"));

    let broker = network.enter(server.args(["-c", &place.file("dc1.broker/nats-server.conf")])).start();
    wait_for(&broker, "Server is ready");
    let target = network.enter(wavetank(&place, &format!("serve --listen {ADDRESS}:8080"))).start();
    wait_for(&target, "8080");
    let agents = ["load1", "load2"].map(|name| {
        let words = format!(
            "agent serve --dir {name} --name {name} --allow {ADDRESS} --link nats://{ADDRESS}:{PORT} --nats-fleet dc1 \
             --nats-ca dc1.broker/ca.pem --nats-seed dc1.broker/agent-{name}.seed"
        );
        network.enter(wavetank(&place, &words)).start()
    });
    for agent in &agents {
        wait_for(agent, "listens in");
    }
    // The agents are free for a second run after the first one.
    for _ in 0..2 {
        let words = format!(
            "run http://{ADDRESS}:8080/ --fleet dc1.yaml -r 100/s -d 3s --start-tolerance {START_TOLERANCE} \
             --format json"
        );
        let outcome = network.enter(wavetank(&place, &words)).run();
        // A machine with other work may make the run late, so the exit code is not judged.
        let result = outcome.json();
        assert_eq!(result["requests"]["done"], 300, "{outcome}");
        assert_eq!(result["fleet"]["status"], "complete", "{outcome}");
        let sent: Vec<_> = (0..2).map(|agent| result["fleet"]["agents"][agent]["sent"].as_u64()).collect();
        assert_eq!(sent, [Some(150), Some(150)], "{outcome}");
    }
    for (agent, name) in agents.iter().zip(["load1", "load2"]) {
        assert!(agent.stderr().contains("prepares a share of 1 of 2"), "{name}: {}", agent.stderr());
        assert!(!agent.stderr().contains("SU"), "{}", agent.stderr());
    }
}
