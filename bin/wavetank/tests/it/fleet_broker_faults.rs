//! A broker that is killed or stopped under load, and two agents of one name.

use std::path::PathBuf;
use std::time::Duration;

use wavetank_testkit::{Program, RunResult, Running, Script, Signal, is_long, poll_until, skip};

use crate::fleet_hosts::{FleetHosts, LIMIT, check, of_agent, target, with_hosts};

pub(crate) const LINK: &str = "nats://127.0.0.1:4222";
const RATE: u64 = 200;

fn script() -> Script {
    Script::constant(Duration::from_millis(1))
}

/// The broker of the hosts' agents.
pub(crate) struct HostsBroker {
    program: Program,
    running: Option<Running>,
}

impl HostsBroker {
    /// Starts a broker for this number of hosts.
    pub(crate) fn start(hosts: &FleetHosts, count: usize) -> Self {
        let file = format!("wavetank_fleet: 1\nname: dc1\nlink: {LINK}\nload: {{'load[1-{count}]': {{}}}}\n");
        hosts.place.write("fleet.yaml", file);
        hosts.program().args(["fleet", "broker", "init", "--fleet", "fleet.yaml"]).run().expect_exit(0);
        let server = Program::foreign("nats-server").expect("asked for before");
        let program = server.args(["-c", &hosts.place.file("fleet.broker/nats-server.conf")]);
        let mut broker = Self { program, running: None };
        broker.start_again();
        broker
    }

    fn start_again(&mut self) {
        let running = self.program.clone().start();
        let is_ready = poll_until(LIMIT, || {
            let has_ended = running.ends_within(Duration::ZERO);
            (has_ended || running.stderr().contains("Server is ready")).then_some(!has_ended)
        });
        assert_eq!(is_ready, Some(true), "{}", running.stderr());
        self.running = Some(running);
    }

    fn kill(&mut self) {
        let running = self.running.take().expect("it runs");
        running.signal(Signal::KILL);
        running.wait(LIMIT);
    }

    fn signal(&self, signal: Signal) {
        self.running.as_ref().expect("it runs").signal(signal);
    }
}

/// Waits until this number of clients is connected to the broker.
#[track_caller]
pub(crate) fn wait_for_clients(count: usize) {
    // Connections to port 4222 in the state `established`, as the kernel writes them.
    let is_client = |line: &&str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields.get(2).is_some_and(|other| other.ends_with(":107E")) && fields.get(3) == Some(&"01")
    };
    let clients = || {
        let table = std::fs::read_to_string("/proc/thread-self/net/tcp").expect("Linux has it");
        table.lines().filter(is_client).count()
    };
    let all = poll_until(LIMIT, || (clients() >= count).then_some(()));
    assert!(all.is_some(), "{} of {count} clients are connected", clients());
}

/// The options of an agent that connects to the broker.
pub(crate) fn agent_options(host: usize) -> Vec<String> {
    let seed = format!("fleet.broker/agent-load{host}.seed");
    let words =
        ["--link", LINK, "--nats-fleet", "dc1", "--nats-ca", "fleet.broker/ca.pem", "--nats-seed", &seed];
    words.map(str::to_owned).to_vec()
}

/// As [`with_hosts`], with a broker.
fn with_broker(test: &str, body: impl FnOnce(&mut FleetHosts, HostsBroker) + Send) {
    if Program::foreign("nats-server").is_none() {
        return skip(test, "nats-server is not installed");
    }
    with_hosts(test, 2, |hosts| {
        let broker = HostsBroker::start(hosts, 2);
        for host in 1..=2 {
            hosts.kill_agent(host);
            let options = agent_options(host);
            hosts.start_agent(host, &[], &options.iter().map(String::as_str).collect::<Vec<_>>());
        }
        body(hosts, broker);
    });
}

/// Everything in the folder of the broker.
fn files(hosts: &FleetHosts) -> Vec<PathBuf> {
    let all = hosts.place.all_files();
    all.into_iter().filter(|file| file.to_string_lossy().contains("fleet.broker")).collect()
}

/// Checks that the run carried out its plan of this many seconds, and sent all but 1 % of it.
#[track_caller]
fn check_unchanged(hosts: &FleetHosts, result: &RunResult, seconds: u64) {
    let offered = result.count("requests.offered");
    assert_eq!((offered, result.text("fleet.status")), (RATE * seconds, "complete"), "{result}");
    assert!(result.count("requests.dropped") * 100 <= offered, "the rate changed: {result}");
    for host in 1..=2 {
        assert_eq!(of_agent(result, host, "end"), "plan", "{result}");
        assert_eq!(hosts.spools(host).len(), 0, "load{host} keeps a spool: {result}");
    }
    assert!(result.at("events").to_string().contains("connection lost"), "{result}");
}

#[test]
fn a_broker_that_is_killed_under_load_changes_nothing() {
    with_broker("a_broker_that_is_killed_under_load_changes_nothing", |hosts, mut broker| {
        let outage = if is_long() { 20 } else { 5 };
        let seconds = outage + 9;
        let before = files(hosts);
        let target = target(script());
        let words = format!("-r {RATE}/s -d {seconds}s");
        let running = hosts.under_load(&target.url("/"), &words, &target, RATE);
        broker.kill();
        // It had no store: nothing that it wrote could be missing afterwards.
        assert_eq!(files(hosts), before);
        target.wait_for("load without a broker", LIMIT, |truth| truth.requests >= RATE * (outage + 1));
        broker.start_again();
        let outcome = running.wait(LIMIT);
        let result = check(&outcome, &target, 0);
        check_unchanged(hosts, &result, seconds);
    });
}

#[test]
fn a_broker_that_is_stopped_under_load_changes_nothing() {
    if wavetank_testkit::is_left_to_long_form("a_broker_that_is_stopped_under_load_changes_nothing") {
        return;
    }
    with_broker("a_broker_that_is_stopped_under_load_changes_nothing", |hosts, broker| {
        // Both ends give up a silent broker after some pings.
        let (outage, seconds) = (9, 17);
        let target = target(script());
        let words = format!("-r {RATE}/s -d {seconds}s");
        let running = hosts.under_load(&target.url("/"), &words, &target, RATE);
        broker.signal(Signal::STOP);
        target.wait_for("load without a broker", LIMIT, |truth| truth.requests >= RATE * (outage + 1));
        broker.signal(Signal::CONT);
        let outcome = running.wait(LIMIT);
        let result = check(&outcome, &target, 0);
        check_unchanged(hosts, &result, seconds);
    });
}

#[test]
fn intervals_that_the_broker_did_not_carry_are_settled_over_ssh() {
    with_broker("intervals_that_the_broker_did_not_carry_are_settled_over_ssh", |hosts, mut broker| {
        let target = target(script());
        let running = hosts.under_load(&target.url("/"), "-r 200/s -d 6s", &target, 300);
        broker.kill();
        // The agents carry out the plan, and the controller hears nothing more of it.
        target.wait_for("end of the load", LIMIT, |truth| truth.requests >= 1_200 && truth.open == 0);
        running.signal(Signal::KILL);
        running.wait(LIMIT);
        assert!((1..=2).all(|host| hosts.spools(host).len() == 1), "both keep their intervals");
        let settled = poll_until(LIMIT, || {
            let outcome = hosts.fleet("settle latest --format json");
            (!outcome.stdout.contains("still carries it out")).then_some(outcome)
        });
        settled.expect("the agents end").expect_exit(0);
        let report = hosts.program().args(["report", "latest", "--format", "json"]).run();
        let result = report.expect_exit(0).result();
        result.conserved();
        assert_eq!((result.count("requests.offered"), result.text("fleet.status")), (1_200, "complete"));
        assert_eq!(result.count("wire.sent"), target.settled().requests, "{result}");
        assert!((1..=2).all(|host| hosts.spools(host).is_empty()), "{result}");
    });
}

#[test]
fn two_agents_of_one_name_are_refused() {
    with_broker("two_agents_of_one_name_are_refused", |hosts, _broker| {
        let target = target(script());
        let words = ["agent", "serve", "--dir", "other", "--name", "load1"].map(str::to_owned);
        let other = hosts.program().args(words.iter().chain(&agent_options(1))).start();
        let listens = poll_until(LIMIT, || other.stderr().contains("listens in").then_some(()));
        assert!(listens.is_some(), "{}", other.stderr());
        let outcome = hosts.run(&target.url("/"), ["-r", "100/s", "-d", "1s"]).run();
        assert!(outcome.expect_exit(5).stdout.contains("load1"), "{outcome}");
        assert!(outcome.stdout.contains("same name") || outcome.stdout.contains("lost"), "{outcome}");
        assert_eq!(target.truth().requests, 0, "nothing is sent: {outcome}");
    });
}
