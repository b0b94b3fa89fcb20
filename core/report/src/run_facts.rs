//! [`build_record`]: what was measured and how it ended becomes the record.

use wavetank_diagnose::{RunContext, RunEnd, diagnose};
use wavetank_measure::Ledger;
use wavetank_plan::Plan;
use wavetank_record::{
    ConnectionMemory, EnvironmentDoc, EventKind, EventLine, ImpactDoc, LabHostDoc, Number, RunRecord,
    SampleLine, Setup,
};
use wavetank_units::{Nanos, Sentence, sentence};

use crate::compose::{Composition, compose};

/// Everything known about a run, live or read back from its archive.
#[derive(Clone, Copy)]
pub struct RunFacts<'a> {
    /// The plan of the run.
    pub plan: &'a Plan,
    /// SHA-256 of `plan.yaml`.
    pub plan_hash: &'a str,
    /// Everything known before the first packet.
    pub environment: &'a EnvironmentDoc,
    /// The measurements.
    pub ledger: &'a Ledger,
    /// How the run ended.
    pub ending: &'a RunEnd,
    /// Facts outside of the measurements that a verdict depends on.
    pub circumstances: &'a RunContext,
    /// CPU time in user mode and in the kernel, in seconds; zeros if unknown.
    pub cpu_s: (f64, f64),
    /// Peak resident memory in bytes.
    pub peak_rss_bytes: u64,
    /// Memory per connection, if it was measured.
    pub connection_memory: Option<ConnectionMemory>,
    /// Requests of the probe; those around the load are in the circumstances.
    pub setup: Setup,
    /// The events of the run.
    pub events: &'a [EventLine],
    /// Examples: failed requests and slow ones.
    pub samples: &'a [SampleLine],
}

/// Makes the record of a run from everything known about it.
pub fn build_record(facts: RunFacts<'_>) -> RunRecord {
    let RunFacts { plan, ledger, ending, circumstances, .. } = facts;
    let hosts = facts.environment.lab.iter().flat_map(|lab| &lab.hosts);
    let roles = hosts.clone().map(|host| (host.name.clone(), host.role.clone())).collect();
    let own = |host: &LabHostDoc| {
        let named = |service: &String| (host.name.clone(), service.clone());
        host.services.iter().map(named).collect::<Vec<_>>()
    };
    let services = hosts.flat_map(own).collect();
    let circumstances = &RunContext { roles, services, ..circumstances.clone() };
    let diagnosis = diagnose(plan, ledger, ending, circumstances);
    let mut record = compose(&Composition {
        plan,
        plan_hash: facts.plan_hash,
        environment: facts.environment,
        totals: ledger.totals(),
        observed: ledger.observed(),
        thresholds: &ledger.results(),
        diagnosis: &diagnosis,
        cpu_s: facts.cpu_s,
        peak_rss_bytes: facts.peak_rss_bytes,
        connection_memory: facts.connection_memory,
        setup: facts.setup,
        before: &circumstances.before,
        after: &circumstances.after,
        events: facts.events,
        impacts: &ledger.impacts(),
        samples: facts.samples,
    });
    // Ahead of all else: its numbers must never be taken for those of the real run.
    let changes = first_events(facts.events, &[EventKind::LoadChanged]);
    record.notes.splice(0..0, facts.environment.rehearsal.clone().into_iter().chain(changes));
    record.notes.extend(moves(facts.events));
    record.notes.extend(hurts(&record.impacts));
    record
}

/// The first changes of addresses: what the numbers are of is another machine from then on.
fn moves(events: &[EventLine]) -> Vec<Sentence> {
    let kinds = [EventKind::NamesMoved, EventKind::NamesFailed];
    let mut notes = first_events(events, &kinds);
    let all = events.iter().filter(|event| kinds.iter().any(|kind| event.kind == *kind));
    let more = all.count() - notes.len();
    if more > 0 {
        notes.push(sentence!("{more} more address changes are in the archive's events.jsonl"));
    }
    notes
}

/// Returns the first events of these kinds with their times.
fn first_events(events: &[EventLine], kinds: &[EventKind]) -> Vec<Sentence> {
    let of_kind = events.iter().filter(|event| kinds.iter().any(|kind| event.kind == *kind));
    let note = |event: &EventLine| sentence!("{} (at {})", event.text, Nanos(event.at_ns));
    of_kind.take(EVENTS_MAX).map(note).collect()
}

/// Most events of a kind in the result.
const EVENTS_MAX: usize = 10;

/// Returns events on hosts that made clients' results worse, the worst first. They change how the
/// bottleneck is read.
fn hurts(impacts: &[ImpactDoc]) -> Vec<Sentence> {
    let mut hurtful: Vec<_> = impacts.iter().filter(|impact| impact.hurt_s.0 > 0.0).collect();
    hurtful.sort_by(|one, other| other.hurt_s.0.total_cmp(&one.hurt_s.0));
    let time = |seconds: Number| Nanos((seconds.0 * 1e9).round() as i64);
    let reported = |impact: &&ImpactDoc| {
        let ImpactDoc { host, what, from_s, hurt_s, .. } = impact;
        sentence!(
            "clients fared worse for {} around `{what}` on {host} (at {})",
            time(*hurt_s),
            time(*from_s)
        )
    };
    hurtful.iter().take(HURTS_SHOWN).map(reported).collect()
}

/// Most of them in the result; the section on events lists all.
const HURTS_SHOWN: usize = 3;

/// Returns the counts of requests outside the load. The probe, if there was one, counts as one
/// answered request, because a run only continues after its response. Events have the counts of
/// hooks before and after the load.
pub fn requests_outside_load(probed: bool, events: &[EventLine]) -> Setup {
    let one = u64::from(probed);
    let mut all = Setup { sent: one, done: one, failed: 0 };
    for own in events.iter().filter_map(|event| event.setup) {
        all.sent += own.sent;
        all.done += own.done;
        all.failed += own.failed;
    }
    all
}

#[cfg(test)]
mod tests {
    use wavetank_record::{ImpactOutcome, RecoveryDoc};

    use super::*;

    #[test]
    fn what_hurt_clients_most_is_reported_first() {
        let impact = |what: &str, from_s: f64, hurt_s: f64| ImpactDoc {
            event: 0,
            host: "app1".to_owned(),
            what: what.to_owned(),
            from_s: Number(from_s),
            until_s: None,
            outcome: ImpactOutcome::Done,
            why: Sentence::empty(),
            before: None,
            during: None,
            after: None,
            hurt_s: Number(hurt_s),
            recovery: RecoveryDoc::Unknown,
            recovery_s: None,
        };
        let check = |impacts: &[ImpactDoc], expected: &[&str]| assert_eq!(hurts(impacts), expected);
        check(&[impact("kill serve", 18.0, 0.0)], &[]);
        check(
            &[
                impact("pause serve", 48.0, 5.0),
                impact("cut eth0", 60.5, 12.0),
                impact("kill serve", 18.0, 0.0),
            ],
            &[
                "clients fared worse for 12.0 s around `cut eth0` on app1 (at 60.5 s)",
                "clients fared worse for 5.00 s around `pause serve` on app1 (at 48.0 s)",
            ],
        );
        let many: Vec<_> = (1..=5).map(|n| impact("kill serve", 1.0, f64::from(n))).collect();
        assert_eq!(hurts(&many).len(), HURTS_SHOWN);
    }
}
