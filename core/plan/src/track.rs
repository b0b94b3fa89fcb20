//! [`Track`]: users or held connections that carry over from phase to phase.

use crate::{Load, Phase, Plan, ScenarioMix};

/// Phases of one kind and one mix of scenarios, each beginning where the one before ends: their users (or connections)
/// are the same ones and are numbered through. A phase that nothing leads into begins a track of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// Whether it is connections that are held, not users.
    pub hold: bool,
    /// Indices into [`Plan::phases`], in order of time; never empty.
    pub phases: Vec<u16>,
    /// Whose sessions.
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

    /// Connections that hold phases want at `at` of the run's clock, all of them together.
    pub fn held_at(&self, at: crate::Nanos) -> u64 {
        let holding = self.phases.iter().filter(|phase| matches!(phase.load, Load::Hold { .. }));
        holding.filter_map(|phase| phase.users_at(at)).sum()
    }
}

impl Track {
    /// The phase of the track under way at `at`.
    #[inline]
    pub fn phase_at(&self, at: crate::Nanos, phases: &[Phase]) -> Option<u16> {
        self.phases.iter().copied().find(|&phase| phases[usize::from(phase)].is_active_at(at))
    }
}
