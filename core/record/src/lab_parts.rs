//! The parts of records about hosts: those of a lab, those that were sampled, and servers' counts.

use serde::{Deserialize, Serialize};

use crate::Number;

/// The lab that a run was made in, in `environment.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabDoc {
    /// Its name.
    pub name: String,
    /// Its hosts, in the order of the topology.
    pub hosts: Vec<LabHostDoc>,
}

/// A host of a lab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabHostDoc {
    /// Its name.
    pub name: String,
    /// `load`, `balancer`, `server` or `other`.
    pub role: String,
    /// Its services with their versions: `haproxy 2.6.12`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
    /// The congestion control of its TCP connections, such as `cubic`; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
}

/// Statistics of a sampled host over a run, from its first sample before the load to its last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostUseDoc {
    /// Its name.
    pub name: String,
    /// `load`, `balancer`, `server` or `other`; empty if unknown.
    pub role: String,
    /// For how long it was looked at, seconds.
    pub seconds: Number,
    /// CPUs that it may use; 0 if unknown.
    pub cpus: Number,
    /// Share of them that it used, 0 to 1; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Number>,
    /// The same in the second with the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_max: Option<Number>,
    /// The same of the busiest CPU in the second with the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hottest_core_max: Option<Number>,
    /// CPU time that it used, seconds.
    pub cpu_s: Number,
    /// The part of it used by wavetank's load threads that send from this host; absent for a host
    /// that sends nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_load_s: Option<Number>,
    /// `cpu_s` divided by the sent requests, microseconds; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_us_per_request: Option<Number>,
    /// Memory in use at most, bytes.
    pub memory_max_bytes: u64,
    /// Memory that it may use, bytes.
    pub memory_all_bytes: u64,
    /// Established connections at most.
    pub established_max: u64,
    /// Connections in the longest accept queue at most.
    pub accept_queue_max: u64,
    /// Connections dropped because an accept queue was full.
    pub listen_overflows: u64,
    /// Bytes received.
    pub in_bytes: u64,
    /// Bytes sent.
    pub out_bytes: u64,
    /// Bits per second received, in the second with the most.
    pub in_bits_per_s_max: Number,
    /// The same for sent bits.
    pub out_bits_per_s_max: Number,
    /// Addition: what it used of each resource with a limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<HostLimitDoc>,
}

/// What a host used of one resource with a limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostLimitDoc {
    /// `cpu`, `cpu_core`, `load_thread`, `memory`, `files`, `ports`, `link`, `conntrack`,
    /// `tcp_memory`, `time_wait` or `orphans`.
    pub resource: String,
    /// Which of several: the destination of `ports`, the interface of `link`; otherwise absent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// What was used of it before the load, in the unit of `max`.
    pub before: Number,
    /// The most that was used of it.
    pub used: Number,
    /// The limit: CPUs, load threads, bytes, files, ports, bits per second, connections or pages.
    pub max: Number,
    /// `used` divided by `max`.
    pub share: Number,
    /// When that was, seconds on the run's clock.
    pub at_s: Number,
    /// How many times the load would use all of it, if usage grows linearly from `before`; absent
    /// if the load used none of it, or if it was full before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_factor: Option<Number>,
}

/// The limit that a higher load would reach first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NearestLimitDoc {
    /// The name of its host; `local` is the host that sent the load.
    pub host: String,
    /// What was used of it.
    #[serde(flatten)]
    pub limit: HostLimitDoc,
}

/// The counts of a server in a lab while a run was in progress, and the run's own counts. The two
/// must be equal for a server that takes all of the load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerCountDoc {
    /// Host and service, `lb1/haproxy`; several that take the load together are joined by ` + `.
    pub server: String,
    /// Connections that it accepted.
    pub connections: u64,
    /// Requests that it received; absent if it only forwards connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Connections that the run opened, including that of its probe. Absent if the load does not
    /// reach this server directly, or was not the only traffic on the way to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_connections: Option<u64>,
    /// Requests that the run sent, those of its probe, `before` and `after` included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_requests: Option<u64>,
}

impl ServerCountDoc {
    /// Whether its counts equal those of the run; `None` if there is nothing to compare.
    pub fn agrees(&self) -> Option<bool> {
        let connections = self.run_connections.map(|run| run == self.connections);
        let requests = self.requests.zip(self.run_requests).map(|(own, run)| own == run);
        match (connections, requests) {
            (Some(one), Some(other)) => Some(one && other),
            (one, other) => one.or(other),
        }
    }
}
