//! [`Track`]: users or held connections that carry over from phase to phase.

use crate::{Load, Phase, Plan, ScenarioMix};

/// Phases of one kind with the same scenario mix, each starting at the end of the one before. They
/// share their users (or connections), which are numbered consecutively. A phase without a
/// predecessor starts its own track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// Whether it is connections that are held, not users.
    pub hold: bool,
    /// Indices into [`Plan::phases`], in order of time; never empty.
    pub phases: Vec<u16>,
    /// The scenarios of the sessions.
    pub mix: ScenarioMix,
    /// The most users or connections at any time.
    pub most: u64,
}

impl Plan {
    /// All tracks, in the order of their first phases.
    pub fn tracks(&self) -> Vec<Track> {
        let mut tracks: Vec<Track> = Vec::new();
        for (index, phase) in (0_u16..).zip(&self.phases) {
            let Some(levels) = phase.load.levels() else { continue };
            let hold = matches!(phase.load, Load::Hold { .. });
            let leads_here = |track: &&mut Track| {
                let last = &self.phases[usize::from(track.phases[track.phases.len() - 1])];
                track.hold == hold && track.mix == phase.mix && last.end() == Some(phase.start)
            };
            if let Some(track) = tracks.iter_mut().find(leads_here) {
                track.phases.push(index);
                track.most = track.most.max(levels.max());
            } else {
                let (phases, mix) = (vec![index], phase.mix.clone());
                tracks.push(Track { hold, phases, mix, most: levels.max() });
            }
        }
        tracks
    }

    /// Whether any phase holds connections.
    pub fn is_holding(&self) -> bool {
        self.phases.iter().any(|phase| matches!(phase.load, Load::Hold { .. }))
    }

    /// Target number of held connections at `at` on the run clock, of all phases together.
    pub fn held_at(&self, at: wavetank_units::Nanos) -> u64 {
        let holding = self.phases.iter().filter(|phase| matches!(phase.load, Load::Hold { .. }));
        holding.filter_map(|phase| phase.users_at(at)).sum()
    }
}

impl Track {
    /// Returns the phase of the track that is active at `at`.
    #[inline]
    pub fn phase_at(&self, at: wavetank_units::Nanos, phases: &[Phase]) -> Option<u16> {
        self.phases.iter().copied().find(|&phase| phases[usize::from(phase)].is_active_at(at))
    }
}
