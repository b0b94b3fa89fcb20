//! [`ruler`]: the phases and the time under a chart.

use wavetank_record::{Number, PhaseForecastDoc};

use super::format::clock;
use crate::text_layout::width;

/// Most parallel lines of phases; the rest is counted.
const LANES_MAX: usize = 6;
/// Steps between marks of time, in seconds.
const STEPS_S: [f64; 20] = [
    1.0,
    2.0,
    5.0,
    10.0,
    15.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
    900.0,
    1_800.0,
    3_600.0,
    7_200.0,
    14_400.0,
    21_600.0,
    43_200.0,
    86_400.0,
    604_800.0,
    2_592_000.0,
];
/// Columns that a time mark needs.
const MARK: usize = 11;

/// A line of phases.
struct Lane<'d> {
    mix: &'d [(String, u64)],
    /// End of its last phase.
    until: f64,
    letters: Vec<char>,
}

/// Lines in `columns` columns for the time between the two instants.
pub(super) fn ruler(phases: &[PhaseForecastDoc], from: Number, until: Number, columns: usize) -> Vec<String> {
    let length = until.0 - from.0;
    if length <= 0.0 || columns == 0 {
        return Vec::new();
    }
    let column = |at: f64| (((at - from.0) / length * columns as f64).round().max(0.0) as usize).min(columns);
    // Phases of one line of the file follow one another in one lane.
    let mut lanes: Vec<Lane<'_>> = Vec::new();
    let mut left_out = 0;
    for phase in phases {
        let (start, end) = (column(phase.start_s.0), column(phase.end_s.map_or(until.0, |end| end.0)));
        let free = lanes.iter().position(|lane| lane.mix == phase.mix && lane.until <= phase.start_s.0);
        if free.is_none() && lanes.len() == LANES_MAX {
            left_out += 1;
            continue;
        }
        let at = free.unwrap_or(lanes.len());
        if at == lanes.len() {
            lanes.push(Lane { mix: &phase.mix, until: 0.0, letters: Vec::new() });
        }
        let Lane { until: taken, letters, .. } = &mut lanes[at];
        *taken = phase.end_s.map_or(until.0, |end| end.0);
        // A phase too short to be visible gets a column, if there is one left.
        let start = start.min(columns - 1).max(letters.len());
        let span = end.saturating_sub(start).max(1);
        letters.resize(start, ' ');
        letters.extend(mark(&phase.name, span));
    }
    let mut lines = vec![times(from.0, length, columns)];
    lines.extend(lanes.into_iter().map(|lane| lane.letters.into_iter().collect::<String>()));
    if left_out > 0 {
        lines.push(format!("and {left_out} more phases"));
    }
    lines
}

/// `├open─────┤` in `span` columns; the name is cut to fit.
fn mark(name: &str, span: usize) -> Vec<char> {
    let mut letters = vec!['├'];
    letters.extend(
        name.chars()
            .map(|letter| if letter.is_control() { '\u{fffd}' } else { letter })
            .take(span.saturating_sub(2)),
    );
    letters.resize(span.saturating_sub(1).max(1), '─');
    if span > 1 {
        letters.push('┤');
    }
    letters
}

/// Time marks, each under its column.
fn times(from: f64, length: f64, columns: usize) -> String {
    let per_column = length / columns as f64;
    let step = STEPS_S.into_iter().find(|step| step / per_column >= MARK as f64).unwrap_or(length.max(1.0));
    let mut line = String::new();
    let mut at = (from / step).ceil() * step;
    if at - from > step / 2.0 {
        line.push_str(&clock(Number(from)));
    }
    while at <= from + length {
        let column = ((at - from) / per_column).round() as usize;
        let text = clock(Number(at));
        let fits = column + width(&text) <= columns && (line.is_empty() || column > width(&line));
        if fits {
            line.push_str(&" ".repeat(column - width(&line)));
            line.push_str(&text);
        }
        at += step;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(name: &str, start: f64, end: f64) -> PhaseForecastDoc {
        PhaseForecastDoc {
            name: name.to_owned(),
            start_s: Number(start),
            end_s: Some(Number(end)),
            ..PhaseForecastDoc::default()
        }
    }

    fn check(phases: &[PhaseForecastDoc], columns: usize, expected: &[&str]) {
        let from = phases.iter().map(|phase| phase.start_s.0).fold(f64::MAX, f64::min);
        let until = phases.iter().filter_map(|phase| phase.end_s).map(|end| end.0).fold(0.0, f64::max);
        assert_eq!(ruler(phases, Number(from), Number(until), columns), expected);
    }

    #[test]
    fn phases_follow_each_other_and_overlap() {
        let all = [phase("open", 0.0, 10.0), phase("keep", 10.0, 40.0), phase("other", 5.0, 25.0)];
        check(
            &all,
            40,
            &[
                "0s             15s            30s",
                "├open────┤├keep────────────────────────┤",
                "     ├other─────────────┤",
            ],
        );
        check(
            &[phase("a long name", 0.0, 1.0), phase("b", 1.0, 100.0)],
            20,
            &["0s          1m00s", "├├b────────────────┤"],
        );
    }
}
