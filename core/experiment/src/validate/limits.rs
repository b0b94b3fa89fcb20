//! Limits on the number of entries, because later checks compare entries with each other.

use wavetank_grammar::{Diagnostic, Diagnostics, Span};
use wavetank_units::Code;

use crate::model::{DataContent, Experiment};

const SCENARIOS_MAX: usize = 1_000;
const PHASES_MAX: usize = 10_000;
const BLOCKS_MAX: usize = 1_000;
const TARGETS_MAX: usize = 1_000;
const CONDITIONS_MAX: usize = 256;
const DATA_MAX: usize = 256;
const COLUMNS_MAX: usize = 1_000;
/// Maximum number of steps of all scenarios together, with blocks counted at each use.
const STEPS_MAX: usize = 500_000;

/// Reports exceeded limits; returns `false` if there are any.
pub(super) fn verify(experiment: &Experiment, out: &mut Diagnostics) -> bool {
    let place = |place: Option<Span>| place.unwrap_or_default();
    let phases =
        || experiment.scenarios.iter().flat_map(|scenario| &scenario.phases).chain(&experiment.phases);
    let conditions = || experiment.thresholds.iter().chain(&experiment.stop);
    let columns = experiment.data.iter().map(|data| match &data.content {
        DataContent::File(file) => file.columns.len(),
        DataContent::Rows { columns, .. } => columns.len(),
    });
    let counted = [
        (
            "scenarios",
            experiment.scenarios.len(),
            SCENARIOS_MAX,
            place(experiment.scenarios.last().map(|one| one.place)),
        ),
        ("phases", phases().count(), PHASES_MAX, place(phases().last().map(|phase| phase.place))),
        (
            "blocks",
            experiment.blocks.len(),
            BLOCKS_MAX,
            place(experiment.blocks.last().map(|block| block.name.place)),
        ),
        ("targets", experiment.targets.len(), TARGETS_MAX, Span::default()),
        ("conditions", conditions().count(), CONDITIONS_MAX, place(conditions().last().map(|one| one.place))),
        (
            "sources of data",
            experiment.data.len(),
            DATA_MAX,
            place(experiment.data.last().map(|data| data.place)),
        ),
        (
            "columns",
            columns.max().unwrap_or(0),
            COLUMNS_MAX,
            place(experiment.data.first().map(|data| data.place)),
        ),
    ];
    let mut fits = true;
    for (what, count, most, place) in counted {
        if count > most {
            let message = format!("{count} {what}; a file has at most {most}");
            out.push(Diagnostic::error(
                Code::TooMany,
                place,
                message,
                "split it into several experiments, and run them one after another",
            ));
            fits = false;
        }
    }
    fits && steps(experiment, out)
}

fn steps(experiment: &Experiment, out: &mut Diagnostics) -> bool {
    let mut sum = 0;
    for (steps, scenario) in experiment.step_lists() {
        sum += experiment.flattened(steps).len();
        if sum > STEPS_MAX {
            let message = format!("more than {STEPS_MAX} steps, with blocks counted at each use");
            let place = scenario.map_or(Span::default(), |scenario| scenario.place);
            out.push(Diagnostic::error(Code::TooMany, place, message, "use rows of data and repeat instead"));
            return false;
        }
    }
    true
}
