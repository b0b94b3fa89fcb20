//! [`verify_data`]: checks that need the rows themselves, before anything is sent.

use wavetank_grammar::{Diagnostic, Diagnostics};
use wavetank_units::Code;

use super::messages::{digits, unknown};
use super::totals;
use crate::Scenario;
use crate::model::{DataContent, DataSource, Experiment, Part, RowOrder, Step};

/// Facts about a file of rows after it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFacts {
    /// Names of its columns.
    pub columns: Vec<String>,
    /// Number of rows.
    pub rows: u64,
}

/// Reports columns that templates name and the files do not have, and too few unique rows. `facts`
/// returns facts for the name of a file under `data`; unknown files are not judged.
pub fn verify_data(experiment: &Experiment, facts: &dyn Fn(&str) -> Option<DataFacts>) -> Diagnostics {
    let mut out = Diagnostics::default();
    for source in &experiment.data {
        let (shown, known) = match &source.content {
            DataContent::File(file) => (file.file.value.clone(), facts(&file.file.value)),
            DataContent::Rows { columns, rows } => {
                let known = DataFacts { columns: columns.clone(), rows: rows.len() as u64 };
                (source.name.clone(), Some(known))
            }
        };
        let Some(known) = known else { continue };
        columns(experiment, source, &known, &mut out);
        if source.row == RowOrder::Unique {
            enough(experiment, source, &shown, known.rows, &mut out);
        }
    }
    out
}

fn columns(experiment: &Experiment, source: &DataSource, facts: &DataFacts, out: &mut Diagnostics) {
    let lists = experiment.step_lists().into_iter();
    for template in lists.flat_map(|(steps, _)| experiment.flattened(steps)).flat_map(Step::templates) {
        for part in &template.parts {
            let Part::Column { data, column } = part else { continue };
            if *data == source.name && !facts.columns.contains(column) {
                let known = facts.columns.iter().map(String::as_str);
                let mut diagnostic = unknown(Code::ColumnUnknown, "column", column, template.place, known);
                if let [only] = facts.columns.as_slice()
                    && let Some(separator) = only.chars().find(|letter| matches!(letter, ';' | '\t' | '|'))
                {
                    diagnostic.message = format!("one column \"{only}\"");
                    diagnostic.hint = format!("set separator: \"{separator}\"");
                }
                out.push(diagnostic);
            }
        }
    }
}

/// Checks that the rows suffice for the sessions that need one each.
fn enough(experiment: &Experiment, source: &DataSource, shown: &str, rows: u64, out: &mut Diagnostics) {
    let takers = experiment.scenarios.iter().filter(|scenario| takes(experiment, scenario, &source.name));
    let mut needs = 0.0;
    for scenario in takers {
        let Some(sessions) = totals::sessions(experiment, scenario, None) else { return };
        needs += sessions;
    }
    if needs.ceil() > rows as f64 {
        let message =
            format!("{shown} has {} rows, the plan needs {}", digits(rows as f64), digits(needs.ceil()));
        out.push(Diagnostic::error(
            Code::RowsTooFew,
            source.place,
            message,
            "use row: random, or fewer sessions",
        ));
    }
}

fn takes(experiment: &Experiment, scenario: &Scenario, name: &str) -> bool {
    let lists = [&scenario.before, &scenario.steps, &scenario.after];
    let steps = lists.into_iter().flat_map(|steps| experiment.flattened(steps));
    let mut parts = steps.flat_map(Step::templates).flat_map(|template| &template.parts);
    parts.any(|part| matches!(part, Part::Column { data, .. } if data == name))
}
