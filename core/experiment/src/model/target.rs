//! [`Target`]: the destination of requests.

use wavetank_grammar::Spanned;
use wavetank_plan::TargetUrl;

use super::TlsSettings;

/// A destination of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its name under `targets`; `None` for the one of `target:`.
    pub name: Option<Spanned<String>>,
    /// Its URLs; never empty.
    pub urls: Vec<TargetAddress>,
    /// URL selection for each connection.
    pub pick: Option<Pick>,
    /// TLS settings of this target.
    pub tls: Option<TlsSettings>,
}

/// One URL of a target.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetAddress {
    /// The URL.
    pub url: Spanned<TargetUrl>,
    /// Its share of the connections.
    pub weight: Option<u64>,
}

/// URL selection for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// One after another.
    InTurn,
    /// Random.
    Random,
    /// By weight.
    Weight,
    /// In turn, with only the first address after a new lookup of the name.
    Dns,
}
