//! [`Target`]: where requests go.

use wavetank_plan::TargetUrl;

use super::TlsSettings;
use crate::Spanned;

/// A place requests go to.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its name under `targets`; `None` for the one of `target:`.
    pub name: Option<Spanned<String>>,
    /// Its URLs; at least one.
    pub urls: Vec<TargetAddress>,
    /// Which of them a connection takes.
    pub pick: Option<Pick>,
    /// How TLS is spoken with it.
    pub tls: Option<TlsSettings>,
}

/// One URL of a target.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetAddress {
    /// The URL.
    pub url: Spanned<TargetUrl>,
    /// Its part of the connections.
    pub weight: Option<u64>,
}

/// Which URL a connection takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// One after the other.
    InTurn,
    /// Any.
    Random,
    /// By weight.
    Weight,
    /// The first, after a new look-up of its name.
    Dns,
}
