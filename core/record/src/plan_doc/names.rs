//! Tables of names: the name of a value, and the value of a name.

use crate::DecodeError;

/// The name of `value` in a table that has all values.
pub(super) fn name_of<T: Copy + PartialEq>(value: T, table: &[(&'static str, T)]) -> &'static str {
    table.iter().find(|(_, known)| *known == value).map_or("", |&(name, _)| name)
}

/// The value called `name`.
pub(super) fn one_of<T: Copy>(name: &str, table: &[(&str, T)]) -> Result<T, DecodeError> {
    let found = table.iter().find(|&&(known, _)| known == name);
    found.map(|&(_, value)| value).ok_or_else(|| DecodeError::new(format!("`{name}` is unknown")))
}
