//! Notable requests as text.

use wavetank_record::{Number, RunRecord, SampleLine, Status};
use wavetank_units::status_text;

use crate::examples::is_of_warmup;
use crate::format;
use crate::text_layout::TextLayout;

/// Most examples of each kind; the record has more.
const EXAMPLES_MAX: usize = 3;

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
