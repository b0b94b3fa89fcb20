//! [`Hosts`]: the hosts of a lab as the rules see them.

use wavetank_measure::{ErrorClass, HostActivity, HostSample, HostStats, LogEvent, LogFact, Movement};

use crate::facts::RuleInput;
use crate::{Blame, format};

/// Counters that would show other causes. Those that did not move exclude them.
const EXCLUDING: [&str; 5] =
    ["TcpExt.ListenOverflows", "TcpExt.TCPTimeouts", "Tcp.RetransSegs", "Tcp.AttemptFails", "conntrack.drop"];

/// A host and its role.
#[derive(Clone, Copy)]
pub(super) struct Host<'a> {
    pub(super) stats: &'a HostStats,
    pub(super) role: Role,
}

/// The purpose of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Load,
    Balancer,
    Server,
    Other,
}

/// All hosts of a lab.
pub(super) struct Hosts<'a> {
    pub(super) case: &'a RuleInput<'a>,
    pub(super) all: Vec<Host<'a>>,
}

impl<'a> Hosts<'a> {
    pub(super) fn new(case: &'a RuleInput<'a>) -> Self {
        let role = |name: &str| {
            let known = case.facts.circumstances.roles.iter().find(|(known, _)| known == name);
            match known.map(|(_, role)| role.as_str()) {
                Some("load") => Role::Load,
                Some("balancer") => Role::Balancer,
                Some("server") => Role::Server,
                _ => Role::Other,
            }
        };
        let host = |stats: &'a HostStats| Host { stats, role: role(stats.name()) };
        Self { case, all: case.facts.observed.other_hosts().iter().map(host).collect() }
    }

    /// The hosts that are under test, which the load's own are not.
    pub(super) fn under_test(&self) -> impl Iterator<Item = Host<'a>> {
        self.all.iter().copied().filter(|host| matches!(host.role, Role::Balancer | Role::Server))
    }

    pub(super) fn with_role(&self, role: Role) -> impl Iterator<Item = Host<'a>> {
        self.all.iter().copied().filter(move |host| host.role == role)
    }

    /// The host under test on which `value` is highest, if it is above 0.
    pub(super) fn highest(&self, value: impl Fn(&Host<'a>) -> u64) -> Option<(Host<'a>, u64)> {
        let all = self.under_test().map(|host| (host, value(&host)));
        all.filter(|(_, value)| *value > 0).max_by_key(|(_, value)| *value)
    }

    /// The lines of logs about `event`, those with most lines first.
    pub(super) fn logs(&self, event: LogEvent) -> Vec<&'a LogFact> {
        let mut facts: Vec<_> =
            self.case.facts.circumstances.logs.iter().filter(|fact| fact.event == event).collect();
        facts.sort_by_key(|fact| std::cmp::Reverse(fact.lines));
        facts
    }

    /// The side of the host called `name`.
    pub(super) fn blame(&self, name: &str) -> Blame {
        let host = self.all.iter().find(|host| host.stats.name() == name);
        host.map_or(Blame::Unknown, Host::blame)
    }

    /// The name of the host with the address of `peer` (`10.40.1.3:8080`), or `peer` itself.
    pub(super) fn name_of<'p>(&self, peer: &'p str) -> &'p str
    where
        'a: 'p,
    {
        let address = peer.rsplit_once(':').map_or(peer, |(address, _)| address);
        let mut known = self.case.facts.circumstances.addresses.iter();
        known.find(|(ip, _)| ip.to_string() == address).map_or(peer, |(_, name)| name.as_str())
    }

    /// Failed requests of a class.
    pub(super) fn failed(&self, class: ErrorClass) -> u64 {
        self.case.judged.counters.errors[class as usize]
    }

    /// Responses with `status`, if it is not an expected one.
    pub(super) fn status(&self, status: u16) -> u64 {
        let expected = self.case.facts.plan.http.expect.contains(status);
        let all = self.case.judged.status.0.iter().find(|(known, _)| *known == status);
        all.filter(|_| !expected).map_or(0, |(_, count)| *count)
    }

    /// What clients saw of it: failed requests of all.
    pub(super) fn clients(&self) -> Option<String> {
        let counters = &self.case.judged.counters;
        let failed = counters.failed();
        (failed > 0).then(|| {
            format!("{} of {} requests failed", format::count(failed), format::count(counters.offered))
        })
    }
}

impl<'a> Host<'a> {
    pub(super) fn name(&self) -> &'a str {
        self.stats.name()
    }

    pub(super) const fn activity(&self) -> &'a HostActivity {
        self.stats.activity()
    }

    pub(super) const fn blame(&self) -> Blame {
        match self.role {
            Role::Load => Blame::Generator,
            Role::Balancer => Blame::Balancer,
            Role::Server => Blame::Target,
            Role::Other => Blame::Unknown,
        }
    }

    pub(super) fn rise(&self, name: &str) -> u64 {
        self.activity().counter(name).total
    }

    /// `TcpExt.ListenOverflows +2,309 on app1, from 1 s to 8 s`, if it moved.
    pub(super) fn moved(&self, name: &str) -> Option<String> {
        let movement = self.activity().counter(name);
        (movement.total > 0).then(|| {
            let (from, to) = seconds(&movement);
            let by = format::count(movement.total);
            format!("{name} +{by} on {}, from {from} s to {to} s", self.name())
        })
    }

    /// The counters of other causes that did not move.
    pub(super) fn unmoved(&self) -> Option<String> {
        let quiet: Vec<_> = EXCLUDING.into_iter().filter(|name| self.rise(name) == 0).collect();
        (!quiet.is_empty()).then(|| format!("unmoved on {}: {}", self.name(), quiet.join(", ")))
    }

    /// `1,000 of 1,000 ports to 10.40.1.3:8080 in use at 5 s, 1,000 of them in TIME-WAIT`.
    pub(super) fn ports(&self) -> Option<String> {
        let (most, at) = self.activity().destinations().max_by_key(|(one, _)| one.ports)?;
        Some(format!(
            "{} of {} ports to {} in use at {} s, {} of them in TIME-WAIT",
            format::count(most.ports),
            format::count(most.range),
            most.address,
            at.as_secs_f64().round(),
            format::count(most.resting)
        ))
    }

    /// By how much `value` rose at most since the first sample, which is from before the load.
    pub(super) fn risen(&self, value: fn(&HostSample) -> u64) -> u64 {
        let before = self.stats.before().map_or(0, value);
        let most = self.stats.samples().iter().chain(self.stats.last()).map(value).max();
        most.unwrap_or(0).saturating_sub(before)
    }

    /// Bytes that all its interfaces received during the run.
    pub(super) fn received_bytes(&self) -> u64 {
        let before = self.stats.before().map_or(0, |sample| sample.net_in_bytes);
        self.stats.last().map_or(0, |sample| sample.net_in_bytes).saturating_sub(before)
    }
}

/// The first and last second in which it moved: a sample at an instant is of the second before it.
pub(super) fn seconds(movement: &Movement) -> (f64, f64) {
    let second = |at: wavetank_units::Nanos| at.as_secs_f64().round();
    ((second(movement.first) - 1.0).max(0.0), second(movement.last))
}
