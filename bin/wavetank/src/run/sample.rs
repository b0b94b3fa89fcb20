//! [`sample_line`]: a failed request as it is kept in the archive.

use wavetank_engine::Sample;
use wavetank_plan::{Nanos, Plan};
use wavetank_record::{Number, SampleLine};

/// The line of `sample`, a request of `plan`.
pub(crate) fn sample_line(plan: &Plan, sample: &Sample) -> SampleLine {
    let scenario = &plan.scenarios[usize::from(sample.key.scenario)];
    let waited = Nanos(i64::try_from(sample.waited_ns).unwrap_or(i64::MAX));
    SampleLine {
        kind: "failed".to_owned(),
        class: sample.class.name().to_owned(),
        phase: plan.phases[usize::from(sample.key.phase)].name.clone(),
        step: scenario.steps[usize::from(sample.key.step)].name.clone(),
        intended_ns: (sample.at - waited).0,
        total_us: Number::micros(sample.waited_ns),
        status: sample.status,
        detail: sample.detail.clone().unwrap_or_default(),
        ..SampleLine::default()
    }
}
