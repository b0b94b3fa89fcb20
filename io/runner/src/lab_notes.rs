//! What a run in a lab reports of it: services that ended, and work in no host's CPU time.

use serde_json::{Value, json};
use wavetank_lab::Client;
use wavetank_record::{EventKind, EventLine};
use wavetank_topology::{Host, ServiceKind};
use wavetank_units::{Nanos, Sentence, sentence};

use super::{LabRun, LoadResult};

impl LabRun {
    /// Returns what a finished run reports of its lab, and adds the ends of services to its events.
    /// `wall_at_zero` is the time of day at the zero of the process's clock.
    pub(crate) fn notes(&self, result: &mut LoadResult, wall_at_zero: i64) -> Vec<Sentence> {
        let zero = result.started.map(|zero| wall_at_zero + zero.0);
        let ends = zero.map(|zero| self.service_ends(zero)).unwrap_or_default();
        for (at, text) in &ends {
            result.record_event(EventLine::new(*at, EventKind::ServiceEnded, text.clone()));
        }
        self.kernel_work().into_iter().chain(ends.into_iter().map(|(_, text)| text)).collect()
    }

    /// Returns the unplanned ends of services since `from`, in nanoseconds since 1970, each with
    /// its time since then. A lab that does not respond has none.
    fn service_ends(&self, from: i64) -> Vec<(Nanos, Sentence)> {
        let Ok(mut client) = Client::connect(&self.folder) else { return Vec::new() };
        let mut all = Vec::new();
        for host in self.lab.hosts.iter().filter(|host| !host.services.is_empty()) {
            let question = json!({ "ask": "host", "host": host.name, "say": { "deaths": true } });
            let Ok(answer) = client.request(&question) else { continue };
            for death in answer["deaths"].as_array().into_iter().flatten() {
                let at = Nanos(death["at_unix_ns"].as_i64().unwrap_or_default().saturating_sub(from));
                if at >= Nanos::ZERO {
                    all.push((at, service_end(&host.name, death, at)));
                }
            }
        }
        all.sort();
        all
    }

    /// Names the balancers with work that no host's CPU time includes, for a note.
    fn kernel_work(&self) -> Option<Sentence> {
        let forwards = |kind: &ServiceKind| {
            matches!(kind, ServiceKind::DirectRouting(_) | ServiceKind::Nat(_) | ServiceKind::Ipvs(_))
        };
        let forwarding = |host: &&Host| host.services.iter().any(|service| forwards(&service.kind));
        let hosts: Vec<&str> =
            self.lab.hosts.iter().filter(forwarding).map(|host| host.name.as_str()).collect();
        (!hosts.is_empty()).then(|| kernel_work_text(&hosts))
    }
}

/// Describes the end of a service's process, `at` this time of the run.
fn service_end(host: &str, death: &Value, at: Nanos) -> Sentence {
    let (service, how) = (death["service"].as_str().unwrap_or("?"), death["how"].as_str().unwrap_or("?"));
    match death["copy"].as_u64() {
        Some(copy) => sentence!("copy {copy} of {host}/{service} ended at {at} of the run: {how}"),
        None => sentence!("{host}/{service} ended at {at} of the run: {how}"),
    }
}

fn kernel_work_text(hosts: &[&str]) -> Sentence {
    let hosts = hosts.join(", ");
    sentence!("the kernel forwards packets for {hosts}: that CPU time is the machine's and in no host's CPU")
}
