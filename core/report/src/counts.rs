//! Counts by name, as documents store them.

use std::collections::BTreeMap;

use wavetank_measure::ErrorClass;
use wavetank_units::quantity::format_grouped;

/// The counts that are not zero, by name.
pub(crate) fn occurred(names: &[&str], counts: &[u64]) -> BTreeMap<String, u64> {
    let occurred = names.iter().zip(counts).filter(|&(_, &n)| n > 0);
    occurred.map(|(name, &n)| ((*name).to_owned(), n)).collect()
}

/// The counts of error classes that are not zero, by the name of the class.
pub(crate) fn by_class(counts: &[u64]) -> BTreeMap<String, u64> {
    occurred(&ErrorClass::ALL.map(ErrorClass::name), counts)
}

/// Counts with their names, highest first.
pub(crate) fn named(counts: &BTreeMap<String, u64>) -> Vec<String> {
    let mut counts: Vec<_> = counts.iter().filter(|&(_, &n)| n > 0).collect();
    counts.sort_by_key(|&(name, &n)| (std::cmp::Reverse(n), name));
    counts.into_iter().map(|(name, &n)| format!("{name} {}", format_grouped(n))).collect()
}

/// Returns the count with the classes that it consists of; one class needs no count of its own.
pub(crate) fn count_with_classes(count: u64, by: &BTreeMap<String, u64>) -> String {
    let classes = match by.iter().next() {
        Some((class, &n)) if n == count => class.clone(),
        _ => named(by).join(", "),
    };
    let count = format_grouped(count);
    if classes.is_empty() { count } else { format!("{count} ({classes})") }
}
