//! Metrics for other systems while the run is in progress.

use wavetank_measure::Interval;

use wavetank_record::EventKind;
use wavetank_units::sentence;

use super::RunController;
use crate::live_metrics::LiveMetrics;

impl RunController<'_> {
    /// The same, with outputs of `--metrics`.
    pub(crate) fn with_metrics(mut self, metrics: Option<LiveMetrics>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Passes on the metrics after `interval`.
    pub(super) fn export(&mut self, interval: &Interval) {
        let Some(metrics) = &mut self.metrics else { return };
        for (output, reason) in metrics.seal(self.log.ledger.totals(), interval, self.zero) {
            self.log.console.warn(&format!("metrics to {output} are being lost: {reason}; the load goes on"));
        }
    }

    /// The run is over: the last metrics are sent, and losses are recorded.
    pub(super) fn end_metrics(&mut self) {
        let Some(mut metrics) = self.metrics.take() else { return };
        // A second signal ends everything immediately.
        let hurried = self.signals.received() > 1;
        for loss in metrics.finish(self.log.ledger.totals(), self.zero, hurried) {
            let text = sentence!("metrics to {} lost {} of {} intervals", loss.output, loss.lost, loss.all);
            self.log.console.warn(&format!("{text}: {}", loss.reason));
            self.event(EventKind::MetricsLost, text);
        }
    }
}
