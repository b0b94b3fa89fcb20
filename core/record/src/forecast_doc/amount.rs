//! [`AmountDoc`]: a number of which only bounds may be known.

use serde::Serialize;
use wavetank_capacity::forecast::BoundedEstimate;

/// A predicted whole number: at least, on average, at most. Known numbers have the same value in
/// all three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AmountDoc {
    /// At least.
    pub least: u64,
    /// On average; `null` if responses determine it.
    pub expected: Option<u64>,
    /// At most; `null` where nothing bounds it.
    pub most: Option<u64>,
}

impl From<BoundedEstimate> for AmountDoc {
    fn from(amount: BoundedEstimate) -> Self {
        Self {
            least: amount.least.floor() as u64,
            expected: amount.mean.map(|mean| mean.round() as u64),
            most: amount.most.map(|most| most.ceil() as u64),
        }
    }
}

impl AmountDoc {
    /// Whether it is known.
    pub fn is_exact(&self) -> bool {
        self.most == Some(self.least)
    }
}
