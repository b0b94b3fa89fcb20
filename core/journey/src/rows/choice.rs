//! [`RowOrder`]: which row of a table whom falls to.

use wavetank_pace::Random;

/// Keeps the choices of rows apart from everything else that is drawn from the seed.
const DOMAIN: u64 = 0x726f_7773 << 32;

/// The grammar's `row: in_order|random|unique|per_user`.
///
/// Each is a pure function of the seed and an index, never of a thread: 1, 2 or 7 threads give the same rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// One after the other over all sessions of the run, from the start again at the end.
    InOrder,
    /// Any row for each session.
    Random,
    /// As in order, but no row twice in the whole run.
    Unique,
    /// One row a user, the same in all its sessions; from the start again at the end.
    PerUser,
}

impl RowOrder {
    /// Reads the grammar's word.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "in_order" => Self::InOrder,
            "random" => Self::Random,
            "unique" => Self::Unique,
            "per_user" => Self::PerUser,
            _ => return None,
        })
    }

    /// The row, below `rows`. `index` counts sessions over the whole run, for [`Self::PerUser`] users. `table` is the
    /// table's place in the experiment: two tables are drawn from independently. `None` where there is no row left, or
    /// none at all.
    pub fn row(self, rows: u32, seed: u64, table: u32, index: u64) -> Option<u32> {
        let count = u64::from(rows);
        let row = match self {
            _ if rows == 0 => return None,
            Self::Unique if index >= count => return None,
            Self::Unique | Self::InOrder | Self::PerUser => index % count,
            Self::Random => Random::keyed(seed, DOMAIN | u64::from(table), index).below(count),
        };
        Some(row as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(order: RowOrder, rows: u32, expected: &[Option<u32>]) {
        let found: Vec<_> = (0..expected.len() as u64).map(|index| order.row(rows, 1, 0, index)).collect();
        assert_eq!(found, expected, "{order:?}");
    }

    #[test]
    fn rows_fall_to_sessions_as_the_word_says() {
        check(RowOrder::InOrder, 2, &[Some(0), Some(1), Some(0), Some(1)]);
        check(RowOrder::PerUser, 2, &[Some(0), Some(1), Some(0)]);
        check(RowOrder::Unique, 2, &[Some(0), Some(1), None, None]);
        for order in [RowOrder::InOrder, RowOrder::Random, RowOrder::Unique, RowOrder::PerUser] {
            check(order, 0, &[None]);
        }
        assert_eq!(RowOrder::Unique.row(2, 1, 0, u64::MAX), None);
    }

    #[test]
    fn random_rows_are_even_and_independent_of_each_other() {
        let draw = |seed, table| -> Vec<_> {
            (0..10_000).filter_map(|index| RowOrder::Random.row(10, seed, table, index)).collect()
        };
        let one = draw(1, 0);
        assert_eq!(one, draw(1, 0));
        for other in [draw(2, 0), draw(1, 1)] {
            let same = one.iter().zip(&other).filter(|(a, b)| a == b).count();
            assert!((800..1200).contains(&same), "{same} of 10,000 alike");
        }
        for row in 0..10 {
            let count = one.iter().filter(|found| **found == row).count();
            assert!((850..1150).contains(&count), "row {row}: {count}");
        }
    }

    #[test]
    fn words_are_those_of_the_grammar() {
        assert_eq!(RowOrder::parse("per_user"), Some(RowOrder::PerUser));
        assert_eq!(RowOrder::parse("unique"), Some(RowOrder::Unique));
        assert_eq!(RowOrder::parse("sequential"), None);
    }
}
