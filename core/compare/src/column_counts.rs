//! [`ColumnCounts`]: one run's counts of one thing, column by column.

use wavetank_units::Nanos;

/// The counts of one kind from one run, in columns of equal length and in order of time. A column
/// is sparse: pairs of an index and a count, ascending by index, no index twice. The
/// [`Metric`](crate::Metric) defines what an index means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnCounts {
    /// Length of a column; one second by default.
    pub column: Nanos,
    /// The columns.
    pub columns: Vec<Vec<(u16, u64)>>,
}

impl Default for ColumnCounts {
    fn default() -> Self {
        Self { column: Nanos::SECOND, columns: Vec::new() }
    }
}

impl ColumnCounts {
    /// Adds `n` to `index` of column number `column`. A missing column is created.
    pub fn add(&mut self, column: usize, index: u16, n: u64) {
        if n == 0 {
            return;
        }
        let cells = self.column_mut(column);
        match cells.binary_search_by_key(&index, |&(known, _)| known) {
            Ok(at) => cells[at].1 += n,
            Err(at) => cells.insert(at, (index, n)),
        }
    }

    /// Column number `column`, made if missing.
    pub fn column_mut(&mut self, column: usize) -> &mut Vec<(u16, u64)> {
        if self.columns.len() <= column {
            self.columns.resize(column + 1, Vec::new());
        }
        &mut self.columns[column]
    }

    /// Make columns twice as long, by adding up pairs of them.
    pub fn halve(&mut self) {
        self.column = self.column.after(self.column);
        let columns = std::mem::take(&mut self.columns);
        let mut pairs = columns.into_iter();
        while let Some(mut first) = pairs.next() {
            if let Some(second) = pairs.next() {
                merge(&mut first, &second);
            }
            self.columns.push(first);
        }
    }

    /// All columns added up.
    pub fn total(&self) -> Vec<(u16, u64)> {
        let mut total = Vec::new();
        self.columns.iter().for_each(|column| merge(&mut total, column));
        total
    }
}

/// Adds `other`'s counts to `cells`; both ascend.
pub(crate) fn merge(cells: &mut Vec<(u16, u64)>, other: &[(u16, u64)]) {
    if cells.is_empty() {
        cells.extend_from_slice(other);
        return;
    }
    let mine = std::mem::take(cells);
    cells.reserve(mine.len() + other.len());
    let mut mine = mine.into_iter().peekable();
    for &(index, n) in other {
        while let Some(cell) = mine.next_if(|cell| cell.0 < index) {
            cells.push(cell);
        }
        match mine.next_if(|cell| cell.0 == index) {
            Some((_, own)) => cells.push((index, own + n)),
            None => cells.push((index, n)),
        }
    }
    cells.extend(mine);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_add_up_in_any_order_and_length() {
        let mut strip = ColumnCounts::default();
        for (column, index, n) in [(2, 7, 1), (0, 3, 2), (2, 1, 4), (2, 7, 8), (3, 9, 16), (4, 7, 0)] {
            strip.add(column, index, n);
        }
        assert_eq!(strip.columns, [vec![(3, 2)], vec![], vec![(1, 4), (7, 9)], vec![(9, 16)]]);
        let total = strip.total();
        assert_eq!(total, [(1, 4), (3, 2), (7, 9), (9, 16)]);
        strip.halve();
        assert_eq!(strip.columns, [vec![(3, 2)], vec![(1, 4), (7, 9), (9, 16)]]);
        strip.halve();
        assert_eq!((strip.columns, strip.column), (vec![total], Nanos::from_secs(4)));
    }
}
