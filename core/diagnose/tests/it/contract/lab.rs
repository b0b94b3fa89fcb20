//! [`Lab`]: a run in a lab with recorded counters, logs and what clients saw.

use crate::common::{Second, condition, plan};
use wavetank_diagnose::{BalancerCounts, Diagnosis, FindingCode, RunContext, RunEnd, diagnose};
use wavetank_measure::{ErrorClass, HandshakeParams, HostSample, Ledger, LogEvent, LogFact};
use wavetank_plan::{Plan, PlannedEvent};
use wavetank_units::Nanos;

/// A run of two seconds in a lab with a load host, a balancer and three servers.
#[derive(Default)]
pub(super) struct Lab {
    pub(super) threshold: Option<&'static str>,
    pub(super) failed: Option<(u64, ErrorClass)>,
    pub(super) status: Option<(u16, u64)>,
    pub(super) lost: u64,
    pub(super) retried: u64,
    pub(super) handshakes: u64,
    pub(super) event: Option<&'static str>,
    /// By host: counters that rose in each second.
    pub(super) rises: Vec<(&'static str, Vec<(&'static str, u64)>)>,
    /// By host: the other values at the end.
    pub(super) ends: Vec<(&'static str, HostSample)>,
    pub(super) log: Option<(&'static str, LogEvent, u64, &'static str)>,
    pub(super) counts: BalancerCounts,
}

const HOSTS: [(&str, &str); 5] =
    [("load1", "load"), ("lb1", "balancer"), ("app1", "server"), ("app2", "server"), ("app3", "server")];

impl Lab {
    pub(super) fn plan(&self) -> Plan {
        let event = |run: &&str| PlannedEvent {
            when: Nanos::from_secs(1),
            host: "lb1".to_owned(),
            run: (*run).to_owned(),
            undo: None,
            lasts: None,
        };
        let thresholds = self.threshold.map(condition).into_iter().collect();
        Plan { thresholds, events: self.event.iter().map(event).collect(), ..plan(2) }
    }

    pub(super) fn context(&self) -> RunContext {
        let log = |&(host, event, lines, peer): &(&str, LogEvent, u64, &str)| LogFact {
            host: host.to_owned(),
            log: "nginx".to_owned(),
            event,
            lines,
            peer: peer.to_owned(),
            first: "17:00:05".to_owned(),
            last: "17:00:09".to_owned(),
        };
        let service = "lb1/haproxy".to_owned();
        let counts = BalancerCounts { service, ..self.counts.clone() };
        RunContext {
            roles: HOSTS.map(|(name, role)| (name.to_owned(), role.to_owned())).into(),
            addresses: [("10.0.1.2", "app1"), ("10.0.0.5", "lb1")]
                .map(|(address, name)| (address.parse().expect("an address"), name.to_owned()))
                .into(),
            logs: self.log.iter().map(log).collect(),
            balancers: vec![counts],
            ..RunContext::default()
        }
    }

    pub(super) fn diagnose(&self) -> Diagnosis {
        let plan = self.plan();
        let mut ledger = Ledger::new(&plan);
        for (name, _) in HOSTS {
            ledger.observe_other(name, &self.sample(name, -1));
        }
        for at in 0..2 {
            let mut second = Second::at(at).done(400, 30);
            if let Some((n, class)) = self.failed {
                second = second.failed(n, class, 300);
            }
            let second = second.with(|interval| {
                (interval.conns.lost, interval.conns.peak) = (self.lost, 300);
                (interval.conns.offered, interval.conns.opened) = (self.lost, self.lost);
                if self.handshakes > 0 {
                    interval.target_mut(0, 0).handshakes.add(&HandshakeParams::default(), self.handshakes);
                }
                let wire = &mut interval.steps[0].wire;
                (wire.sent, wire.retried) = (wire.sent + self.retried, self.retried);
                if let Some((status, n)) = self.status {
                    interval.steps[0].status.add(status, n);
                }
            });
            let _ = ledger.add(&second.seal());
            for (name, _) in HOSTS {
                ledger.observe_other(name, &self.sample(name, at + 1));
            }
        }
        diagnose(&plan, &ledger, &RunEnd::Finished, &self.context())
    }

    fn sample(&self, host: &str, at: i64) -> HostSample {
        let end = self.ends.iter().find(|(name, _)| *name == host).map(|(_, sample)| sample.clone());
        let mut sample = end.filter(|_| at == 2).unwrap_or_default();
        sample.at = Nanos::from_secs(at);
        if at > 0 {
            let rises = self.rises.iter().filter(|(name, _)| *name == host).flat_map(|(_, all)| all);
            sample.counters.rises = rises.map(|(name, n)| ((*name).to_owned(), *n)).collect();
            sample.counters.rises.sort();
        }
        sample
    }

    /// The run's findings must begin with `code`, with that blame and a message that names `host`.
    #[track_caller]
    pub(super) fn check(&self, code: &str, blame: &str, host: &str) {
        let found = self.diagnose();
        let first = found.findings.first().map(|one| (one.code.as_str(), one.blame.name()));
        assert_eq!(first, Some((code, blame)), "{:#?}", found.findings);
        let first = &found.findings[0];
        assert!(first.message.contains(host), "{first:?}");
        assert!(!first.evidence.is_empty() && !first.hint.is_empty(), "{first:?}");
        if found.verdict.status.name() == "fail" {
            assert_eq!(found.verdict.blame.name(), blame);
        }
        let codes: Vec<_> = found.findings.iter().map(|one| one.code).collect();
        assert!(
            !codes.contains(&FindingCode::SameAge) && !codes.contains(&FindingCode::Standstill),
            "{codes:?}"
        );
    }

    /// The run must have no finding.
    #[track_caller]
    pub(super) fn check_clean(&self) {
        let findings = self.diagnose().findings;
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

/// A run in which requests failed with a status.
pub(super) fn failing(status: u16) -> Lab {
    Lab { failed: Some((200, ErrorClass::Status)), status: Some((status, 200)), ..Lab::default() }
}

/// A run with a threshold that its times break.
pub(super) fn slow() -> Lab {
    Lab { threshold: Some("p95 < 10ms"), ..Lab::default() }
}
