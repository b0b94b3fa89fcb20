//! The results of sessions as text: sessions, checks, counts, rendezvous, the hooks around the
//! load, and examples.

use std::collections::{HashMap, HashSet};

use wavetank_record::{HookDoc, Number, RendezvousDoc, RendezvousReleaseDoc, RunRecord, SampleLine, Status};
use wavetank_units::quantity::format_grouped;
use wavetank_units::status_text;

use crate::examples::is_of_warmup;
use crate::format::{self, count_with_share};
use crate::text_layout::TextLayout;

/// Columns for the result of a check.
const WORD_COLUMNS: usize = 9;
/// Most checks listed by name if all responses passed them; the others are counted.
const HELD_MAX: usize = 10;
/// Most examples of each kind; the record has more.
const EXAMPLES_MAX: usize = 3;

/// One check by its name, over all steps that have it.
pub(crate) struct NamedCheck {
    pub(crate) name: String,
    pub(crate) steps: Vec<String>,
    pub(crate) held: u64,
    pub(crate) failed: u64,
}

/// Returns the record's checks by name, in the order of the first appearance of each name.
pub(crate) fn by_name(record: &RunRecord) -> Vec<NamedCheck> {
    let mut named: Vec<NamedCheck> = Vec::new();
    // A plan may have thousands of steps, each with its own checks.
    let (mut places, mut seen) = (HashMap::new(), HashSet::new());
    for check in &record.checks {
        let at = *places.entry(&check.name).or_insert_with(|| {
            named.push(NamedCheck { name: check.name.clone(), steps: Vec::new(), held: 0, failed: 0 });
            named.len() - 1
        });
        let known = &mut named[at];
        known.held += check.held;
        known.failed += check.failed;
        if seen.insert((at, &check.step)) {
            known.steps.push(check.step.clone());
        }
    }
    named
}

/// Checks: failed ones, those that never ran, and some that passed.
pub(crate) fn add_checks(page: &mut TextLayout, record: &RunRecord) {
    let named = by_name(record);
    let rank = |check: &NamedCheck| match (check.failed, check.held) {
        (1.., _) => 0,
        (0, 0) => 1,
        (0, _) => 2,
    };
    let mut ordered: Vec<_> = named.iter().collect();
    ordered.sort_by_key(|check| rank(check));
    let held = ordered.iter().filter(|check| rank(check) == 2).count();
    let shown = ordered.len() - held.saturating_sub(HELD_MAX);
    for (number, check) in ordered[..shown].iter().enumerate() {
        let answers = check.held + check.failed;
        let (word, said) = match rank(check) {
            0 => (
                "fail",
                format!("{} of {} answers", count_with_share(check.failed, answers), format_grouped(answers)),
            ),
            1 => ("not run", "no answer arrived".to_owned()),
            _ => ("pass", format!("{} answers", format_grouped(answers))),
        };
        let step = format::cut(check.steps.first().map_or("", String::as_str));
        let step =
            if check.steps.len() > 1 { format!("{} steps", check.steps.len()) } else { step.into_owned() };
        let sentence = format!("{}: {said} · {step}", format::cut(&check.name));
        page.entry(if number == 0 { "checks" } else { "" }, word, WORD_COLUMNS, &sentence);
    }
    if shown < ordered.len() {
        page.entry("", "pass", WORD_COLUMNS, &format!("and {} more", ordered.len() - shown));
    }
}

/// The counts of steps, and the rendezvous.
pub(crate) fn add_counts(page: &mut TextLayout, record: &RunRecord) {
    let counts = record.counts.iter().map(|(name, &n)| format!("{name} {}", format_grouped(n)));
    page.parts("counts", &counts.collect::<Vec<_>>());
    for (number, place) in record.rendezvous.iter().enumerate() {
        page.parts(if number == 0 { "rendezvous" } else { "" }, &rendezvous(place));
    }
}

fn rendezvous(place: &RendezvousDoc) -> Vec<String> {
    let skew = |us: Option<Number>| us.map(format::time);
    match &place.meetings[..] {
        [] => vec![place.name.clone(), "no users met there".to_owned()],
        [RendezvousReleaseDoc { of, present, by_wait, skew_us, .. }] if place.met == 1 => {
            let met = format!("{} of {} met", format_grouped(*present), format_grouped(*of));
            let wait = if *by_wait { "the wait timed out" } else { "" };
            let skew = skew(*skew_us).map_or("no user continued".to_owned(), |skew| format!("skew {skew}"));
            vec![place.name.clone(), met, wait.to_owned(), skew]
        }
        _ => {
            let waits = if place.by_wait > 0 {
                format!("the wait timed out {} times", format_grouped(place.by_wait))
            } else {
                String::new()
            };
            let met = format!("met {} times", format_grouped(place.met));
            let present = format!("{} users in all", format_grouped(place.present));
            let skew = skew(place.skew_us).map(|skew| format!("maximum skew {skew}"));
            vec![place.name.clone(), met, present, waits, skew.unwrap_or_default()]
        }
    }
}

/// The hooks before and after the load, if there were any.
pub(crate) fn add_loop_times(page: &mut TextLayout, record: &RunRecord) {
    for (label, around) in [("before", &record.before), ("after", &record.after)] {
        let Some(HookDoc { checks, faults }) = around else { continue };
        let faults = faults.iter().map(|fault| ("fail", format!("{}: {}", fault.step, fault.what)));
        let checks = checks.iter().map(|check| {
            let said = format!("{}: {}", check.step, check.name);
            if check.ok { ("pass", said) } else { ("fail", format!("{said}: found {}", check.found)) }
        });
        // Hooks before the load that passed are of no interest after it.
        let reported = faults.chain(checks).filter(|(word, _)| label == "after" || *word == "fail");
        for (number, (word, said)) in reported.enumerate() {
            page.entry(if number == 0 { label } else { "" }, word, WORD_COLUMNS, &said);
        }
    }
}

/// A few notable requests: failures, and the slowest ones if more than one kind was sent.
pub(crate) fn add_examples(page: &mut TextLayout, record: &RunRecord) {
    let journeys = record.steps.len() > 1;
    if !journeys && record.verdict.status == Status::Pass {
        return;
    }
    let failed = record.samples.iter().filter(|sample| sample.kind != "slow");
    let mut slow: Vec<_> = record.samples.iter().filter(|sample| sample.kind == "slow" && journeys).collect();
    slow.sort_by(|a, b| b.total_us.0.total_cmp(&a.total_us.0));
    for (label, samples) in [("failed", failed.collect::<Vec<_>>()), ("slowest", slow)] {
        for (number, sample) in samples.into_iter().take(EXAMPLES_MAX).enumerate() {
            page.parts(if number == 0 { label } else { "" }, &example(record, sample));
        }
    }
}

/// One example: step, instant, duration, and reason.
pub(crate) fn example(record: &RunRecord, sample: &SampleLine) -> Vec<String> {
    let at = format::seconds(Number(sample.intended_ns as f64 / 1e9));
    let mut parts = vec![
        format::cut(&sample.step).into_owned(),
        if is_of_warmup(record, sample) { format!("at {at} (warm-up)") } else { format!("at {at}") },
        format::time(sample.total_us),
    ];
    // WebSocket messages have none, and a gRPC call that ended well needs none.
    parts.extend(
        sample.status.filter(|status| *status != 0).map(|status| format!("status {}", status_text(status))),
    );
    if sample.kind == "slow" {
        parts.push(format!("lag {}", format::time(sample.lag_us)));
        parts.extend(sample.wait_us.map(|us| format!("wait {}", format::time(us))));
        parts.extend(sample.ttfb_us.map(|us| format!("first byte {}", format::time(us))));
    } else {
        parts.extend([sample.class.clone(), sample.detail.clone()]);
    }
    parts
}
