//! Counts by name, as documents store them.

use std::collections::BTreeMap;

use wavetank_measure::ErrorClass;

/// The counts that are not zero, by name.
pub(crate) fn occurred(names: &[&str], counts: &[u64]) -> BTreeMap<String, u64> {
    let occurred = names.iter().zip(counts).filter(|&(_, &n)| n > 0);
    occurred.map(|(name, &n)| ((*name).to_owned(), n)).collect()
}

/// The counts of error classes that are not zero, by the name of the class.
pub(crate) fn by_class(counts: &[u64]) -> BTreeMap<String, u64> {
    occurred(&ErrorClass::ALL.map(ErrorClass::name), counts)
}
