//! [`LiveMetrics`]: metrics of the run for other systems while it is in progress.

use wavetank_measure::{Interval, Totals};
use wavetank_metrics::{Loss, OpenOutputs, Outputs, RunIdentity, SnapshotBuilder};
use wavetank_plan::Plan;
use wavetank_record::EnvironmentDoc;
use wavetank_units::{Nanos, UserError};

/// Makes metrics of sealed intervals and passes them to the outputs of `--metrics`, without waiting
/// for any of them.
pub(crate) struct LiveMetrics {
    outputs: Outputs,
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
        outputs: Option<OpenOutputs>,
        plan: &Plan,
        environment: &EnvironmentDoc,
        wall_at_zero: i64,
    ) -> Result<Option<Self>, UserError> {
        let Some(outputs) = outputs.filter(|outputs| !outputs.is_empty()) else { return Ok(None) };
        let identity = RunIdentity {
            id: environment.id.clone(),
            name: plan.name.clone(),
            version: environment.version.clone(),
        };
        let builder = SnapshotBuilder::new(plan, identity);
        let outputs = outputs.start()?;
        Ok(Some(Self { outputs, builder, wall_at_zero, sealed: Nanos::ZERO, is_amended: false }))
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
        let lost = self.outputs.lost();
        let snapshot = self.builder.build(totals, interval, self.wall_at_zero + zero.0, &lost);
        self.outputs.give(snapshot);
        self.outputs.new_problems()
    }

    /// The totals have changed since the latest interval.
    pub(crate) const fn amend(&mut self) {
        self.is_amended = true;
    }

    /// The run is over, with these totals: waits a few seconds for what is left to be sent.
    pub(crate) fn finish(&mut self, totals: &Totals, zero: Nanos) -> Vec<Loss> {
        if self.is_amended {
            let rest = Interval { from: self.sealed, ..Interval::default() };
            self.seal(totals, &rest, zero);
        }
        self.outputs.finish()
    }
}
