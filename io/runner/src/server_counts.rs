//! [`ServerCounts`]: counters of a lab's servers before and after a run, compared with the run's
//! own count.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Value, json};
use wavetank_diagnose::{BalancedServer, BalancerCounts};
use wavetank_lab::{Client, LabFolder};
use wavetank_plan::Plan;
use wavetank_record::{RunRecord, ServerCountDoc};
use wavetank_topology::{Host, Lab, Service, ServiceKind};
use wavetank_units::quantity::format_grouped;
use wavetank_units::{Sentence, UserError, sentence};

/// Names that are joined where several servers take the load together.
const NAMES_JOINED: usize = 3;

/// What was counted, by host and service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerCounts(BTreeMap<(String, String), Count>);

/// What a service counts of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Count {
    connections: u64,
    /// `None` where it knows of none.
    requests: Option<u64>,
    /// Requests among these that were not complete. A connection that is closed without any may
    /// count as one.
    incomplete: u64,
    /// The most connections that were open together, and how many it allows; `None` if unknown.
    fullest: Option<(u64, u64)>,
    /// How many processes of it were started in all: a new one counts from 0.
    starts: u64,
    /// Of a balancer: the most requests in its queue, and failed responses of its servers.
    queue_max: u64,
    response_errors: u64,
    /// What its own rules rejected, and the most and the limit of new sessions a second.
    rejected: u64,
    rate: Option<(u64, u64)>,
    servers: Vec<BalancedServer>,
}

impl Count {
    fn is_full(&self) -> bool {
        self.fullest.is_some_and(|(peak, limit)| peak >= limit)
    }
}

impl ServerCounts {
    /// Reads the current counters of all services in `lab` that report them.
    ///
    /// # Errors
    /// A lab that does not respond.
    pub(crate) fn read(lab: &Lab, folder: &LabFolder) -> Result<Self, UserError> {
        let mut client = Client::connect(folder)?;
        let mut counts = BTreeMap::new();
        for host in lab.hosts.iter().filter(|host| !host.services.is_empty()) {
            let question = json!({ "ask": "host", "host": host.name, "say": { "counters": true } });
            let answer = client.request(&question)?;
            for one in answer["counters"].as_array().into_iter().flatten() {
                let (service, count) = counted(one).unzip();
                counts.extend(service.map(|service| (host.name.clone(), service)).zip(count));
            }
        }
        Ok(Self(counts))
    }

    /// Returns what was counted since `before`, in the order of the topology. If all servers of the
    /// load report, the counts of `record` are added for comparison. A service that was restarted
    /// meanwhile is left out, because its counters started again. `probe`: how many connections
    /// were opened before the load, with one request each; `None` if unknown.
    pub(crate) fn since(
        &self,
        before: &Self,
        (lab, plan): (&Lab, &Plan),
        record: &RunRecord,
        probe: Option<u64>,
    ) -> Vec<ServerCountDoc> {
        let mut docs = Vec::new();
        let (mut fronts, mut incomplete) = (Vec::new(), 0);
        for host in &lab.hosts {
            let own = self.0.iter().filter(|((name, _), _)| *name == host.name);
            for (key @ (_, service), now) in own {
                // One that was not there before has counted nothing but this run.
                let then =
                    before.0.get(key).cloned().unwrap_or(Count { starts: now.starts, ..Count::default() });
                if then.starts != now.starts {
                    continue;
                }
                let all = |count: &Count| count.requests.unwrap_or(0);
                let begun = now.incomplete.saturating_sub(then.incomplete);
                let doc = ServerCountDoc {
                    server: format!("{}/{service}", host.name),
                    connections: now.connections.saturating_sub(then.connections),
                    requests: now.requests.map(|_| all(now).saturating_sub(all(&then)).saturating_sub(begun)),
                    run_connections: None,
                    run_requests: None,
                };
                if takes_load(host, plan) {
                    incomplete += begun;
                    fronts.push(doc.clone());
                }
                docs.push(doc);
            }
        }
        // Every server of the load must report, and only the load, or their sum means something
        // else.
        let again = self.started_again(before);
        let reported = |host: &Host| {
            let of_host = |(name, _): &&(String, String)| *name == host.name;
            let reports = self.0.keys().any(|key| of_host(&key)) && !again.iter().any(of_host);
            only_forwards(host) || (reports && !is_checked(host, lab))
        };
        let all_report = lab.hosts.iter().filter(|host| takes_load(host, plan)).all(reported);
        if let Some(sum) = together(&fronts).filter(|_| all_report) {
            let run_requests = sum.requests.and(probe).and_then(|_| run_requests(plan, record));
            // Requests of the run may be among the incomplete ones: it gave them up, or the server
            // refused their form.
            let own = |requests: u64| requests.max((requests + incomplete).min(run_requests.unwrap_or(0)));
            let doc = ServerCountDoc {
                run_connections: run_connections(plan, record, probe),
                requests: sum.requests.map(own),
                run_requests,
                ..sum
            };
            docs.retain(|known| known.server != doc.server);
            docs.insert(0, doc);
        }
        docs
    }

    /// Returns what balancers counted since `before`.
    pub(crate) fn balancers_since(&self, before: &Self) -> Vec<BalancerCounts> {
        let counts = |(key, now): (&(String, String), &Count)| {
            let then = before.0.get(key).cloned().unwrap_or_default();
            BalancerCounts {
                service: format!("{}/{}", key.0, key.1),
                // It is the most of the program's whole life, so an earlier queue does not count.
                queue_max: if now.queue_max > then.queue_max { now.queue_max } else { 0 },
                response_errors: now.response_errors.saturating_sub(then.response_errors),
                full: (now.is_full() && !then.is_full())
                    .then_some(now.fullest)
                    .flatten()
                    .map(|(_, limit)| limit),
                rejected: now.rejected.saturating_sub(then.rejected),
                rate_limit: now.rate.filter(|(most, limit)| most >= limit).map(|(_, limit)| limit),
                is_tcp: now.requests.is_none(),
                servers: now.servers.clone(),
            }
        };
        // Only balancers have servers.
        self.0.iter().filter(|(_, now)| !now.servers.is_empty()).map(counts).collect()
    }

    /// Lists services with counters that do not cover the time since `before`, as `HOST/SERVICE`,
    /// for a note.
    pub(crate) fn uncountable_since(&self, before: &Self) -> Option<Sentence> {
        let again = self.started_again(before);
        let names: Vec<String> =
            again.iter().take(NAMES_JOINED).map(|(host, service)| format!("{host}/{service}")).collect();
        let more = again.len().saturating_sub(NAMES_JOINED);
        let services = match more {
            0 => sentence!("{}", names.join(", ")),
            more => sentence!("{} and {more} more", names.join(", ")),
        };
        (!again.is_empty()).then(|| {
            sentence!(
                "{services}: restarted during the run, so its own counts started again and are not reported"
            )
        })
    }

    /// Lists services that had as many connections open as they allow, and had fewer before: a note
    /// for each. Further clients waited for a place, however fast the servers were.
    pub(crate) fn full_since(&self, before: &Self) -> Vec<Sentence> {
        let full = |(key, count): (&(String, String), &Count)| {
            let (_, limit) = count.fullest?;
            let (host, service) = key;
            let was_full = before.0.get(key).is_some_and(Count::is_full);
            (count.is_full() && !was_full).then(|| full_text(host, service, limit))
        };
        self.0.iter().filter_map(full).collect()
    }

    /// Hosts and services of which processes were started since `before`.
    fn started_again<'s>(&'s self, before: &Self) -> Vec<&'s (String, String)> {
        let again = |key: &&(String, String)| {
            before.0.get(*key).is_some_and(|then| then.starts != self.0[*key].starts)
        };
        self.0.keys().filter(again).collect()
    }
}

fn full_text(host: &str, service: &str, limit: u64) -> Sentence {
    sentence!(
        "{host}/{service} had {} connections open, its own limit: further ones waited; raise its `connections`, or `maxconn`",
        format_grouped(limit)
    )
}

/// One service's answer.
fn counted(one: &Value) -> Option<(String, Count)> {
    let count = Count {
        connections: one["connections"].as_u64()?,
        requests: one["requests"].as_u64(),
        incomplete: one["incomplete"].as_u64().unwrap_or_default(),
        fullest: one["peak"].as_u64().zip(one["limit"].as_u64()),
        starts: one["starts"].as_u64().unwrap_or_default(),
        queue_max: one["queue_max"].as_u64().unwrap_or_default(),
        response_errors: one["response_failed"].as_u64().unwrap_or_default(),
        rejected: one["rejected"].as_u64().unwrap_or_default(),
        rate: one["rate"].as_u64().zip(one["rate_limit"].as_u64()),
        servers: one["servers"].as_array().into_iter().flatten().filter_map(server).collect(),
    };
    Some((one["service"].as_str()?.to_owned(), count))
}

/// One server of a balancer.
fn server(one: &Value) -> Option<BalancedServer> {
    Some(BalancedServer {
        name: one["name"].as_str()?.to_owned(),
        state: one["state"].as_str()?.to_owned(),
        is_up: one["up"].as_bool()?,
        is_backup: one["backup"].as_bool()?,
    })
}

/// Whether connections of the plan go to an address of `host`.
pub(super) fn takes_load(host: &Host, plan: &Plan) -> bool {
    let to: Vec<IpAddr> = plan
        .targets
        .iter()
        .flat_map(|target| plan.connect_addresses(target))
        .map(std::net::SocketAddr::ip)
        .collect();
    let own = host.interfaces.iter().flat_map(|interface| &interface.addresses).map(|(address, _)| *address);
    own.chain(host.virtual_addresses.iter().map(|one| one.address)).any(|address| to.contains(&address))
}

/// Returns whether `host` only forwards packets: another host with the same address receives them.
pub(super) fn only_forwards(host: &Host) -> bool {
    let forwards = |kind: &ServiceKind| matches!(kind, ServiceKind::DirectRouting(_) | ServiceKind::Ipvs(_));
    !host.services.is_empty() && host.services.iter().all(|service| forwards(&service.kind))
}

/// Whether a balancer asks servers on `host` whether they live, who count that with the load.
fn is_checked(host: &Host, lab: &Lab) -> bool {
    let asking = lab.hosts.iter().flat_map(|one| &one.services).filter(|service| service.checks().is_some());
    asking.flat_map(Service::backends).any(|server| lab.hosts[server.host].name == host.name)
}

/// All of them as one; requests are known if all know them.
fn together(fronts: &[ServerCountDoc]) -> Option<ServerCountDoc> {
    let names: Vec<&str> = fronts.iter().take(NAMES_JOINED).map(|one| one.server.as_str()).collect();
    let more = fronts.len().saturating_sub(NAMES_JOINED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!fronts.is_empty()).then(|| ServerCountDoc {
        server: format!("{}{rest}", names.join(" + ")),
        connections: fronts.iter().map(|one| one.connections).sum(),
        requests: fronts.iter().map(|one| one.requests).sum(),
        run_connections: None,
        run_requests: None,
    })
}

/// Returns the connections that the run opened. `None` if steps before or after the load opened
/// some that were not counted, or if connections of the run were streams.
fn run_connections(plan: &Plan, record: &RunRecord, probe: Option<u64>) -> Option<u64> {
    let alone = plan.around.before.is_none() && plan.around.after.is_none();
    // What was begun and not finished may have been accepted all the same.
    let certain = record.connections.opening == 0 && record.connections.failed == 0;
    probe.filter(|_| alone && certain && !plan.uses_tunnels()).map(|probe| record.connections.opened + probe)
}

/// Returns the requests that went out by the run's own count. `None` if some of them are messages,
/// which HTTP servers do not count.
fn run_requests(plan: &Plan, record: &RunRecord) -> Option<u64> {
    let has_messages = (0..plan.targets.len()).any(|target| plan.carries_messages(target));
    let sent = record.wire.sent + record.warmup.wire.map_or(0, |wire| wire.sent) + record.setup.sent;
    (!has_messages).then_some(sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doc(server: &str, connections: u64, requests: Option<u64>) -> ServerCountDoc {
        ServerCountDoc { server: server.to_owned(), connections, requests, ..ServerCountDoc::default() }
    }

    #[test]
    fn servers_that_take_the_load_together_are_added_up() {
        let check =
            |all: &[ServerCountDoc], expected: Option<ServerCountDoc>| assert_eq!(together(all), expected);
        check(&[], None);
        check(&[doc("lb1/haproxy", 5, Some(9))], Some(doc("lb1/haproxy", 5, Some(9))));
        let two = [doc("a/nginx", 5, Some(9)), doc("b/nginx", 6, Some(1))];
        check(&two, Some(doc("a/nginx + b/nginx", 11, Some(10))));
        check(&[two[0].clone(), doc("c/haproxy", 1, None)], Some(doc("a/nginx + c/haproxy", 6, None)));
        let many: Vec<_> = (0..5).map(|number| doc(&format!("h{number}"), 1, None)).collect();
        check(&many, Some(doc("h0 + h1 + h2 and 2 more", 5, None)));
    }

    #[test]
    fn a_service_that_was_started_again_is_reported() {
        let of = |all: &[(&str, u64)]| {
            let one = |&(host, starts): &(&str, u64)| {
                let count = Count {
                    connections: 9,
                    requests: Some(9),
                    incomplete: 0,
                    fullest: None,
                    starts,
                    ..Count::default()
                };
                ((host.to_owned(), "nginx".to_owned()), count)
            };
            ServerCounts(all.iter().map(one).collect())
        };
        let check = |before: &[(&str, u64)], now: &[(&str, u64)], reported: Option<&str>| {
            let said = of(now).uncountable_since(&of(before));
            assert_eq!(
                said.as_deref().and_then(|said| said.split(": ").next()),
                reported,
                "{before:?} {now:?}"
            );
        };
        check(&[("a", 1), ("b", 1)], &[("a", 1), ("b", 1)], None);
        check(&[("a", 1), ("b", 1)], &[("a", 1), ("b", 2)], Some("b/nginx"));
        check(&[("a", 1)], &[("a", 1), ("b", 2)], None);
        check(&[("a", 1), ("b", 1)], &[("a", 2), ("b", 2)], Some("a/nginx, b/nginx"));
    }

    #[test]
    fn a_full_service_is_reported_once() {
        let of = |peak| {
            let count = Count { fullest: Some((peak, 9)), ..Count::default() };
            ServerCounts(BTreeMap::from([(("lb1".to_owned(), "haproxy".to_owned()), count)]))
        };
        let check = |before, now, reported: usize| {
            assert_eq!(of(now).full_since(&of(before)).len(), reported, "{before} {now}");
        };
        check(0, 8, 0);
        check(0, 9, 1);
        check(9, 9, 0);
    }

    #[test]
    fn an_answer_without_connections_is_none() {
        let one = json!({ "service": "haproxy", "connections": 7, "requests": null, "open": 1, "starts": 2 });
        let count = Count {
            connections: 7,
            requests: None,
            incomplete: 0,
            fullest: None,
            starts: 2,
            ..Count::default()
        };
        assert_eq!(counted(&one), Some(("haproxy".to_owned(), count)));
        assert_eq!(counted(&json!({ "service": "serve" })), None);
    }
}
