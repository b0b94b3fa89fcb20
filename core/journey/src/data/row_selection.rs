//! Selects the row of a table for a session.

use wavetank_pace::Philox;
use wavetank_plan::RowChoice;

/// Separates the random choices of rows from all other uses of the seed.
const DOMAIN: u64 = 0x726f_7773 << 32;

/// Parses the value of `row: in_order|random|unique|per_user`.
pub fn row_choice(word: &str) -> Option<RowChoice> {
    Some(match word {
        "in_order" => RowChoice::InOrder,
        "random" => RowChoice::Random,
        "unique" => RowChoice::Unique,
        "per_user" => RowChoice::PerUser,
        _ => return None,
    })
}

/// Returns the row, below `rows`. `index` counts sessions over the whole run, or users for
/// [`RowChoice::PerUser`]. `table` is the index of the table in the experiment, and two tables have
/// independent choices. Returns `None` if no row is left, or if there are none. It is a pure
/// function of the seed and the index and does not depend on the thread: 1, 2 or 7 threads give the
/// same rows.
pub fn row(choice: RowChoice, rows: u32, seed: u64, table: u32, index: u64) -> Option<u32> {
    let count = u64::from(rows);
    let row = match choice {
        _ if rows == 0 => return None,
        RowChoice::Unique if index >= count => return None,
        RowChoice::Unique | RowChoice::InOrder | RowChoice::PerUser => index % count,
        RowChoice::Random => Philox::keyed(seed, DOMAIN | u64::from(table), index).below(count),
    };
    Some(row as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(order: RowChoice, rows: u32, expected: &[Option<u32>]) {
        let found: Vec<_> = (0..expected.len() as u64).map(|index| row(order, rows, 1, 0, index)).collect();
        assert_eq!(found, expected, "{order:?}");
    }

    #[test]
    fn rows_fall_to_sessions_as_the_word_says() {
        check(RowChoice::InOrder, 2, &[Some(0), Some(1), Some(0), Some(1)]);
        check(RowChoice::PerUser, 2, &[Some(0), Some(1), Some(0)]);
        check(RowChoice::Unique, 2, &[Some(0), Some(1), None, None]);
        for order in [RowChoice::InOrder, RowChoice::Random, RowChoice::Unique, RowChoice::PerUser] {
            check(order, 0, &[None]);
        }
        assert_eq!(row(RowChoice::Unique, 2, 1, 0, u64::MAX), None);
    }

    #[test]
    fn random_rows_are_even_and_independent_of_each_other() {
        let draw = |seed, table| -> Vec<_> {
            (0..10_000).filter_map(|index| row(RowChoice::Random, 10, seed, table, index)).collect()
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
        assert_eq!(row_choice("per_user"), Some(RowChoice::PerUser));
        assert_eq!(row_choice("unique"), Some(RowChoice::Unique));
        assert_eq!(row_choice("sequential"), None);
    }
}
