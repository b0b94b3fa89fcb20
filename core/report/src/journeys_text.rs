//! The results of sessions as text: checks, the hooks around the load, and examples.

use wavetank_record::{HookDoc, Number, RunRecord, SampleLine, Status};
use wavetank_units::quantity::format_grouped;
use wavetank_units::status_text;

use crate::examples::is_of_warmup;
use crate::format::{self, count_with_share};
use crate::section::{Sign, checks_by_result};
use crate::text_layout::TextLayout;

/// Columns for the result of a check.
const WORD_COLUMNS: usize = 9;
/// Most checks listed by name if all responses passed them; the others are counted.
const HELD_MAX: usize = 10;
/// Most examples of each kind; the record has more.
const EXAMPLES_MAX: usize = 3;

/// Checks: failed ones, those that never ran, and some that passed.
pub(crate) fn add_checks(page: &mut TextLayout, record: &RunRecord) {
    let ordered = checks_by_result(record);
    let held = ordered.iter().filter(|check| check.sign() == Sign::Good).count();
    let shown = ordered.len() - held.saturating_sub(HELD_MAX);
    for (number, check) in ordered[..shown].iter().enumerate() {
        let answers = check.answers();
        let (word, said) = match check.sign() {
            Sign::Bad => (
                "fail",
                format!("{} of {} answers", count_with_share(check.failed, answers), format_grouped(answers)),
            ),
            Sign::Doubt => ("not run", "no answer arrived".to_owned()),
            Sign::Good => ("pass", format!("{} answers", format_grouped(answers))),
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
