//! The targets of session requests.

use wavetank_journey::Identity;

use super::Sessions;
use crate::slab::Id;

impl Sessions {
    /// Returns the target of session `id` for the request of this step.
    pub(crate) fn target(&self, id: Id, step: u16) -> u16 {
        self.live(id).map_or(0, |live| {
            let journey = &self.journeys.scenarios[usize::from(live.key.scenario)];
            journey.step(step, &live.session.identity, self.plan.seed).target
        })
    }

    /// Returns the target of session `id` for the first step of its scenario.
    pub(crate) fn first_target(&self, id: Id) -> u16 {
        self.live(id).map_or(0, |live| {
            let journey = &self.journeys.scenarios[usize::from(live.key.scenario)];
            journey.first_target(&live.session.identity, self.plan.seed)
        })
    }

    /// Returns the same for the first session of a user, given by its track and its number within
    /// the track.
    pub(crate) fn first_target_of_user(&self, scenario: u16, (track, number): (u16, u64)) -> u16 {
        let (number, users) = self.numbering.user(track, number);
        let who = Identity::for_user(scenario, number, 0, users).offset_by(self.numbering.arrivals());
        self.journeys.scenarios[usize::from(scenario)].first_target(&who, self.plan.seed)
    }

    /// Returns the same for the first session of all.
    pub(crate) fn first_home(&self, scenario: u16) -> u16 {
        self.journeys.scenarios[usize::from(scenario)].first_target(&Identity::default(), self.plan.seed)
    }
}
