//! [`Table`]: the strips of one side in the shape that drawing again is fast in.

use crate::block::block_length;
use crate::strip::merge;
use crate::{Measure, Strip};

/// The runs of one side. Indices that never occur are left out, so that a sum is a short row of numbers.
pub(crate) struct Table {
    /// What each place of a row means, ascending.
    pub(crate) indices: Vec<u16>,
    pub(crate) runs: Vec<RunTable>,
    /// Columns of a block; `None` where the runs are too short to be cut.
    pub(crate) block: Option<usize>,
}

/// One run: rows of `indices.len()` numbers.
pub(crate) struct RunTable {
    pub(crate) columns: usize,
    /// All columns added up.
    pub(crate) whole: Vec<u64>,
    /// For each column the sum of the block that begins there and, past the end, goes on at the run's begin: every column
    /// is then in as many blocks as any other. Empty without blocks.
    blocks: Vec<u64>,
}

impl Table {
    pub(crate) fn new(measures: &[Measure], strips: &[&Strip]) -> Self {
        let mut all = Vec::new();
        for strip in strips {
            strip.columns.iter().for_each(|column| merge(&mut all, column));
        }
        let indices: Vec<u16> = all.iter().map(|&(index, _)| index).collect();
        let rows: Vec<Vec<u64>> = strips.iter().map(|strip| dense(&indices, strip)).collect();
        let width = indices.len();
        let wholes: Vec<Vec<u64>> = rows.iter().map(|row| added_up(row, width)).collect();
        let block = common_block(measures, &indices, &rows, &wholes);
        let runs = rows.into_iter().zip(wholes).map(|(rows, whole)| RunTable {
            columns: rows.len() / width.max(1),
            blocks: block.map_or_else(Vec::new, |length| block_sums(&rows, width, length)),
            whole,
        });
        let runs = runs.collect();
        Self { indices, runs, block }
    }

    /// All runs added up.
    pub(crate) fn whole(&self) -> Vec<u64> {
        let mut whole = vec![0; self.indices.len()];
        self.runs.iter().for_each(|run| add(&mut whole, &run.whole));
        whole
    }
}

impl RunTable {
    /// The sum of the block that begins at `column`.
    pub(crate) fn block_at(&self, column: usize) -> &[u64] {
        let width = self.whole.len();
        &self.blocks[column * width..(column + 1) * width]
    }
}

/// Adds `row` to `sum`.
pub(crate) fn add(sum: &mut [u64], row: &[u64]) {
    sum.iter_mut().zip(row).for_each(|(sum, n)| *sum += n);
}

/// The strip's columns one after the other, each with a number for every index.
fn dense(indices: &[u16], strip: &Strip) -> Vec<u64> {
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

/// One length for all runs of the side: for each measure the median of what runs ask for, and of those the longest; none
/// if a run is too short.
fn common_block(
    measures: &[Measure],
    indices: &[u16],
    rows: &[Vec<u64>],
    wholes: &[Vec<u64>],
) -> Option<usize> {
    let width = indices.len().max(1);
    let mut longest = None;
    for measure in measures {
        let mut lengths = Vec::new();
        for (rows, whole) in rows.iter().zip(wholes) {
            let values: Vec<f64> =
                rows.chunks_exact(width).map(|row| measure.influence(indices, row, whole)).collect();
            lengths.push(block_length(&values)?);
        }
        lengths.sort_unstable();
        longest = longest.max(lengths.get(lengths.len() / 2).copied());
    }
    longest
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
