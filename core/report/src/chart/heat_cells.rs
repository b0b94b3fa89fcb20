//! [`HeatMapCells`]: the cells of a heat map.

use wavetank_measure::Histogram;
use wavetank_units::Nanos;

use super::heat_map::HeatColumn;
use super::scale::Scale;
use super::series::Point;
use crate::completeness::is_known;

/// Most columns drawn; more are merged.
const COLUMNS_MAX: usize = 300;
/// Shades of the scale.
pub(super) const LEVELS: usize = 8;

/// The cells of merged columns.
pub(super) struct HeatMapCells {
    /// Start of the first column.
    pub(super) from: Nanos,
    /// Length of a column.
    pub(super) len: Nanos,
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// Counts of the first column's rows from below, then of the second column's.
    pub(super) counts: Vec<u64>,
    /// Values of the merged columns.
    pub(super) merged: Vec<Histogram>,
    /// Requests dropped in each column.
    pub(super) dropped: Vec<u64>,
    /// Requests offered in each column.
    pub(super) offered: Vec<u64>,
    pub(super) most: u64,
}

impl HeatMapCells {
    /// `None` if nothing was measured.
    pub(super) fn from_columns(columns: &[HeatColumn<'_>], scale: &Scale, rows: usize) -> Option<Self> {
        let longest = columns.iter().max_by_key(|column| column.len.0)?;
        let one = longest.len.0.max(1);
        // A shorter first column starts later than its place in the grid.
        let before = longest.from.0.saturating_sub(columns[0].from.0).max(0);
        let first = Nanos(longest.from.0.saturating_sub(before.saturating_add(one - 1) / one * one));
        let last = columns.iter().map(|column| column.from.0).max().unwrap_or(first.0);
        let all = ((last.saturating_sub(first.0)) / one) as usize + 1;
        let per = all.div_ceil(COLUMNS_MAX);
        let len = one.checked_mul(per as i64)?;
        let count = all.div_ceil(per);
        let mut merged = vec![Histogram::default(); count];
        let (mut dropped, mut offered) = (vec![0; count], vec![0; count]);
        for column in columns {
            let index = (column.from.0.saturating_sub(first.0) / len).max(0) as usize;
            merged[index.min(count - 1)].merge(column.values);
            dropped[index.min(count - 1)] += column.dropped;
            offered[index.min(count - 1)] += column.offered;
        }
        let mut counts = vec![0; count * rows];
        for (column, values) in merged.iter().enumerate() {
            for (bucket, n) in values.iter() {
                let low = Histogram::lowest_equivalent(bucket) as f64;
                let high = Histogram::highest_equivalent(bucket) as f64;
                let row = (scale.position(f64::midpoint(low, high)) * rows as f64) as usize;
                counts[column * rows + row.min(rows - 1)] += n;
            }
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let cells = Self {
            from: first,
            len: Nanos(len),
            columns: count,
            rows,
            counts,
            merged,
            dropped,
            offered,
            most,
        };
        (most > 0).then_some(cells)
    }

    /// The shade of a cell, by the logarithm of its count; `None` for an empty cell.
    pub(super) fn level(&self, column: usize, row: usize) -> Option<usize> {
        let count = self.counts[column * self.rows + row];
        if count == 0 {
            return None;
        }
        if self.most == 1 {
            return Some(LEVELS - 1);
        }
        let share = (count as f64).ln() / (self.most as f64).ln();
        Some(((share * LEVELS as f64) as usize).min(LEVELS - 1))
    }

    /// The lowest count of a shade.
    pub(super) fn level_floor(&self, level: usize) -> f64 {
        (self.most as f64).powf(level as f64 / LEVELS as f64)
    }

    pub(super) fn begin(&self, column: usize) -> Nanos {
        Nanos(self.from.0.saturating_add(self.len.0.saturating_mul(column as i64)))
    }

    pub(super) fn middle(&self, column: usize) -> Nanos {
        Nanos(self.begin(column).0.saturating_add(self.len.0 / 2))
    }

    /// Percentile `q` of each column; a gap if it is unknown.
    pub(super) fn percentile(&self, q: f64) -> Vec<Point> {
        let of = |(column, values): (usize, &Histogram)| {
            let known =
                values.percentile(q).filter(|_| is_known(self.dropped[column], self.offered[column], q));
            (self.middle(column), known.map(|value| value as f64))
        };
        self.merged.iter().enumerate().map(of).collect()
    }

    /// The same, with a gap if fewer than ten values are above it.
    pub(super) fn certain_percentile(&self, q: f64) -> Vec<Point> {
        let of =
            |(point, values): (Point, &Histogram)| (point.0, point.1.filter(|_| !values.is_uncertain(q)));
        self.percentile(q).into_iter().zip(&self.merged).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit::Unit;
    use super::*;

    fn values(count: u64) -> Histogram {
        let mut values = Histogram::default();
        (1..=count).for_each(|n| values.record(n * 1_000_000));
        values
    }

    #[test]
    fn every_value_is_in_a_cell() {
        let check = |begins: &[i64], first_len: i64, expected_from: i64, expected: &[u64]| {
            let values = values(300);
            let column = |(number, &ms): (usize, &i64)| HeatColumn {
                from: Nanos::from_millis(ms),
                len: Nanos::from_millis(if number == 0 { first_len } else { 1_000 }),
                values: &values,
                dropped: 0,
                offered: 300,
            };
            let columns: Vec<_> = begins.iter().enumerate().map(column).collect();
            let scale = Scale::log([1e6, 1e9].into_iter(), Unit::Time);
            let cells = HeatMapCells::from_columns(&columns, &scale, 48).expect("values");
            let held: Vec<u64> = cells.merged.iter().map(Histogram::count).collect();
            assert_eq!(
                (cells.from, held.as_slice()),
                (Nanos::from_millis(expected_from), expected),
                "{begins:?}"
            );
            assert_eq!(cells.counts.iter().sum::<u64>(), 300 * begins.len() as u64);
        };
        check(&[0, 1_000, 2_000], 1_000, 0, &[300, 300, 300]);
        check(&[0, 2_000], 1_000, 0, &[300, 0, 300]);
        // A shorter first column stays in its place, and so do the others.
        check(&[-2_500, -2_000, -1_000], 500, -3_000, &[300, 300, 300]);
    }
}
