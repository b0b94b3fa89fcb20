//! [`ExtractError`]: the reason why nothing was extracted.

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
            Self::NotFound => "not found in the response",
            Self::NotJson => "the body is not JSON",
            Self::NotXml => "the body is not XML or HTML",
            Self::TooLarge => "longer than the limit",
            Self::TooMuchWork => "the search needs more work than is allowed",
        }
    }
}
