//! [`Facts`]: everything a verdict is composed of.

use wavetank_measure::{
    ErrorClass, FailureTimes, GeneratorHealth, Ledger, Observations, Selection, Stalls, ThresholdResult,
    Totals, TotalsView, Violation,
};
use wavetank_plan::{Load, Plan};
use wavetank_units::Sentence;

use crate::{RunContext, RunEnd};

/// Everything a verdict is composed of. The verdict and the findings are composed in this crate
/// only; `wavetank-report` adds the nearest limit.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The plan of the run.
    pub plan: &'a Plan,
    /// The measured totals.
    pub totals: &'a Totals,
    /// Observations next to the load.
    pub observed: &'a Observations,
    /// How the thresholds came out, the implicit ones among them.
    pub results: Vec<ThresholdResult>,
    /// The stop condition that fired, as one that must hold and does not ([`Ledger::stop_result`]).
    pub stop: Option<ThresholdResult>,
    /// How the generator fared.
    pub validity: GeneratorHealth,
    /// When no request ended though enough of them waited.
    pub standstills: Stalls,
    /// When requests failed.
    pub failure_times: &'a FailureTimes,
    /// Counters that do not add up.
    pub violations: &'a [Violation],
    /// How the run ended.
    pub ending: &'a RunEnd,
    /// The circumstances of the run.
    pub circumstances: &'a RunContext,
}

/// [`Facts`] with what every rule asks of them, worked out once.
pub(crate) struct RuleInput<'a> {
    pub(crate) facts: &'a Facts<'a>,
    /// Totals of all judged keys.
    pub(crate) judged: TotalsView,
    /// Load and target run on one machine. In a lab there are networks between them.
    pub(crate) same_host: bool,
}

impl<'a> Facts<'a> {
    /// Collects the facts of a run with a closed ledger.
    pub fn new(
        plan: &'a Plan,
        ledger: &'a Ledger,
        ending: &'a RunEnd,
        circumstances: &'a RunContext,
    ) -> Self {
        Self {
            plan,
            totals: ledger.totals(),
            observed: ledger.observed(),
            results: ledger.results(),
            stop: ledger.stop_result(),
            validity: ledger.validity(),
            standstills: ledger.standstills(),
            failure_times: ledger.failure_times(),
            violations: ledger.violations(),
            ending,
            circumstances,
        }
    }
}

impl<'a> RuleInput<'a> {
    pub(crate) fn new(facts: &'a Facts<'a>) -> Self {
        let plan = facts.plan;
        let mut addresses = plan.targets.iter().flat_map(|target| plan.connect_addresses(target)).peekable();
        let loopback = addresses.peek().is_some() && addresses.all(|address| address.ip().is_loopback());
        let judged = facts.totals.view(Selection::Judged);
        Self { facts, judged, same_host: loopback || facts.circumstances.same_host }
    }

    /// Whether every judged phase is of the closed loop.
    pub(crate) fn is_closed(&self) -> bool {
        let judged = self.facts.plan.phases.iter().filter(|phase| !phase.warmup);
        // A pause is of no model.
        let mut judged = judged.filter(|phase| phase.load != Load::Pause).peekable();
        judged.peek().is_some() && judged.all(|phase| !phase.load.is_open())
    }

    /// Returns the message of the first failure of `class`, where the hint depends on it.
    pub(crate) fn fault(&self, class: ErrorClass) -> Option<&Sentence> {
        let mut faults = self.facts.circumstances.faults.iter();
        faults.find(|(reported, _)| *reported == class).map(|(_, words)| words)
    }

    /// The classes that occurred, the most frequent first.
    pub(crate) fn classes(&self) -> Vec<(ErrorClass, u64)> {
        let count = |class: ErrorClass| (class, self.judged.counters.errors[class as usize]);
        let mut occurred: Vec<_> = ErrorClass::ALL.into_iter().map(count).filter(|&(_, n)| n > 0).collect();
        occurred.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
        occurred
    }

    /// The class in which every request failed, nothing having been done.
    pub(crate) fn only_class(&self) -> Option<ErrorClass> {
        match self.classes()[..] {
            [(class, _)] if self.judged.counters.done == 0 => Some(class),
            _ => None,
        }
    }
}
