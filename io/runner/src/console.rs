//! [`RunConsole`]: what a run says while it goes on.

use wavetank_measure::Interval;
use wavetank_record::LiveDoc;
use wavetank_units::UserError;

/// Where a run prints what it does. A run never waits for an answer, and a console that cannot
/// print is no reason to end it.
pub trait RunConsole {
    /// A line of its own.
    fn info(&mut self, line: &str);

    /// A warning.
    fn warn(&mut self, line: &str);

    /// An error as a warning, because the command goes on or another result takes precedence.
    fn warn_of(&mut self, error: &UserError);

    /// How it goes, in the interval just sealed; `held`: how many connections hold phases want, and
    /// how many were lost so far, if there are such phases.
    fn progress(&mut self, interval: &Interval, held: Option<(u64, u64)>);

    /// What is being done now, in a line that the next one replaces.
    fn stage(&mut self, line: &str);

    /// Takes the progress away. Messages stay.
    fn clear_progress(&mut self);

    /// Opens a view of states, if there may be one. `keys` says what Ctrl-C does.
    fn open_view(&mut self, keys: &'static str);

    /// Whether a view shows the run.
    fn has_view(&self) -> bool;

    /// Shows a state of the run in the view.
    fn show(&mut self, state: &LiveDoc);
}
