//! [`SelectionYaml`]: which of several targets a session goes to, in `plan.yaml`.

use serde::{Deserialize, Serialize};
use wavetank_plan::{PickOrder, ScenarioMix, TargetSelection};

use super::names::{name_of, one_of};
use crate::DecodeError;

const ORDERS: [(&str, PickOrder); 2] = [("in_turn", PickOrder::InTurn), ("random", PickOrder::Random)];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SelectionYaml {
    order: String,
    /// Places in the list of targets, the first is 0, and their weights.
    of: Vec<(u16, u64)>,
}

impl SelectionYaml {
    pub(super) fn new(pick: &TargetSelection) -> Self {
        let TargetSelection { order, of } = pick;
        Self { order: name_of(*order, &ORDERS).to_owned(), of: of.parts().to_vec() }
    }

    pub(super) fn read(&self) -> Result<TargetSelection, DecodeError> {
        let of = ScenarioMix::new(self.of.clone());
        let of = of.ok_or_else(|| DecodeError::new("a target refers to other targets without weights"))?;
        Ok(TargetSelection { order: one_of(&self.order, &ORDERS)?, of })
    }
}
