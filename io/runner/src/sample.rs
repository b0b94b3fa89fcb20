//! [`SampleStore`]: requests that are kept as examples, as they come.

use wavetank_engine::{Sample, SlowSample};
use wavetank_measure::ErrorClass;
use wavetank_plan::{Key, Plan};
use wavetank_record::{Number, SampleLine};
use wavetank_report::Examples;
use wavetank_units::{Nanos, Sentence};

use super::redaction::Redaction;

/// Most lines written during the load. A target that gets steadily slower has a new slowest
/// response each second.
const LINES_MAX: u32 = 10_000;

/// See the module's description.
pub struct SampleStore {
    redaction: Redaction,
    examples: Examples,
    written: u32,
}

impl SampleStore {
    /// Empty, of a run of `plan`.
    pub fn new(plan: &Plan) -> Self {
        Self { redaction: Redaction::new(plan), examples: Examples::new(plan), written: 0 }
    }

    /// Those of one interval. What comes back is to be written to the archive.
    pub fn add(&mut self, plan: &Plan, samples: &[Sample], slow: &[SlowSample]) -> Vec<SampleLine> {
        let failed = samples.iter().map(|sample| failed_line(plan, sample, &self.redaction));
        self.add_lines(failed.chain(slow.iter().map(|slow| slow_line(plan, slow))).collect())
    }

    /// The same for lines that an agent has made.
    pub fn add_lines(&mut self, mut lines: Vec<SampleLine>) -> Vec<SampleLine> {
        lines.retain(|line| self.examples.add(line));
        lines.truncate((LINES_MAX - self.written) as usize);
        self.written += lines.len() as u32;
        lines
    }

    /// All that are worth a look.
    pub fn lines(&self) -> Vec<SampleLine> {
        self.examples.lines()
    }
}

/// Keeps the detail of a failed request if it is the first of its class and the hint depends on it.
pub fn note_fault(faults: &mut Vec<(ErrorClass, Sentence)>, class: ErrorClass, detail: Option<&str>) {
    let Some(detail) = detail else { return };
    let reporting = matches!(class, ErrorClass::Tls | ErrorClass::Protocol)
        || ["CONNECT", "no connection to ", "the challenge ", "between requests", "redirects did not end"]
            .iter()
            .any(|text| detail.contains(text));
    if reporting && faults.iter().all(|(known, _)| *known != class) {
        faults.push((class, Sentence::quoted(detail)));
    }
}

fn failed_line(plan: &Plan, sample: &Sample, redaction: &Redaction) -> SampleLine {
    let waited = Nanos(i64::try_from(sample.waited_ns).unwrap_or(i64::MAX));
    SampleLine {
        kind: "failed".to_owned(),
        class: sample.class.name().to_owned(),
        intended_ns: (sample.at - waited).0,
        total_us: Number::micros(sample.waited_ns),
        status: sample.status,
        detail: sample.detail.as_deref().map(|detail| redaction.redact(detail)).unwrap_or_default(),
        ..line(plan, sample.key)
    }
}

fn slow_line(plan: &Plan, slow: &SlowSample) -> SampleLine {
    let times = slow.times;
    SampleLine {
        kind: "slow".to_owned(),
        intended_ns: times.intended.0,
        lag_us: Number::micros(times.lag),
        wait_us: Some(Number::micros(times.response.saturating_sub(times.lag + times.service))),
        ttfb_us: Some(Number::micros(times.ttfb)),
        total_us: Number::micros(times.response),
        status: Some(slow.status),
        ..line(plan, slow.key)
    }
}

/// Returns the fields of every line: phase, scenario and step.
fn line(plan: &Plan, key: Key) -> SampleLine {
    let scenario = &plan.scenarios[usize::from(key.scenario)];
    SampleLine {
        phase: plan.phases[usize::from(key.phase)].name.clone(),
        scenario: scenario.name.clone(),
        step: scenario.steps[usize::from(key.step)].name.clone(),
        ..SampleLine::default()
    }
}
