//! [`ScenarioMix`]: which scenarios a phase's sessions run.

use serde::{Deserialize, Serialize};

/// Scenarios by weight, in the plan's order. A new user or session takes one by a random number.
/// The random number depends only on the seed and its own number, so that any division into threads
/// gives the same result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u16, u64)>", into = "Vec<(u16, u64)>")]
pub struct ScenarioMix {
    /// Index into the plan's scenarios and weight; never empty, weights positive.
    parts: Vec<(u16, u64)>,
    total: u64,
}

impl ScenarioMix {
    /// One scenario.
    pub fn one(scenario: u16) -> Self {
        Self { parts: vec![(scenario, 1)], total: 1 }
    }

    /// Several; `None` without any, if a weight is 0 or if the weights do not fit 64 bits.
    pub fn new(parts: Vec<(u16, u64)>) -> Option<Self> {
        let total = parts.iter().try_fold(0_u64, |total, part| total.checked_add(part.1))?;
        let usable = !parts.is_empty() && parts.iter().all(|part| part.1 > 0);
        usable.then_some(Self { parts, total })
    }

    /// Scenario and weight of each part.
    pub fn parts(&self) -> &[(u16, u64)] {
        &self.parts
    }

    /// The sum of all weights.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The only scenario, if there is only one.
    #[inline]
    pub fn only(&self) -> Option<u16> {
        (self.parts.len() == 1).then(|| self.parts[0].0)
    }

    /// Whether sessions of `scenario` may start.
    pub fn contains(&self, scenario: u16) -> bool {
        self.parts.iter().any(|part| part.0 == scenario)
    }

    /// Returns the scenario at `point`, with all weights laid end to end; `point` is below
    /// [`total`](Self::total).
    pub fn pick(&self, point: u64) -> u16 {
        let mut left = point;
        for &(scenario, weight) in &self.parts {
            if left < weight {
                return scenario;
            }
            left -= weight;
        }
        self.parts[self.parts.len() - 1].0
    }
}

impl TryFrom<Vec<(u16, u64)>> for ScenarioMix {
    type Error = &'static str;

    fn try_from(parts: Vec<(u16, u64)>) -> Result<Self, Self::Error> {
        Self::new(parts).ok_or("a mix has parts with positive weights")
    }
}

impl From<ScenarioMix> for Vec<(u16, u64)> {
    fn from(mix: ScenarioMix) -> Self {
        mix.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_weight_has_its_number_of_points() {
        let mix = ScenarioMix::new(vec![(4, 3), (1, 1), (2, 2)]).expect("a mix");
        let at: Vec<u16> = (0..mix.total()).map(|point| mix.pick(point)).collect();
        assert_eq!(at, [4, 4, 4, 1, 2, 2]);
        assert_eq!((mix.only(), ScenarioMix::one(3).only(), ScenarioMix::one(3).pick(0)), (None, Some(3), 3));
        assert_eq!(
            [
                ScenarioMix::new(vec![]),
                ScenarioMix::new(vec![(0, 0)]),
                ScenarioMix::new(vec![(0, u64::MAX), (1, 1)])
            ],
            [const { None }; 3]
        );
    }
}
