//! [`LatencySeries`]: the kind of time that a histogram file contains.

use wavetank_measure::{Histogram, Interval};
use wavetank_plan::Plan;
use wavetank_units::{Code, UserError, did_you_mean};

/// One of the times that are recorded as histograms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LatencySeries {
    /// complete − intended; requests that timed out or stayed open count with the time they waited.
    #[default]
    Response,
    /// complete − sent.
    Service,
    /// begun − intended.
    Lag,
    /// sent − begun.
    Wait,
    /// first byte − sent.
    Ttfb,
    /// complete − first byte.
    Transfer,
    /// End − intended of requests that failed for another reason than a timeout.
    Failed,
    /// TCP connect.
    Connect,
    /// TLS handshake.
    Tls,
    /// Greeting of a protocol.
    Hello,
    /// Round trip of a ping.
    Ping,
}

impl LatencySeries {
    /// Every series by its name in `run.json`, without `_us`.
    pub const ALL: [(&'static str, Self); 11] = [
        ("response", Self::Response),
        ("service", Self::Service),
        ("lag", Self::Lag),
        ("wait", Self::Wait),
        ("ttfb", Self::Ttfb),
        ("transfer", Self::Transfer),
        ("failed", Self::Failed),
        ("connect", Self::Connect),
        ("tls", Self::Tls),
        ("hello", Self::Hello),
        ("ping", Self::Ping),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| *name)
    }

    /// Whether it is recorded for each step; the others are recorded for each phase only.
    pub const fn is_per_step(self) -> bool {
        matches!(self, Self::Response | Self::Service)
    }

    /// Add the values of judged phases in `interval` to `sum`; with `step`, those of this step
    /// only.
    pub fn add(self, plan: &Plan, step: Option<&StepSelector>, interval: &Interval, sum: &mut Histogram) {
        let judged = |phase: u16| plan.phases.get(usize::from(phase)).is_none_or(|phase| !phase.warmup);
        for series in interval.steps.iter().filter(|series| judged(series.key.phase)) {
            let key = (series.key.scenario, series.key.step);
            match self {
                Self::Response if step.is_none_or(|step| step.0 == key) => sum.merge(&series.response),
                Self::Service if step.is_none_or(|step| step.0 == key) => sum.merge(&series.service),
                _ => {}
            }
        }
        for series in interval.phases.iter().filter(|series| judged(series.phase)) {
            match self {
                Self::Lag => sum.merge(&series.lag),
                Self::Wait => sum.merge(&series.wait),
                Self::Ttfb => sum.merge(&series.ttfb),
                Self::Transfer => sum.merge(&series.transfer),
                Self::Failed => sum.merge(&series.failed),
                _ => {}
            }
        }
        for series in interval.targets.iter().filter(|series| judged(series.phase)) {
            match self {
                Self::Connect => sum.merge(&series.connect),
                Self::Tls => sum.merge(&series.tls),
                Self::Hello => sum.merge(&series.hello),
                Self::Ping => sum.merge(&series.ping),
                _ => {}
            }
        }
    }
}

/// One step of a plan: the indices of its scenario and of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSelector((u16, u16));

impl StepSelector {
    /// By the indices of scenario and step.
    pub(crate) const fn new(scenario: u16, step: u16) -> Self {
        Self((scenario, step))
    }

    /// Returns the step called `word`: its name, or `SCENARIO/STEP` if several scenarios have a
    /// step of that name.
    ///
    /// # Errors
    /// A usage error if there is none, or more than one.
    pub fn find(plan: &Plan, word: &str) -> Result<Self, UserError> {
        let all = || {
            (0_u16..).zip(&plan.scenarios).flat_map(|(number, scenario)| {
                let steps = (0_u16..).zip(&scenario.steps);
                steps.map(move |(index, step)| {
                    (Self((number, index)), step.name.as_str(), format!("{}/{}", scenario.name, step.name))
                })
            })
        };
        let fitting: Vec<_> = all().filter(|(_, name, long)| *name == word || long == word).collect();
        match fitting.as_slice() {
            [(pick, ..)] => Ok(*pick),
            [] => {
                let names: Vec<_> = all().map(|(_, name, _)| name).collect();
                let hint = match did_you_mean(word, names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!(
                        "its steps: {}",
                        names.iter().take(12).copied().collect::<Vec<_>>().join(", ")
                    ),
                };
                Err(UserError::usage(
                    Code::StepUnknown,
                    format!("--step: the run has no step `{word}`"),
                    hint,
                ))
            }
            several => {
                let long: Vec<_> = several.iter().map(|(_, _, long)| format!("`{long}`")).collect();
                let message = format!("--step: `{word}` names {} steps", several.len());
                let hint = format!("say which: {}", long.join(" or "));
                Err(UserError::usage(Code::StepAmbiguous, message, hint))
            }
        }
    }
}
