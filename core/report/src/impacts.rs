//! Faults and pool changes during the load, and their effect on clients, for the record.

use wavetank_measure::{ClientWindow, Impact, Recovery};
use wavetank_plan::{Plan, PlannedEvent};
use wavetank_record::{ClientWindowDoc, EventKind, EventLine, ImpactDoc, ImpactOutcome, Number, RecoveryDoc};
use wavetank_units::Nanos;

/// One for each of the plan's events, in the plan's order.
pub(crate) fn docs(plan: &Plan, lines: &[EventLine], impacts: &[Impact]) -> Vec<ImpactDoc> {
    let numbered = (0_u16..).zip(&plan.events);
    numbered
        .map(|(number, event)| {
            let own: Vec<&EventLine> = lines.iter().filter(|line| line.event == Some(number)).collect();
            let impact = impacts.iter().find(|impact| impact.event == number);
            doc(number, event, &own, impact)
        })
        .collect()
}

fn doc(number: u16, event: &PlannedEvent, lines: &[&EventLine], impact: Option<&Impact>) -> ImpactDoc {
    let line = |kind: EventKind| lines.iter().find(|line| line.kind == kind);
    let (done, failed) = (line(EventKind::EventDone), line(EventKind::EventFailed));
    let (undone, stuck) = (line(EventKind::EventUndone), line(EventKind::EventStuck));
    let outcome = match (failed, stuck, undone, done) {
        (Some(_), ..) => ImpactOutcome::Failed,
        (_, Some(_), ..) => ImpactOutcome::Stuck,
        (_, _, Some(_), _) => ImpactOutcome::Undone,
        (_, _, _, Some(_)) => ImpactOutcome::Done,
        _ => ImpactOutcome::NotReached,
    };
    let mut doc = ImpactDoc {
        event: number,
        host: event.host.clone(),
        what: PlannedEvent::fault(&event.run).unwrap_or(&event.run).to_owned(),
        from_s: seconds(done.map_or(event.when, |line| Nanos(line.at_ns))),
        until_s: undone.map(|line| seconds(Nanos(line.at_ns))),
        outcome,
        why: failed.or(stuck).map(|line| line.text.clone()).unwrap_or_default(),
        ..ImpactDoc::default()
    };
    if let Some(impact) = impact {
        doc.before = seen(&impact.before);
        doc.during = seen(&impact.during);
        doc.after = seen(&impact.after);
        doc.hurt_s = seconds(impact.hurt);
        (doc.recovery, doc.recovery_s) = match impact.recovery {
            Recovery::Unknown => (RecoveryDoc::Unknown, None),
            Recovery::Unhurt => (RecoveryDoc::Unhurt, None),
            Recovery::During(took) => (RecoveryDoc::During, Some(seconds(took))),
            Recovery::After(took) => (RecoveryDoc::After, Some(seconds(took))),
            Recovery::Never => (RecoveryDoc::Never, None),
        };
    }
    doc
}

/// `None` for a stretch without length.
fn seen(seen: &ClientWindow) -> Option<ClientWindowDoc> {
    let percentile = |q| seen.response.percentile(q).map(Number::micros);
    (seen.time > Nanos::ZERO).then(|| ClientWindowDoc {
        seconds: seconds(seen.time),
        offered: seen.counters.offered,
        done: seen.counters.done,
        done_per_s: Number(seen.per_s(seen.counters.done)),
        failed: seen.counters.failed(),
        dropped: seen.counters.dropped(),
        failed_share: Number(seen.failed_share()),
        lost: seen.lost,
        p50_us: percentile(50.0),
        p99_us: percentile(99.0),
        max_us: (!seen.response.is_empty()).then(|| Number::micros(seen.response.max())),
    })
}

fn seconds(time: Nanos) -> Number {
    Number(time.as_secs_f64())
}
