//! [`ResampleTable`]: the strips of one side in the shape that drawing again is fast in.

use wavetank_units::Nanos;

use crate::block_length::{BLOCKS_MIN, COLUMNS_MIN, block_length};
use crate::column_counts::merge;
use crate::{ColumnCounts, Metric};

/// The runs of one side. Indices that never occur are left out, so that a sum is a short row of
/// numbers.
pub(crate) struct ResampleTable {
    /// The meaning of each position of a row, ascending.
    pub(crate) indices: Vec<u16>,
    pub(crate) runs: Vec<RunTable>,
    /// Whether runs are cut into blocks: none is where one is too short.
    pub(crate) is_cut: bool,
}

/// One run: rows of `indices.len()` numbers.
pub(crate) struct RunTable {
    pub(crate) columns: usize,
    /// Columns of a block; 0 without blocks.
    pub(crate) block: usize,
    /// How long such a block is.
    pub(crate) block_length: Nanos,
    /// All columns added up.
    pub(crate) whole: Vec<u64>,
    /// For each column the sum of the block that starts there. Past the end the block continues at
    /// the start of the run, so every column is in equally many blocks. Empty without blocks.
    blocks: Vec<u64>,
}

impl ResampleTable {
    pub(crate) fn new(measures: &[Metric], strips: &[&ColumnCounts]) -> Self {
        let mut all = Vec::new();
        for strip in strips {
            strip.columns.iter().for_each(|column| merge(&mut all, column));
        }
        let indices: Vec<u16> = all.iter().map(|&(index, _)| index).collect();
        let rows: Vec<Vec<u64>> = strips.iter().map(|strip| dense(&indices, strip)).collect();
        let width = indices.len();
        let wholes: Vec<Vec<u64>> = rows.iter().map(|row| added_up(row, width)).collect();
        let common = common_block(measures, &indices, strips, &rows, &wholes);
        let runs = strips.iter().zip(rows).zip(wholes).map(|((strip, rows), whole)| {
            let columns = rows.len() / width.max(1);
            let block = common.map_or(0, |length| block_columns(length, strip.column, columns));
            let block_length = Nanos(strip.column.0.saturating_mul(block as i64));
            let blocks = if block == 0 { Vec::new() } else { block_sums(&rows, width, block) };
            RunTable { columns, block, block_length, whole, blocks }
        });
        let runs = runs.collect();
        Self { indices, runs, is_cut: common.is_some() }
    }

    /// All runs added up.
    pub(crate) fn total(&self) -> Vec<u64> {
        let mut whole = vec![0; self.indices.len()];
        self.runs.iter().for_each(|run| add(&mut whole, &run.whole));
        whole
    }
}

impl RunTable {
    /// Returns the sum of the block that starts at `column`.
    pub(crate) fn block(&self, column: usize) -> &[u64] {
        let width = self.whole.len();
        &self.blocks[column * width..(column + 1) * width]
    }
}

/// Adds `row` to `sum`.
pub(crate) fn add(sum: &mut [u64], row: &[u64]) {
    sum.iter_mut().zip(row).for_each(|(sum, n)| *sum += n);
}

/// The strip's columns one after the other, each with a number for every index.
fn dense(indices: &[u16], strip: &ColumnCounts) -> Vec<u64> {
    let width = indices.len();
    let mut rows = vec![0; width * strip.columns.len()];
    for (row, column) in rows.chunks_exact_mut(width.max(1)).zip(&strip.columns) {
        let mut at = 0;
        for &(index, n) in column {
            // Both ascend, and every index of a column is among all.
            at += indices[at..].partition_point(|&known| known < index);
            row[at] = n;
        }
    }
    rows
}

fn added_up(rows: &[u64], width: usize) -> Vec<u64> {
    let mut sum = vec![0; width];
    rows.chunks_exact(width.max(1)).for_each(|row| add(&mut sum, row));
    sum
}

/// Returns one block duration for all runs of the side, which may have columns of different
/// lengths. For each measure it takes the median over the runs, and of those the longest; `None` if
/// a run is too short.
fn common_block(
    measures: &[Metric],
    indices: &[u16],
    strips: &[&ColumnCounts],
    rows: &[Vec<u64>],
    wholes: &[Vec<u64>],
) -> Option<Nanos> {
    let width = indices.len().max(1);
    let mut longest = None;
    for measure in measures {
        let mut lengths = Vec::new();
        for ((rows, whole), strip) in rows.iter().zip(wholes).zip(strips) {
            let values: Vec<f64> =
                rows.chunks_exact(width).map(|row| measure.influence(indices, row, whole)).collect();
            lengths.push(Nanos(strip.column.0.saturating_mul(block_length(&values)? as i64)));
        }
        lengths.sort_unstable();
        longest = longest.max(lengths.get(lengths.len() / 2).copied());
    }
    longest
}

/// Returns how many columns of one run a block has. The number is limited so that the blocks still
/// show how the run varies.
fn block_columns(length: Nanos, column: Nanos, columns: usize) -> usize {
    let wanted = length.0.unsigned_abs().div_ceil(column.0.unsigned_abs().max(1)) as usize;
    wanted.clamp(COLUMNS_MIN, (columns / BLOCKS_MIN).max(COLUMNS_MIN))
}

fn block_sums(rows: &[u64], width: usize, length: usize) -> Vec<u64> {
    let columns = rows.len() / width;
    let mut blocks = vec![0; rows.len()];
    for (first, sum) in blocks.chunks_exact_mut(width).enumerate() {
        for at in 0..length {
            let column = (first + at) % columns;
            add(sum, &rows[column * width..(column + 1) * width]);
        }
    }
    blocks
}
