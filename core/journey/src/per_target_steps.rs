//! [`PerTargetStep`]: a step with several targets, compiled for each of them.

use wavetank_pace::Philox;
use wavetank_plan::{ConnectionOwner, PickOrder, Plan, Step, TargetSelection};
use wavetank_units::UserError;

use crate::compiled::CompiledStep;
use crate::state::Identity;

/// Above all other uses of [`Philox`], so that its streams are separate from them.
const DOMAIN: u64 = 0x7a_67_e7_00_00_00_00;

/// See the module's description.
#[derive(Clone, Debug)]
pub(crate) struct PerTargetStep {
    pick: TargetSelection,
    /// The number of the step's target, which represents all of them.
    named: u16,
    /// A user always goes to the same target, because it keeps its connection.
    by_user: bool,
    /// In the order of the targets.
    each: Vec<CompiledStep>,
}

impl PerTargetStep {
    /// Returns `None` if `step` has one target.
    pub(crate) fn new(
        step: &Step,
        plan: &Plan,
        cookies: bool,
        connection: ConnectionOwner,
    ) -> Result<Option<Self>, UserError> {
        let Some(pick) = &plan.targets[step.target].pick else { return Ok(None) };
        let each = pick.of.parts().iter().map(|&(target, _)| {
            let step = Step { target: usize::from(target), ..step.clone() };
            CompiledStep::new(&step, plan, cookies)
        });
        Ok(Some(Self {
            pick: pick.clone(),
            named: u16::try_from(step.target).expect("the plan limits targets"),
            by_user: connection == ConnectionOwner::User,
            each: each.collect::<Result<_, _>>()?,
        }))
    }

    /// Returns the step for a session.
    pub(crate) fn pick(&self, who: &Identity, seed: u64) -> &CompiledStep {
        self.at(if self.by_user { who.user } else { who.order }, seed)
    }

    fn at(&self, number: u64, seed: u64) -> &CompiledStep {
        let parts = self.pick.of.parts();
        let place = match self.pick.order {
            PickOrder::InTurn => (number % parts.len() as u64) as usize,
            PickOrder::Random => {
                let domain = DOMAIN | u64::from(self.named);
                let target =
                    self.pick.of.pick(Philox::keyed(seed, domain, number).below(self.pick.of.total()));
                parts.iter().position(|&(part, _)| part == target).unwrap_or(0)
            }
        };
        &self.each[place]
    }
}
