//! [`Hosts`]: the sampled hosts as the rules see them.

use std::net::SocketAddr;

use wavetank_measure::{
    DestinationSample, ErrorClass, HostActivity, HostSample, HostStats, ListenerActivity, LogEvent, LogFact,
    Movement,
};
use wavetank_plan::{THIS_HOST, UrlProtocol};
use wavetank_units::{Nanos, Sentence, sentence};

use crate::facts::RuleInput;
use crate::{BalancerCounts, Blame, format};

/// Counters that would show other causes. Those that did not move exclude them.
const EXCLUDING: [&str; 5] =
    ["TcpExt.ListenOverflows", "TcpExt.TCPTimeouts", "Tcp.RetransSegs", "Tcp.AttemptFails", "conntrack.drop"];

/// Connections wait much for their receivers from this share of their time on, in thousandths.
const RECEIVER_LIMITED_MIN: u64 = 200;

/// The throttling of fewer periods of a CPU quota says nothing.
const QUOTA_PERIODS_MIN: u64 = 10;

/// A host and its role.
#[derive(Clone, Copy)]
pub(super) struct Host<'a> {
    pub(super) stats: &'a HostStats,
    pub(super) role: Role,
    pub(super) place: Place,
}

/// Where a host is, seen from the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A host of a lab, or one that was observed in addition.
    Other,
    /// A host that sends the load: this one, or one of a fleet.
    Sender,
    /// The same, and the target is on it.
    WithTarget,
}

/// The purpose of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Load,
    Balancer,
    Server,
    Other,
}

/// How messages name the host that sends the load.
pub(super) const THIS: &str = "this host";

/// All sampled hosts.
pub(super) struct Hosts<'a> {
    pub(super) case: &'a RuleInput<'a>,
    pub(super) all: Vec<Host<'a>>,
}

impl<'a> Hosts<'a> {
    pub(super) fn new(case: &'a RuleInput<'a>) -> Self {
        let host = |stats: &'a HostStats| {
            let known = case.facts.circumstances.roles.iter().find(|(known, _)| known == stats.name());
            let (role, place) = match known.map(|(_, role)| role.as_str()) {
                Some("load") => (Role::Load, Place::Other),
                Some("balancer") => (Role::Balancer, Place::Other),
                Some("server") => (Role::Server, Place::Other),
                // Outside of a lab, agents of a fleet sample their hosts. Others are under test.
                None if stats.is_machine() && stats.sends_load() => (Role::Load, Place::Sender),
                None if stats.is_machine() => (Role::Server, Place::Other),
                _ => (Role::Other, Place::Other),
            };
            Host { stats, role, place }
        };
        let place = if case.same_host { Place::WithTarget } else { Place::Sender };
        let this = case.facts.observed.this_host().map(|stats| Host { stats, role: Role::Load, place });
        let others = case.facts.observed.other_hosts().iter().map(host);
        Self { case, all: others.chain(this).collect() }
    }

    /// The hosts that are under test, which the load's own are only if the target is on them.
    pub(super) fn under_test(&self) -> impl Iterator<Item = Host<'a>> {
        let is_tested = |host: &Host<'_>| {
            matches!(host.role, Role::Balancer | Role::Server) || host.place == Place::WithTarget
        };
        self.all.iter().copied().filter(is_tested)
    }

    /// The hosts that send the load and are sampled as a whole: this one, or those of a fleet.
    pub(super) fn senders(&self) -> impl Iterator<Item = Host<'a>> {
        self.all.iter().copied().filter(Host::sends)
    }

    /// The addresses that the load goes to.
    fn targets(&self) -> impl Iterator<Item = SocketAddr> + use<'a> {
        let plan = self.case.facts.plan;
        plan.targets.iter().flat_map(|target| plan.connect_addresses(target)).copied()
    }

    /// The fullest destination of `host`. `own`: of those that the load goes to, else of others.
    pub(super) fn destination(&self, host: &Host<'a>, own: bool) -> Option<&'a (DestinationSample, Nanos)> {
        let goes = |one: &&(DestinationSample, Nanos)| {
            let address = one.0.address;
            let canonical = SocketAddr::new(address.ip().to_canonical(), address.port());
            let is_own = host.sends() && self.targets().any(|target| target == canonical);
            is_own == own && one.0.range > 0
        };
        let all = host.activity().destinations().filter(goes);
        all.max_by(|(one, _), (other, _)| fill(one).total_cmp(&fill(other)))
    }

    /// The listeners of `host` that the rules are about: on a host that sends the load, those of
    /// the target.
    pub(super) fn listeners(&self, host: &Host<'a>) -> Vec<&'a ListenerActivity> {
        let is_wanted = |one: &&ListenerActivity| self.serves(host, one.fullest.address.port());
        host.activity().listeners().filter(is_wanted).collect()
    }

    /// Whether the rules are about a listener of `host` on `port`.
    pub(super) fn serves(&self, host: &Host<'_>, port: u16) -> bool {
        !host.sends() || self.targets().any(|target| target.port() == port)
    }

    pub(super) fn with_role(&self, role: Role) -> impl Iterator<Item = Host<'a>> {
        self.all.iter().copied().filter(move |host| host.role == role)
    }

    /// What the balancers' programs counted, with their hosts.
    pub(super) fn counts(&self) -> impl Iterator<Item = (Host<'a>, &'a BalancerCounts)> {
        let counts = self.case.facts.circumstances.balancers.iter();
        counts.filter_map(|count| {
            let name = count.service.split('/').next().unwrap_or_default();
            Some((self.with_role(Role::Balancer).find(|host| host.name() == name)?, count))
        })
    }

    /// What the programs of one balancer counted.
    pub(super) fn counts_of(&self, host: &Host<'_>) -> impl Iterator<Item = &'a BalancerCounts> {
        self.counts().filter(|(one, _)| one.name() == host.name()).map(|(_, count)| count)
    }

    /// The balancer, if there is only one.
    pub(super) fn only_balancer(&self) -> Option<Host<'a>> {
        let mut all = self.with_role(Role::Balancer);
        all.next().filter(|_| all.next().is_none())
    }

    /// Whether the load is requests of HTTP alone, without sockets and raw connections.
    pub(super) fn is_plain_http(&self) -> bool {
        let mut targets = self.case.facts.plan.targets.iter();
        targets.all(|target| matches!(target.protocol(), UrlProtocol::Http | UrlProtocol::Grpc))
    }

    /// The host that `host` receives data from.
    pub(super) fn writer_to(&self, host: &Host<'a>) -> Option<Host<'a>> {
        match host.role {
            _ if host.place == Place::WithTarget => Some(*host),
            Role::Load => self.fronts().next(),
            Role::Balancer => self.with_role(Role::Server).max_by_key(|server| server.rise("Tcp.OutSegs")),
            Role::Server => self.only_balancer(),
            Role::Other => None,
        }
    }

    /// The hosts under test that the load goes to.
    pub(super) fn fronts(&self) -> impl Iterator<Item = Host<'a>> {
        let known = &self.case.facts.circumstances.addresses;
        let names: Vec<&str> = self
            .targets()
            .filter_map(|target| known.iter().find(|(ip, _)| *ip == target.ip()))
            .map(|(_, name)| name.as_str())
            .collect();
        self.under_test().filter(move |host| names.contains(&host.name()))
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

    /// Whether no server failed in the log of nginx that has `fact`: without failures none is taken
    /// out.
    pub(super) fn has_no_failure(&self, fact: &LogFact) -> bool {
        use LogEvent::{NoPorts, UpstreamClosed, UpstreamRefused, UpstreamTimeout, UpstreamUnreachable};
        let failures = [NoPorts, UpstreamClosed, UpstreamRefused, UpstreamTimeout, UpstreamUnreachable];
        let failed = |event: LogEvent| self.logs(event).iter().any(|one| one.host == fact.host);
        fact.log.contains("nginx") && !failures.into_iter().any(failed)
    }

    /// The host with the connections that waited most for their receivers, if that is much.
    pub(super) fn waiting_for_receivers(&self) -> Option<Sentence> {
        let share = |host: &Host<'a>| host.activity().highest("tcp.rwnd_limited_milli").unwrap_or_default();
        let host = self.all.iter().copied().max_by_key(|host| share(host).0)?;
        let (milli, at) = share(&host);
        (milli >= RECEIVER_LIMITED_MIN).then(|| {
            sentence!(
                "connections of {} waited for their receiver in {} of the time with data to send, at {} s",
                host.name(),
                format::percent(milli as f64 / 1_000.0),
                at.as_secs_f64().round()
            )
        })
    }

    /// Returns the host of that name.
    pub(super) fn with_name(&self, name: &str) -> Option<&Host<'a>> {
        self.all.iter().find(|host| host.name() == name)
    }

    /// The side of the host called `name`.
    pub(super) fn blame(&self, name: &str) -> Blame {
        self.with_name(name).map_or(Blame::Unknown, Host::blame)
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
    pub(super) fn clients(&self) -> Option<Sentence> {
        let counters = &self.case.judged.counters;
        let failed = counters.failed();
        (failed > 0).then(|| {
            sentence!("{} of {} requests failed", format::count(failed), format::count(counters.offered))
        })
    }
}

impl<'a> Host<'a> {
    pub(super) fn name(&self) -> &'a str {
        if self.stats.name() == THIS_HOST { THIS } else { self.stats.name() }
    }

    /// Whether it sends the load, and is no host of a lab.
    pub(super) fn sends(&self) -> bool {
        self.place != Place::Other
    }

    pub(super) const fn activity(&self) -> &'a HostActivity {
        self.stats.activity()
    }

    pub(super) const fn blame(&self) -> Blame {
        match self.role {
            Role::Load if matches!(self.place, Place::WithTarget) => Blame::Target,
            Role::Load => Blame::Generator,
            Role::Balancer => Blame::Balancer,
            Role::Server => Blame::Target,
            Role::Other => Blame::Unknown,
        }
    }

    pub(super) fn rise(&self, name: &str) -> u64 {
        self.activity().counter(name).total
    }

    /// Returns the share of its CPU quota's periods in which the host was stopped; zero if there
    /// were too few to judge.
    pub(super) fn throttled_share(&self) -> f64 {
        let (periods, stopped) = (self.rise("cgroup.periods"), self.rise("cgroup.throttled_periods"));
        if periods >= QUOTA_PERIODS_MIN { stopped as f64 / periods as f64 } else { 0.0 }
    }

    /// `TcpExt.ListenOverflows +2,309 on app1, from 1 s to 8 s`, if it moved.
    pub(super) fn moved(&self, name: &str) -> Option<Sentence> {
        let movement = self.activity().counter(name);
        (movement.total > 0).then(|| {
            let (from, to) = seconds(&movement);
            let by = format::count(movement.total);
            sentence!("{name} +{by} on {}, from {from} s to {to} s", self.name())
        })
    }

    /// The counters of other causes that did not move.
    pub(super) fn unmoved(&self) -> Option<Sentence> {
        let quiet: Vec<_> = EXCLUDING.into_iter().filter(|name| self.rise(name) == 0).collect();
        (!quiet.is_empty()).then(|| sentence!("unchanged on {}: {}", self.name(), quiet.join(", ")))
    }

    /// `round trips of its connections: 39 ms in the median at 5 s`, at their longest.
    pub(super) fn round_trips(&self) -> Option<Sentence> {
        let (rtt_us, at) = self.activity().highest("tcp.rtt_us")?;
        let rtt = Nanos::from_micros(i64::try_from(rtt_us).unwrap_or(i64::MAX));
        Some(sentence!(
            "round trips of its connections: {rtt} in the median at {} s",
            at.as_secs_f64().round()
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

/// The share of ports to a destination that is in use.
pub(super) fn fill(one: &DestinationSample) -> f64 {
    one.ports as f64 / one.range.max(1) as f64
}

/// `1,000 of 1,000 ports to 10.40.1.3:8080 in use at 5 s, 1,000 of them in TIME-WAIT`.
pub(super) fn ports_text((most, at): &(DestinationSample, Nanos)) -> Sentence {
    sentence!(
        "{} of {} ports to {} in use at {} s, {} of them in TIME-WAIT",
        format::count(most.ports),
        format::count(most.range),
        most.address,
        at.as_secs_f64().round(),
        format::count(most.resting)
    )
}
