//! [`chart`]: numbers over time as bars of text.

use crate::text_layout::{pad, pad_left, width};

/// Lines of bars.
const ROWS: usize = 6;
/// Eighths of a line, from empty to full.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Columns of the labels on the left.
pub(super) const LABEL: usize = 10;

/// Returns the points under one column of a chart: the first, and the one after the last.
pub(super) fn points_of(column: usize, columns: usize, points: usize) -> (usize, usize) {
    let first = column * points / columns;
    (first, ((column + 1) * points / columns).max(first + 1))
}

/// Draws bars, each as high as the highest of its points, so that a spike is never averaged away.
/// `title` is above them; `show` labels the highest value and half of it.
pub(super) fn chart(
    title: &str,
    values: &[f64],
    columns: usize,
    show: impl Fn(f64) -> String,
) -> Vec<String> {
    let top = values.iter().copied().fold(0.0, f64::max);
    let bars = columns.saturating_sub(LABEL + 2).max(1);
    let highest = |column: usize| {
        let (first, last) = points_of(column, bars, values.len());
        values[first..last.min(values.len())].iter().copied().fold(0.0, f64::max)
    };
    let eighths: Vec<usize> = (0..bars)
        .map(|column| {
            let value = highest(column);
            let full = (ROWS * 8) as f64;
            // A value above zero is always visible, however small it is.
            if value > 0.0 { ((value / top * full).round() as usize).max(1) } else { 0 }
        })
        .collect();
    let mut lines = vec![title.to_owned()];
    for row in (0..ROWS).rev() {
        let label = match row {
            row if row + 1 == ROWS => show(top),
            row if row + 1 == ROWS / 2 => show(top / 2.0),
            _ => String::new(),
        };
        let bar: String =
            eighths.iter().map(|eighths| EIGHTHS[eighths.saturating_sub(row * 8).min(8)]).collect();
        lines.push(format!("{} │{bar}", pad_left(&label, LABEL)).trim_end().to_owned());
    }
    lines
}

/// A line under the bars.
pub(super) fn axis_line(label: &str, line: &str, columns: usize) -> String {
    let room = columns.saturating_sub(LABEL + 2);
    let line: String = line.chars().take(room).collect();
    debug_assert!(width(&line) <= room, "cut to the chart's width");
    format!("{}  {line}", pad(label, LABEL)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], columns: usize, expected: &[&str]) {
        let lines = chart("load", values, columns, |value| format!("{value}"));
        assert_eq!(lines, expected);
    }

    #[test]
    fn bars_are_as_high_as_their_highest_point() {
        check(
            &[0.0, 6.0, 3.0, 0.001],
            16,
            &[
                "load",
                "         6 │ █",
                "           │ █",
                "           │ █",
                "         3 │ ██",
                "           │ ██",
                "           │ ██▁",
            ],
        );
        // One column for two points shows the higher one, and one point fills all the columns.
        check(
            &[1.0, 2.0],
            13,
            &[
                "load",
                "         2 │█",
                "           │█",
                "           │█",
                "         1 │█",
                "           │█",
                "           │█",
            ],
        );
        assert!(
            chart("", &[5.0], 20, |_| String::new()).iter().skip(1).all(|line| line.ends_with("████████"))
        );
    }
}
