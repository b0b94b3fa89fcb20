//! [`TargetSelection`]: which of several targets a session goes to.

use crate::ScenarioMix;

/// One name stands for several targets. Whoever goes there takes one of them by his number (and the seed) alone, so that
/// any division into threads gives the same, and stays with it: a user who keeps his connection for as long as he is
/// there, anybody else for a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSelection {
    /// How.
    pub order: PickOrder,
    /// Which: indices into [`Plan::targets`](crate::Plan::targets), and their weights.
    pub of: ScenarioMix,
}

/// How one of several targets is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickOrder {
    /// One after the other, in the order of the sessions' numbers.
    InTurn,
    /// By chance, each as often as its weight says.
    Random,
}
