//! What a lab adds to the evidence about a run's bottleneck: its addresses, its services' logs and
//! the counts of its balancers.

use std::net::IpAddr;

use wavetank_diagnose::RunContext;
use wavetank_lab::LogParts;
use wavetank_measure::{LogFact, log_facts};
use wavetank_topology::Lab;

use super::server_counts::ServerCounts;

/// Adds it to `context`. `counts`: those before and after the run, if they are known.
pub(super) fn add_lab_evidence(
    context: &mut RunContext,
    lab: &Lab,
    logs: &LogParts,
    counts: Option<(&ServerCounts, &ServerCounts)>,
) {
    context.addresses = addresses(lab);
    context.logs = logs.parts.iter().flat_map(|part| log_facts(&part.host, &part.name, &part.text)).collect();
    join(&mut context.logs);
    context.balancers = counts.map(|(before, now)| now.balancers_since(before)).unwrap_or_default();
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
    let of_host = |host: &wavetank_topology::Host| {
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
