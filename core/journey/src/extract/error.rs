//! [`ExtractError`]: the reason why nothing was extracted.

use wavetank_units::registered;

/// The reason why nothing was extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtractError {
    /// The response does not contain the value.
    NotFound,
    /// The body is not JSON.
    NotJson,
    /// The body is not XML or HTML.
    NotXml,
    /// The body or the value is longer than the limit.
    TooLarge,
    /// The search would take more work than is allowed.
    TooMuchWork,
}

impl ExtractError {
    /// Returns the reason as part of a sentence: "`sku`: the body is not JSON".
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => registered!("not found in the response"),
            Self::NotJson => registered!("the body is not JSON"),
            Self::NotXml => registered!("the body is not XML or HTML"),
            Self::TooLarge => registered!("longer than the limit"),
            Self::TooMuchWork => registered!("the search needs more work than is allowed"),
        }
    }
}
