//! [`WeightedScenarios`]: picks the scenario of a mix for each session or virtual user.

use wavetank_plan::ScenarioMix;

use crate::Philox;

/// Draws scenarios by weight, as a function of the seed and one number alone (`docs/measuring.md`
/// §4). The number is that of a session within its phase (open loop), or of a user within its
/// track (closed loop).
#[derive(Clone, Debug)]
pub struct WeightedScenarios {
    mix: ScenarioMix,
    seed: u64,
    domain: u64,
}

/// A key above all phase indices, so that no other use of [`Philox`] shares these streams.
const SESSIONS: u64 = 0x5C_0000_0000;
const USERS: u64 = 0x5D_0000_0000;

impl WeightedScenarios {
    /// For sessions by their global index within a phase.
    pub fn for_sessions(mix: &ScenarioMix, seed: u64, phase: u16) -> Self {
        Self { mix: mix.clone(), seed, domain: SESSIONS | u64::from(phase) }
    }

    /// For users (or held connections) by their global number within a track.
    pub fn for_users(mix: &ScenarioMix, seed: u64, track: u16) -> Self {
        Self { mix: mix.clone(), seed, domain: USERS | u64::from(track) }
    }

    /// Returns the scenario of number `index`. Called only if there is more than one scenario.
    #[inline]
    pub fn pick(&self, index: impl FnOnce() -> u64) -> u16 {
        match self.mix.only() {
            Some(only) => only,
            None => self.mix.pick(Philox::keyed(self.seed, self.domain, index()).below(self.mix.total())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_weight_gets_its_part_and_everybody_the_same() {
        let mix = ScenarioMix::new(vec![(0, 70), (1, 20), (2, 5)]).expect("a mix");
        let choice = WeightedScenarios::for_sessions(&mix, 9, 3);
        let draws = 95_000;
        let mut seen = [0_u64; 3];
        (0..draws).for_each(|index| seen[usize::from(choice.pick(|| index))] += 1);
        for (seen, weight) in seen.into_iter().zip([70_u64, 20, 5]) {
            let expected = draws as f64 * weight as f64 / 95.0;
            assert!((seen as f64 - expected).abs() < 5.0 * expected.sqrt(), "seed 9: {seen}, not {expected}");
        }
        // A function of the key and the index: in any order, again.
        let backwards: Vec<u16> = (0..100).rev().map(|index| choice.clone().pick(|| index)).collect();
        assert!((0..100).rev().map(|index| choice.pick(|| index)).eq(backwards));
        let differs = |other: &WeightedScenarios| {
            (0..1_000).filter(|&index| other.pick(|| index) != choice.pick(|| index)).count()
        };
        assert!(differs(&WeightedScenarios::for_sessions(&mix, 10, 3)) > 100);
        assert!(differs(&WeightedScenarios::for_sessions(&mix, 9, 4)) > 100);
        assert!(differs(&WeightedScenarios::for_users(&mix, 9, 3)) > 100);
        assert_eq!(WeightedScenarios::for_users(&ScenarioMix::one(7), 1, 0).pick(|| 12), 7);
    }
}
