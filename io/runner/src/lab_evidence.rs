//! What a lab adds to the evidence about a run's bottleneck: its addresses, its services' logs and
//! the counts of its balancers.

use std::net::IpAddr;

use wavetank_diagnose::{BalancedServer, BalancerCounts, RunContext};
use wavetank_lab::LogParts;
use wavetank_measure::{LogFact, log_facts};
use wavetank_topology::{Host, Lab, Service, ServiceKind};

use super::server_counts::ServerCounts;

/// Adds it to `context`. `counts`: those before and after the run, if they are known.
pub(super) fn add_lab_evidence(
    context: &mut RunContext,
    lab: &Lab,
    logs: &LogParts,
    counts: Option<(&ServerCounts, &ServerCounts)>,
) {
    context.addresses = addresses(lab);
    let lossy = |host: &Host| {
        let links = host.interfaces.iter().filter(|interface| interface.link.loss_ppm > 0);
        links.map(|interface| (host.name.clone(), interface.name.clone())).collect::<Vec<_>>()
    };
    context.lossy_links = lab.hosts.iter().flat_map(lossy).collect();
    context.logs = logs.parts.iter().flat_map(|part| log_facts(&part.host, &part.name, &part.text)).collect();
    join(&mut context.logs);
    context.balancers = counts.map(|(before, now)| now.balancers_since(before)).unwrap_or_default();
    context.balancers.extend(lab.hosts.iter().flat_map(|host| {
        let of = |service: &Service| {
            let ServiceKind::Nginx(nginx) = &service.kind else { return None };
            let servers = nginx_servers(&nginx.own.config.as_ref()?.text);
            let service = format!("{}/{}", host.name, service.name);
            Some(BalancerCounts { service, servers, ..BalancerCounts::default() })
        };
        host.services.iter().filter_map(of).filter(|counts| !counts.servers.is_empty())
    }));
}

/// Returns the servers of the upstreams in a configuration of nginx, which counts nothing of them.
fn nginx_servers(text: &str) -> Vec<BalancedServer> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let text = lines.collect::<Vec<_>>().join(" ");
    // A server of an upstream has an address, `server {}` has none.
    let statements = text.split([';', '{', '}']).map(|one| one.split_whitespace().collect::<Vec<_>>());
    let server = |words: Vec<&str>| match words.as_slice() {
        ["server", name, parameters @ ..] => {
            let is_up = !parameters.contains(&"down");
            Some(BalancedServer {
                name: (*name).to_owned(),
                state: if is_up { String::new() } else { "MAINT".to_owned() },
                is_up,
                is_backup: parameters.contains(&"backup"),
            })
        }
        _ => None,
    };
    statements.filter_map(server).collect()
}

/// Adds up the lines of several logs of one host, such as those of copies of a service.
fn join(facts: &mut Vec<LogFact>) {
    let mut joined: Vec<LogFact> = Vec::new();
    for fact in facts.drain(..) {
        match joined.iter_mut().find(|known| known.host == fact.host && known.event == fact.event) {
            Some(known) => {
                known.lines += fact.lines;
                known.first = known.first.clone().min(fact.first);
                known.last = known.last.clone().max(fact.last);
            }
            None => joined.push(fact),
        }
    }
    *facts = joined;
}

fn addresses(lab: &Lab) -> Vec<(IpAddr, String)> {
    let of_host = |host: &Host| {
        let own = host.interfaces.iter().flat_map(|interface| &interface.addresses);
        own.map(|(address, _)| (*address, host.name.clone())).collect::<Vec<_>>()
    };
    lab.hosts.iter().flat_map(of_host).collect()
}

#[cfg(test)]
mod tests {
    use wavetank_measure::LogEvent;

    use super::*;

    #[test]
    fn servers_of_nginx_are_those_of_its_file() {
        let text = "upstream a {\n server x:1; # server z:1;\n server y:2 weight=2 backup; server w down;\n}\n\
                    server { listen 80; server_name x; location / { proxy_pass http://a; } }";
        let found = nginx_servers(text);
        let shown: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.is_up, one.is_backup)).collect();
        assert_eq!(shown, [("x:1", true, false), ("y:2", true, true), ("w", false, false)]);
    }

    #[test]
    fn logs_of_copies_are_one() {
        let fact = |log: &str, lines, first: &str| LogFact {
            host: "lb1".to_owned(),
            log: log.to_owned(),
            event: LogEvent::NoPorts,
            lines,
            peer: String::new(),
            first: first.to_owned(),
            last: first.to_owned(),
        };
        let mut facts = vec![fact("nginx.1", 3, "17:00:05"), fact("nginx.2", 4, "17:00:02")];
        join(&mut facts);
        let expected = LogFact { last: "17:00:05".to_owned(), ..fact("nginx.1", 7, "17:00:02") };
        assert_eq!(facts, [expected]);
    }
}
