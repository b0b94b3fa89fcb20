//! A thousand agents that replay intervals: what they cost the controller.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_fleet::wire::AgentFrame;
use wavetank_fleet::{Agent, AgentAction, AgentPayload, AgentSetup, Capabilities, Identity};
use wavetank_link::AgentLinkEvent;
use wavetank_nats::{Broker, NatsAgentLink, NatsKey};
use wavetank_store::LineDigest;
use wavetank_testkit::{Program, Running, Script, is_long, poll_until, skip};
use wavetank_units::Nanos;

use crate::fleet_broker_faults::{HostsBroker, LINK};
use crate::fleet_hosts::{FleetHosts, target, with_hosts};

const AGENTS: usize = 1_000;
const AGENTS_SHORT: usize = 8;
/// Twenty steps, for ten seconds.
const STEPS: usize = 20;
const SECONDS: u64 = 10;
/// All agents prepare and settle within this time, also in a debug build.
const LIMIT: Duration = Duration::from_mins(8);
/// Longest wait for a message.
const TURN: Duration = Duration::from_millis(200);

/// What all agents replay: the intervals of a run on one host.
struct Replay {
    lines: Vec<String>,
    /// Requests that were answered in it.
    done: u64,
    folder: PathBuf,
}

impl Replay {
    fn lines_of(&self, name: &str) -> Vec<String> {
        let own = format!("\"agent\":\"{name}\"");
        self.lines.iter().map(|line| line.replacen("\"agent\":\"local\"", &own, 1)).collect()
    }

    fn broker(&self, name: &str) -> Broker {
        let key = NatsKey::read(&self.folder.join(format!("agent-{name}.seed"))).expect("a seed");
        Broker::new(LINK, "dc1", key, &self.folder.join("ca.pem")).expect("a broker")
    }
}

/// An agent that sends nothing but what it replays, until its run is settled.
fn replay(replay: &Replay, name: &str, instance: u64) {
    let clock = Clock::starting_now();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let capabilities = Capabilities { cores: 1, files: 1 << 20, ports: 60_000, ..Capabilities::default() };
    let identity = Identity { version, name: name.to_owned(), instance, capabilities };
    let mut agent = Agent::new(AgentSetup { identity, shares_process: false, spools: true }, clock.now());
    let link = NatsAgentLink::start(replay.broker(name), name, None).expect("a link");
    let lines = replay.lines_of(name);
    let mut digest = LineDigest::default();
    let (mut sealed, mut zero, mut is_over) = (0, None, false);
    while !is_over {
        let due = agent
            .poll_timeout()
            .map_or(TURN, |at| Duration::from_nanos((at - clock.now()).0.max(0).unsigned_abs()).min(TURN));
        match link.receive(due) {
            Some(AgentLinkEvent::Connected) => agent.handle_connected(clock.now()),
            Some(AgentLinkEvent::Frame(frame)) => agent.handle_message(frame.message, clock.now()),
            _ => {}
        }
        agent.handle_timeout(clock.now());
        if let Some(zero) = zero {
            while sealed < lines.len() && clock.now() >= due_of(zero, sealed) {
                agent.handle_first_sent(zero);
                digest.add(&lines[sealed]);
                agent.handle_sealed(sealed as u64, clock.now());
                sealed += 1;
                if sealed == lines.len() {
                    agent.handle_draining(clock.now());
                    agent.handle_finished(digest.hex(), clock.now());
                }
            }
        }
        while let Some(action) = agent.poll() {
            match action {
                AgentAction::Send(message) => {
                    is_over |= message.report == AgentPayload::Cleared;
                    let interval = match message.report {
                        AgentPayload::Sealed { seq } => Some(lines[seq as usize].clone()),
                        _ => None,
                    };
                    // Without a connection it is lost, and repeated.
                    let _ = link.send(AgentFrame { message, interval });
                }
                AgentAction::Prepare { plan_hash, .. } => agent.handle_prepared(Ok(plan_hash), clock.now()),
                AgentAction::StartAt(at) => zero = Some(at),
                AgentAction::Stop => agent.handle_finished("", clock.now()),
                _ => {}
            }
        }
    }
    // The last message leaves before the link ends.
    while let Some(event) = link.receive(LIMIT) {
        if matches!(event, AgentLinkEvent::Disconnected { .. }) {
            return;
        }
    }
}

/// When an interval is sealed.
fn due_of(zero: Nanos, interval: usize) -> Nanos {
    zero.after(Nanos::from_secs(interval as i64 + 1))
}

/// CPU time of a process so far, in clock ticks of 10 ms.
fn ticks(running: &Running) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", running.id())).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

/// Bytes of an agent's intervals in the archive of the last run.
fn stored_bytes(hosts: &FleetHosts, name: &str) -> u64 {
    let file = hosts.archive().join(format!("intervals/{name}.jsonl"));
    file.metadata().map(|file| file.len()).unwrap_or(0)
}

/// Records what every agent replays.
fn record(hosts: &FleetHosts) -> Replay {
    let target = target(Script::constant(Duration::from_millis(1)));
    let steps: String = (0..STEPS).map(|step| format!("  - {{get: /s{step}, name: s{step}}}\n")).collect();
    let url = target.url("");
    let text = format!(
        "wavetank: 1\nname: steps\ntarget: {url}\nsteps:\n{steps}phases:\n  - {{rate: 50/s, for: {SECONDS}s}}\n"
    );
    hosts.place.write("steps.yaml", text);
    let outcome = hosts.program().args(["run", "steps.yaml", "--format", "json"]).run();
    let done = outcome.result().count("requests.done");
    let text = std::fs::read_to_string(hosts.archive().join("intervals/local.jsonl")).expect("an archive");
    let lines = text.lines().map(str::to_owned).collect();
    Replay { lines, done, folder: hosts.place.path().join("fleet.broker") }
}

#[test]
#[expect(clippy::print_stderr, reason = "the number is the purpose of the long form")]
fn a_controller_follows_a_thousand_agents() {
    let test = "a_controller_follows_a_thousand_agents";
    if Program::foreign("nats-server").is_none() {
        return skip(test, "nats-server is not installed");
    }
    let count = if is_long() { AGENTS } else { AGENTS_SHORT };
    with_hosts(test, 1, |hosts| {
        let replayed = Arc::new(record(hosts));
        hosts.kill_agent(1);
        let broker = HostsBroker::start(hosts, count);
        let agents: Vec<_> = (1..=count)
            .map(|number| {
                let replayed = Arc::clone(&replayed);
                let body = move || replay(&replayed, &format!("load{number}"), number as u64);
                std::thread::Builder::new().stack_size(1 << 20).spawn(body).expect("a thread")
            })
            .collect();
        broker.wait_for_clients(count);
        // Clocks of this many agents on one machine cannot be measured well.
        let words = ["--start-tolerance", "60s", "--no-probe"];
        let running = hosts.run("steps.yaml", words).start();
        // All agents are at the same second, within some.
        let name = format!("load{count}");
        let total: u64 = replayed.lines_of(&name).iter().map(|line| line.len() as u64).sum();
        let mut first = None;
        // The load without its beginning and end.
        let last = poll_until(LIMIT, || {
            assert!(!running.ends_within(Duration::ZERO), "{} {}", running.stdout(), running.stderr());
            let bytes = stored_bytes(hosts, &name);
            let now = (Clock::starting_now(), ticks(&running)?);
            if bytes * 5 >= total && first.is_none() {
                first = Some(now);
            }
            (bytes * 5 >= total * 4).then_some(now.1)
        });
        let (since, before) = first.expect("intervals arrive");
        let cpu_s = (last.expect("all intervals arrive") - before) as f64 / 100.0;
        let cores = cpu_s / since.now().as_secs_f64();
        let outcome = running.wait(LIMIT);
        let result = outcome.result();
        result.conserved();
        assert_eq!(result.text("fleet.status"), "complete", "{outcome}");
        assert_eq!(result.at("fleet.agents").as_array().map(Vec::len), Some(count), "{outcome}");
        assert_eq!(result.count("requests.done"), replayed.done * count as u64, "{outcome}");
        for agent in agents {
            agent.join().expect("it is settled");
        }
        eprintln!("{count} agents of {STEPS} steps: the controller uses {cores:.2} cores");
        assert!(cores < 0.5 || cfg!(debug_assertions), "the controller uses {cores:.2} cores");
    });
}
