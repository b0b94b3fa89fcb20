//! [`page`]: a comparison as an HTML file, with its runs over time.

use std::io::{self, Write};
use std::path::Path;

use wavetank_record::{CompareDoc, SideDoc};
use wavetank_report::{CompareSource, SideTimeSeries, comparison_html};
use wavetank_units::quantity::share_literal;
use wavetank_units::shell_quoted;

use super::LoadedRun;
use crate::cli::{CompareArgs, CompareSettings, default_runs_dir};

/// Columns of time in the page: two lines over each other need fewer than one run's own page has.
const COLUMNS_MAX: usize = 180;

/// Returns `doc` as a page. `a` and `b` are the runs it was made from, `args` the options. A run
/// with unreadable intervals is missing in the charts, which the page says.
pub(crate) fn page(doc: &CompareDoc, [a, b]: [&[LoadedRun]; 2], args: &CompareArgs) -> String {
    let courses = [course(a), course(b)];
    let command = command(doc, &args.settings(), &args.runs_dir);
    comparison_html(
        CompareSource { doc, courses: [&courses[0], &courses[1]], command: &command },
        args.language.unwrap_or_default(),
    )
}

/// One run after the other: only what is drawn stays in memory.
fn course(runs: &[LoadedRun]) -> SideTimeSeries {
    let mut side = SideTimeSeries::default();
    for run in runs {
        match run.opened.time_series(&run.plan, COLUMNS_MAX) {
            Ok((course, _)) => side.add(&course, &run.record),
            Err(error) => {
                let _ = writeln!(
                    io::stderr(),
                    "warning: run {} is not in the charts: {}",
                    run.record.id,
                    error.message
                );
            }
        }
    }
    side
}

/// What compares the same again.
fn command(doc: &CompareDoc, wishes: &CompareSettings, runs_dir: &Path) -> String {
    let ids = |side: &SideDoc| side.runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>().join(",");
    let mut words =
        vec!["wavetank compare".to_owned(), shell_quoted(&ids(&doc.a)), shell_quoted(&ids(&doc.b))];
    words.extend(wishes.metrics.iter().map(|metric| format!("--metric {}", shell_quoted(metric))));
    words.extend(wishes.max_regression.map(|limit| format!("--max-regression {}", share_literal(limit))));
    words.push(format!("--seed {}", doc.seed));
    if runs_dir != default_runs_dir() {
        words.push(format!("--runs-dir {}", shell_quoted(&runs_dir.to_string_lossy())));
    }
    words.join(" ")
}
