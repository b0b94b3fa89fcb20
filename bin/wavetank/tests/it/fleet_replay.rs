//! Many agents that replay recorded intervals over a real broker, for a real controller.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_fleet::wire::AgentFrame;
use wavetank_fleet::{
    Agent, AgentAction, AgentMessage, AgentPayload, AgentSetup, AgentState, Capabilities, Identity,
};
use wavetank_link::AgentLinkEvent;
use wavetank_nats::{Broker, NatsAgentLink, NatsKey};
use wavetank_store::LineDigest;
use wavetank_testkit::{Program, Running, Script, is_long, poll_until, skip};
use wavetank_units::Nanos;

use crate::fleet_broker_faults::{HostsBroker, LINK};
use crate::fleet_hosts::{FleetHosts, LIMIT, check_exit, target, with_hosts};

/// Agents and seconds of the load, usually and in the long form.
const SHORT: (usize, u64) = (20, 3);
const LONG: (usize, u64) = (1_000, 20);
/// Steps of a journey, and journeys per second of each agent.
const STEPS: usize = 20;
const RATE: usize = 5;
/// Most of a core that the controller of the long form may use.
const CONTROLLER_CPU_MAX: f64 = 0.5;
/// Longest wait of an agent for a message.
const TURN_MAX: Duration = Duration::from_secs(1);

/// How many replaying agents have begun and have sealed everything.
#[derive(Default)]
struct Progress {
    begun: AtomicUsize,
    finished: AtomicUsize,
    /// The controller has ended.
    is_over: AtomicBool,
}

/// Ends all replaying agents when the test does, also when it fails.
struct EndOfReplay<'a>(&'a Progress);

impl Drop for EndOfReplay<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

/// An agent without load threads: it reports recorded intervals, one a second.
struct Replay<'a> {
    name: String,
    lines: Vec<String>,
    progress: &'a Progress,
}

impl Replay<'_> {
    /// Takes part in one run, until the controller has everything.
    fn run(&self, broker: Broker) {
        let clock = Clock::starting_now();
        let capabilities = Capabilities { cores: 2, files: 20_000, ports: 28_000, ..Capabilities::default() };
        let identity =
            Identity { version: "0.1.0".to_owned(), name: self.name.clone(), instance: 7, capabilities };
        let setup = AgentSetup { identity, shares_process: false, spools: true };
        let mut agent = Agent::new(setup, clock.now());
        let link = NatsAgentLink::start(broker, &self.name, None).expect("a link");
        let (mut zero, mut sealed) = (None, 0);
        while !agent.is_settled() && !self.progress.is_over.load(Ordering::Relaxed) {
            let due = zero.filter(|_| sealed < self.lines.len());
            let due = due.map(|zero: Nanos| zero.after(Nanos::from_secs(sealed as i64 + 1)));
            let next = agent.poll_timeout().into_iter().chain(due).min();
            let wait = next.map_or(TURN_MAX, |next| duration(next - clock.now()).min(TURN_MAX));
            match link.receive(wait.max(Duration::from_millis(1))) {
                Some(AgentLinkEvent::Connected) => agent.handle_connected(clock.now()),
                Some(AgentLinkEvent::Frame(frame)) => agent.handle_message(frame.message, clock.now()),
                _ => {}
            }
            agent.handle_timeout(clock.now());
            if agent.state() == AgentState::Running && due.is_some_and(|due| clock.now() >= due) {
                agent.handle_sealed(sealed as u64, clock.now());
                sealed += 1;
                if sealed == self.lines.len() {
                    agent.handle_finished(self.digest(), clock.now());
                    self.progress.finished.fetch_add(1, Ordering::Relaxed);
                }
            }
            while let Some(action) = agent.poll() {
                match action {
                    AgentAction::Send(message) => self.send(&link, message),
                    AgentAction::Prepare { plan_hash, .. } => {
                        agent.handle_prepared(Ok(plan_hash), clock.now());
                    }
                    AgentAction::StartAt(at) => {
                        zero = Some(at);
                        self.progress.begun.fetch_add(1, Ordering::Relaxed);
                    }
                    _ => {}
                }
            }
        }
        // The link ends with this function. What it still has to send goes first.
        while link
            .receive(TURN_MAX)
            .is_some_and(|event| !matches!(event, AgentLinkEvent::Disconnected { .. }))
        {}
    }

    fn send(&self, link: &NatsAgentLink, message: AgentMessage) {
        let interval = match message.report {
            AgentPayload::Sealed { seq } => self.lines.get(seq as usize).cloned(),
            _ => None,
        };
        // Without a connection it is lost, and repeated.
        let _ = link.send(AgentFrame { message, interval });
    }

    fn digest(&self) -> String {
        let mut digest = LineDigest::default();
        self.lines.iter().for_each(|line| digest.add(line));
        digest.hex()
    }
}

/// The broker for the agent with this number, as its own process would open it.
fn broker_of(hosts: &FleetHosts, number: usize) -> Broker {
    let seed = hosts.place.file(&format!("fleet.broker/agent-load{number}.seed"));
    let key = NatsKey::read(seed.as_ref()).expect("a seed");
    Broker::new(LINK, "dc1", key, hosts.place.file("fleet.broker/ca.pem").as_ref()).expect("a broker")
}

/// A time as a duration, and none if it is negative.
fn duration(time: Nanos) -> Duration {
    Duration::from_nanos(time.0.try_into().unwrap_or_default())
}

/// User and system time of a running process.
fn cpu_of(process: &Running) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.id())).expect("it runs");
    // Fields 14 and 15, in hundredths of a second. The name in parentheses may have spaces.
    let fields = stat.rsplit(") ").next().expect("a name").split(' ');
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// Runs the file with one real agent, and returns the intervals that it archived.
fn record(hosts: &mut FleetHosts, file: &dyn Fn(usize) -> String) -> Vec<String> {
    let running = hosts.run(&file(RATE), ["--threads", "1"]).start();
    let outcome = running.wait(LIMIT);
    check_exit(&outcome, 0);
    let text = std::fs::read_to_string(hosts.archive().join("intervals/load1.jsonl")).expect("an archive");
    hosts.kill_agent(1);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn many_agents_replay_recorded_intervals() {
    let test = "many_agents_replay_recorded_intervals";
    if Program::foreign("nats-server").is_none() {
        return skip(test, "nats-server is not installed");
    }
    let (count, seconds) = if is_long() { LONG } else { SHORT };
    with_hosts(test, 1, |hosts| {
        let target = target(Script::constant(Duration::from_millis(1)));
        let url = target.url("");
        let place = hosts.place.path().to_owned();
        let file = |rate: usize| {
            let steps: Vec<String> = (1..=STEPS).map(|step| format!("  - get: /step/{step}\n")).collect();
            let text = format!(
                "wavetank: 1\ntarget: {}\nsteps:\n{}phases:\n  - {{rate: {rate}/s, for: {seconds}s}}\n",
                url.trim_end_matches('/'),
                steps.concat()
            );
            let path = place.join(format!("rate-{rate}.yaml"));
            std::fs::write(&path, text).expect("a file");
            path.to_string_lossy().into_owned()
        };
        let recorded = record(hosts, &file);
        let requests = target.settled().requests;
        let _broker = HostsBroker::start(hosts, count);
        let progress = Progress::default();
        let (share, outcome) = std::thread::scope(|scope| {
            for number in 1..=count {
                let broker = broker_of(hosts, number);
                let name = format!("load{number}");
                let quoted = format!("\"{name}\"");
                let lines = recorded.iter().map(|line| line.replace("\"load1\"", &quoted)).collect();
                let replay = Replay { name, lines, progress: &progress };
                scope.spawn(move || replay.run(broker));
            }
            let _end = EndOfReplay(&progress);
            let controller = hosts.run(&file(RATE * count), ["--threads", "1"]).start();
            let share = controller_share(&controller, &progress, count);
            (share, controller.wait(LIMIT))
        });
        let result = check_exit(&outcome, 0);
        assert_eq!(result.text("fleet.status"), "complete", "{result}");
        // The probe of the recorded run went to the target, too.
        let replayed = result.count("requests.done") / count as u64;
        assert!(requests - replayed <= 1, "{requests} were recorded: {result}");
        assert_eq!(result.count("requests.done"), replayed * count as u64, "{result}");
        println!("the controller of {count} agents used {:.1} % of a core", share * 100.0);
        assert!(!is_long() || share <= CONTROLLER_CPU_MAX, "{share} of a core");
    });
}

/// Returns the controller's share of a core from the start of the load until everything is sealed.
fn controller_share(controller: &Running, progress: &Progress, count: usize) -> f64 {
    let clock = Clock::starting_now();
    let reaches = |counter: &AtomicUsize| {
        let limit = LIMIT * 4;
        let reached = poll_until(limit, || {
            let has_ended = controller.ends_within(Duration::ZERO);
            (has_ended || counter.load(Ordering::Relaxed) == count).then_some(!has_ended)
        });
        assert_eq!(reached, Some(true), "{}{}", controller.stdout(), controller.stderr());
        (clock.now(), cpu_of(controller))
    };
    let (begun, before) = reaches(&progress.begun);
    let (ended, after) = reaches(&progress.finished);
    after.saturating_sub(before).as_secs_f64() / duration(ended - begun).as_secs_f64()
}
