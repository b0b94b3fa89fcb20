//! [`LiveMetrics`]: metrics of the run for other systems while it is in progress.

use std::cell::RefCell;
use std::rc::Rc;

use wavetank_measure::{Interval, Totals};
use wavetank_metrics::{Loss, OpenOutputs, Outputs, RunIdentity, SnapshotBuilder};
use wavetank_plan::Plan;
use wavetank_record::EnvironmentDoc;
use wavetank_units::{Nanos, UserError};

use super::RunConsole;

/// Where the metrics of a run go.
pub enum MetricsOutputs {
    /// Outputs that end with the run.
    Own(OpenOutputs),
    /// Outputs of several runs.
    Shared(SharedOutputs),
}

/// Started outputs that the runs of a search use one after the other.
#[derive(Clone)]
pub struct SharedOutputs(Rc<RefCell<Outputs>>);

impl SharedOutputs {
    /// Starts the outputs, if there are any.
    pub fn start(outputs: OpenOutputs) -> Result<Option<Self>, UserError> {
        if outputs.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self(Rc::new(RefCell::new(outputs.start()?)))))
    }

    /// All runs are over: waits a few seconds for what is left to be sent, and reports losses.
    pub fn finish(&self, console: &mut dyn RunConsole) {
        for Loss { output, lost, all, reason } in self.0.borrow_mut().finish(false) {
            console.warn(&format!("metrics to {output} lost {lost} of {all} intervals: {reason}"));
        }
    }
}

/// Makes metrics of sealed intervals and passes them to the outputs of `--metrics`, without waiting
/// for any of them.
pub(crate) struct LiveMetrics {
    outputs: SharedOutputs,
    /// The outputs end with the run.
    is_last: bool,
    builder: SnapshotBuilder,
    /// The zero of the process's clock in Unix time.
    wall_at_zero: i64,
    /// End of the latest interval.
    sealed: Nanos,
    /// The totals have changed since.
    is_amended: bool,
}

impl LiveMetrics {
    /// Starts the outputs, if there are any.
    pub(crate) fn start(
        outputs: Option<MetricsOutputs>,
        plan: &Plan,
        environment: &EnvironmentDoc,
        wall_at_zero: i64,
    ) -> Result<Option<Self>, UserError> {
        let (outputs, is_last) = match outputs {
            Some(MetricsOutputs::Own(outputs)) => (SharedOutputs::start(outputs)?, true),
            Some(MetricsOutputs::Shared(outputs)) => (Some(outputs), false),
            None => (None, true),
        };
        let Some(outputs) = outputs else { return Ok(None) };
        let identity = RunIdentity {
            id: environment.id.clone(),
            name: plan.name.clone(),
            version: environment.version.clone(),
        };
        let builder = SnapshotBuilder::new(plan, identity);
        let (sealed, is_amended) = (Nanos::ZERO, false);
        Ok(Some(Self { outputs, is_last, builder, wall_at_zero, sealed, is_amended }))
    }

    /// Passes on the metrics after `interval`, which `totals` include. `zero`: that of the run's
    /// clock on the process's. Returns outputs that lost their first interval, with the reason.
    pub(crate) fn seal(
        &mut self,
        totals: &Totals,
        interval: &Interval,
        zero: Nanos,
    ) -> Vec<(String, String)> {
        (self.sealed, self.is_amended) = (interval.end(), false);
        let mut outputs = self.outputs.0.borrow_mut();
        let snapshot = self.builder.build(totals, interval, self.wall_at_zero + zero.0, &outputs.lost());
        outputs.give(snapshot);
        outputs.new_problems()
    }

    /// The totals have changed since the latest interval.
    pub(crate) const fn amend(&mut self) {
        self.is_amended = true;
    }

    /// The run is over, with these totals: waits a few seconds for what is left to be sent, unless
    /// it is `hurried`. Outputs that other runs use as well go on.
    pub(crate) fn finish(&mut self, totals: &Totals, zero: Nanos, hurried: bool) -> Vec<Loss> {
        if self.is_amended {
            let rest = Interval { from: self.sealed, ..Interval::default() };
            self.seal(totals, &rest, zero);
        }
        if self.is_last { self.outputs.0.borrow_mut().finish(hurried) } else { Vec::new() }
    }
}
