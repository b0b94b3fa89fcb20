//! An agent's clock in the simulation: it differs from the world's by an offset and a drift.

use wavetank_units::Nanos;

#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentClock {
    pub(crate) offset: Nanos,
    pub(crate) drift_ppm: i64,
}

impl AgentClock {
    /// What it shows at an instant of the world.
    pub(crate) fn at(self, world: Nanos) -> Nanos {
        let drift = (i128::from(world.0) * i128::from(self.drift_ppm)).div_euclid(1_000_000);
        Nanos(world.0 + drift as i64 + self.offset.0)
    }

    /// The first instant of the world at which it shows `at` or later.
    pub(crate) fn world(self, at: Nanos) -> Nanos {
        let shown = i128::from(at.0) - i128::from(self.offset.0);
        let near = (shown * 1_000_000).div_euclid(1_000_000 + i128::from(self.drift_ppm)) as i64;
        let first = (near - 3..=near + 3).find(|world| self.at(Nanos(*world)) >= at);
        Nanos(first.expect("rounding is off by one at most"))
    }
}

#[test]
fn an_instant_of_an_agent_is_found_in_the_world() {
    for offset in [0, 17, -5_000_000_000, 123_456_789_012] {
        for drift_ppm in [0, 500, -500, 37] {
            let clock = AgentClock { offset: Nanos(offset), drift_ppm };
            for at in [1, 999_999, 1_000_000, 7_777_777, 60_000_000_123] {
                let at = Nanos(at + offset);
                let world = clock.world(at);
                assert!(clock.at(world) >= at && clock.at(Nanos(world.0 - 1)) < at, "{clock:?} {at}");
            }
        }
    }
}
