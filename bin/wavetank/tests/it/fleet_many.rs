//! Many agents of one broker that join a run together.

use std::time::Duration;

use wavetank_testkit::{Program, Running, Script, is_long, poll_until, skip};

use crate::fleet_broker_faults::{HostsBroker, agent_options, wait_for_clients};
use crate::fleet_hosts::{FleetHosts, LIMIT, check, target, with_hosts};

const AGENTS: usize = 60;
const AGENTS_SHORT: usize = 12;

/// Starts an agent that has no host of its own.
fn start_agent(hosts: &FleetHosts, number: usize) -> Running {
    let (dir, name) = (format!("many/load{number}"), format!("load{number}"));
    let words = ["agent", "serve", "--dir", &dir, "--name", &name].map(str::to_owned);
    hosts.program().args(words.iter().chain(&agent_options(number))).start()
}

#[test]
fn many_agents_join_together() {
    let test = "many_agents_join_together";
    if Program::foreign("nats-server").is_none() {
        return skip(test, "nats-server is not installed");
    }
    let count = if is_long() { AGENTS } else { AGENTS_SHORT };
    with_hosts(test, 1, |hosts| {
        hosts.kill_agent(1);
        let _broker = HostsBroker::start(hosts, count);
        let agents: Vec<Running> = (1..=count).map(|number| start_agent(hosts, number)).collect();
        for agent in &agents {
            let listens = poll_until(LIMIT, || {
                let has_ended = agent.ends_within(Duration::ZERO);
                (has_ended || agent.stderr().contains("listens in")).then_some(!has_ended)
            });
            assert_eq!(listens, Some(true), "{}", agent.stderr());
        }
        wait_for_clients(count);
        let target = target(Script::constant(Duration::from_millis(1)));
        let requests = 20 * count as u64;
        let words = format!("-c {count} -n {requests} --threads 1 --engine epoll");
        let outcome = hosts.outcome(&target.url("/"), &words, &target);
        let result = check(&outcome, &target, 0);
        assert_eq!((result.count("requests.done"), result.text("fleet.status")), (requests, "complete"));
        let all = result.at("fleet.agents").as_array().expect("a list");
        assert_eq!(all.len(), count, "{result}");
        assert!(all.iter().all(|agent| agent["sent"] == 20 && agent["end"] == "plan"), "{result}");
    });
}
