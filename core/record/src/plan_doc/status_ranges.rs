//! Sets of statuses as `200 to 399`.

use wavetank_plan::StatusSet;

use crate::DecodeError;

/// One text a range.
pub(super) fn statuses(set: &StatusSet) -> Vec<String> {
    let range = |&(low, high): &(u16, u16)| {
        if low == high { low.to_string() } else { format!("{low} to {high}") }
    };
    set.0.iter().map(range).collect()
}

/// Reads the set.
pub(super) fn read_statuses(texts: &[String]) -> Result<StatusSet, DecodeError> {
    let range = |text: &String| {
        let (low, high) = text.split_once(" to ").unwrap_or((text, text));
        let bounds = low.parse().ok().zip(high.parse().ok());
        bounds.ok_or_else(|| DecodeError::new(format!("`{text}` is not a range of statuses")))
    };
    Ok(StatusSet(texts.iter().map(range).collect::<Result<_, _>>()?))
}
