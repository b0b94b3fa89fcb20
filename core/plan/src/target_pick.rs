//! [`TargetSelection`]: which of several targets a session goes to.

use serde::{Deserialize, Serialize};

use crate::ScenarioMix;

/// One name for several targets. A user or session selects one of them only by its number and the
/// seed, so that any division into threads gives the same result. A user that keeps its connection
/// stays with the target for its lifetime, all others for one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetSelection {
    /// How.
    pub order: PickOrder,
    /// Which: indices into [`Plan::targets`](crate::Plan::targets), and their weights.
    pub of: ScenarioMix,
}

/// How one of several targets is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PickOrder {
    /// One after the other, in the order of the sessions' numbers.
    InTurn,
    /// By chance, each as often as its weight says.
    Random,
}
