//! [`SourcesPlan`]: the source addresses of a plan.

use serde::{Deserialize, Serialize};
use wavetank_units::SourceRange;

/// Source addresses to bind. If there are any, the engine also chooses the ports and owns the pairs
/// of address and port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcesPlan {
    /// Which; empty: the kernel chooses address and port.
    pub ranges: Vec<SourceRange>,
    /// In which order they are used.
    pub order: SourceOrder,
}

impl SourcesPlan {
    /// Whether the kernel chooses.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

/// In which order source addresses are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SourceOrder {
    /// One after the other, cyclically: load from many addresses.
    #[default]
    InTurn,
    /// All ports of one before the next: as few addresses as possible.
    FillFirst,
}
