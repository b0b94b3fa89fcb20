//! A counter of a lab's host names the side that clients cannot see.

use crate::common::{Second, condition, plan};
use wavetank_diagnose::{Diagnosis, FindingCode, RunContext, RunEnd, diagnose};
use wavetank_measure::{HostSample, Ledger};
use wavetank_units::Nanos;

/// Diagnoses a run that lost 600 connections, after which the hosts had these counters: overflows,
/// and sockets in TIME-WAIT.
fn diagnosis(threshold: &str, hosts: &[(&str, u64, u64)]) -> Diagnosis {
    let plan = wavetank_plan::Plan { thresholds: vec![condition(threshold)], ..plan(2) };
    let mut book = Ledger::new(&plan);
    let sample = |at: i64, listen_overflows, tcp_tw| HostSample {
        at: Nanos::from_secs(at),
        listen_overflows,
        tcp_tw,
        ..HostSample::default()
    };
    for (name, _, _) in hosts {
        book.observe_other(name, &sample(-1, 7, 7));
    }
    for at in 0..2 {
        let lost = |second: Second| {
            second.with(|interval| {
                let conns = &mut interval.conns;
                (conns.offered, conns.opened, conns.lost, conns.peak) = (300, 300, 300, 300);
            })
        };
        let _ = book.add(&lost(Second::at(at).done(100, 900)).seal());
    }
    for &(name, overflows, tw) in hosts {
        book.observe_other(name, &sample(2, 7 + overflows, 7 + tw));
    }
    let roles = [("load1", "load"), ("lb1", "balancer"), ("app1", "server")];
    let roles = roles.map(|(name, role)| (name.to_owned(), role.to_owned())).into();
    diagnose(&plan, &book, &RunEnd::Finished, &RunContext { roles, ..RunContext::default() })
}

#[test]
fn blame_and_finding_follow_the_counter() {
    let check = |threshold: &str, hosts: &[(&str, u64, u64)], blame: &str, expected: &[&str]| {
        let found = diagnosis(threshold, hosts);
        assert_eq!(found.verdict.blame.name(), blame, "{found:?}");
        let codes = [FindingCode::AcceptQueueFull, FindingCode::ClosedByHost];
        let own: Vec<_> = found.findings.iter().filter(|one| codes.contains(&one.code)).collect();
        assert_eq!(own.iter().map(|one| one.code.as_str()).collect::<Vec<_>>(), expected);
        assert!(own.iter().all(|one| one.blame.name() == blame), "{own:?}");
    };
    let full = "accept_queue_full";
    check("p99 < 500ms", &[("load1", 0, 0), ("app1", 2_309, 0)], "target", &[full]);
    check("p99 < 500ms", &[("lb1", 358, 0), ("app1", 20, 0)], "balancer", &[full]);
    check("p99 < 500ms", &[("app1", 9, 0)], "unknown", &[]);
    check("p99 < 500ms", &[("load1", 2_309, 0)], "unknown", &[]);
    let closed = "closed_by_host";
    check("lost = 0", &[("lb1", 0, 600), ("app1", 0, 0)], "balancer", &[closed]);
    check("lost = 0", &[("lb1", 0, 20), ("app1", 0, 590)], "target", &[closed]);
    check("lost = 0", &[("lb1", 0, 200), ("app1", 0, 0)], "unknown", &[]);
    check("lost = 0", &[("load1", 0, 600)], "unknown", &[]);
}
