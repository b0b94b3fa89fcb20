//! [`RunEnd`] and [`RunContext`]: how the run ended, and what surrounded it.

use std::net::IpAddr;

use wavetank_measure::{ErrorClass, LogFact};
use wavetank_units::{Nanos, Sentence};

use crate::HookResult;

/// How the run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnd {
    /// As planned, drained or not.
    Finished,
    /// SIGINT or SIGTERM.
    Signal,
    /// Stopped from page or fleet.
    Stopped,
    /// An agent of the fleet was lost, and the user wanted the run to end then.
    AgentLost,
    /// A stop condition fired.
    StopFired {
        /// The condition's text.
        condition: String,
        /// The seal at which it was seen.
        at: Nanos,
    },
    /// A request failed in a step with an `on_failure` that ends the run.
    StepFailed {
        /// The step's name.
        step: String,
        /// Its scenario's; empty where there is but one, without a name.
        scenario: String,
    },
    /// No request was done in the first seconds, and all failed in the same way.
    Hopeless {
        /// How everything failed.
        class: ErrorClass,
    },
    /// The uncounted probe got no answer; nothing else was sent.
    ProbeFailed {
        /// How it failed.
        class: ErrorClass,
        /// The probe's message, e.g. `connection refused`.
        message: Sentence,
    },
    /// The load threads did not get ready in time; no load was sent.
    NeverBegan {
        /// How long they were given.
        waited: Nanos,
    },
    /// A step or check of the run's `before` failed, as [`RunContext::before`] reports. No load was
    /// sent.
    BeforeFailed,
}

/// How the kernel stopped this process during the run because a CPU quota was used up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Throttling {
    /// The quota in CPUs.
    pub quota_cpus: f64,
    /// Periods in which the process ran.
    pub periods: u64,
    /// Periods among them in which it was stopped.
    pub throttled_periods: u64,
    /// The time for which it was stopped, added up over its CPUs.
    pub stopped: Nanos,
}

/// What a balancer's program counted of its servers during a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BalancerCounts {
    /// Its host and service: `lb1/haproxy`.
    pub service: String,
    /// The most requests that waited for a server together, since the program started.
    pub queue_max: u64,
    /// Its limit on connections of clients, if that was reached.
    pub full: Option<u64>,
    /// Responses that were broken or did not come in time.
    pub response_errors: u64,
    /// Requests and connections that its own rules rejected.
    pub rejected: u64,
    /// Its limit on new sessions a second, if that was reached.
    pub rate_limit: Option<u64>,
    /// It passes on connections and knows no requests.
    pub is_tcp: bool,
    /// Its servers, as they were at the end of the run.
    pub servers: Vec<BalancedServer>,
}

/// A server as its balancer sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BalancedServer {
    /// Its name.
    pub name: String,
    /// As the balancer has it: `DOWN (L7STS 404)`.
    pub state: String,
    /// It may get requests.
    pub is_up: bool,
    /// It gets requests only if no other server is up.
    pub is_backup: bool,
}

/// The circumstances of the run that the caller knows.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct RunContext {
    /// Load and target share this host.
    pub same_host: bool,
    /// The hosts of the lab, by name, with their roles: `load`, `balancer`, `server` or `other`.
    pub roles: Vec<(String, String)>,
    /// The services of the lab's hosts: the host, and the service's name with its version.
    pub services: Vec<(String, String)>,
    /// Addresses of the lab's hosts, with their names.
    pub addresses: Vec<(IpAddr, String)>,
    /// What the logs of the lab's services report.
    pub logs: Vec<LogFact>,
    /// What the lab's balancers counted during the run.
    pub balancers: Vec<BalancerCounts>,
    /// The links of the lab that lose packets on purpose: host and interface.
    pub lossy_links: Vec<(String, String)>,
    /// CPUs this process was allowed.
    pub cpus: u32,
    /// Share of CPU time the hypervisor took.
    pub steal: Option<f64>,
    /// The run is still running: what is known so far is judged.
    pub running: bool,
    /// How a CPU quota stopped this process during the run; `None` without a quota.
    pub throttling: Option<Throttling>,
    /// What is missing of the run or of its record, one sentence each. Any makes the run
    /// incomplete.
    pub lost: Vec<Sentence>,
    /// What the agents of a fleet lack; `None` on a single host. Any makes the run incomplete,
    /// unless it is tolerated.
    pub fleet: Option<crate::FleetGaps>,
    /// Messages about violations of conservation in single threads or agents. Each makes the run
    /// invalid.
    pub accounting: Vec<Sentence>,
    /// The messages of the first failures of a class where the hint depends on them: TLS failures,
    /// and tunnels through a proxy. There are only a few.
    pub faults: Vec<(ErrorClass, Sentence)>,
    /// A knee was sought: a full generator voids it.
    pub knee_sought: bool,
    /// `--scale` or `--speed`: a rehearsal, in which an undecided threshold is only noted.
    pub rehearsal: bool,
    /// The result of the run's `before`.
    pub before: HookResult,
    /// The result of the run's `after`. A failure in it makes the run fail, however the load ended.
    pub after: HookResult,
}
