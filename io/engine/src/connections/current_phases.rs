//! [`CurrentPhases`]: the phases in which the connections of users and held connections count.

use wavetank_plan::Plan;

/// The phase of each track that has started last. Connections of a track stay open from phase to
/// phase.
pub(super) struct CurrentPhases {
    /// By phase: the current phase of its track.
    of_phase: Vec<u16>,
    /// By phase: its track, if it has one.
    tracks: Vec<Option<usize>>,
}

impl CurrentPhases {
    /// Creates the state before the first phase.
    pub(super) fn new(plan: &Plan) -> Self {
        let tracks = plan.tracks();
        let track_of = |phase| tracks.iter().position(|track| track.phases.contains(&phase));
        let phases = 0..plan.phases.len() as u16;
        Self { of_phase: phases.clone().collect(), tracks: phases.map(track_of).collect() }
    }

    /// Starts `phase`, which replaces the earlier phases of its track.
    pub(super) fn start(&mut self, phase: u16) {
        let track = self.tracks[usize::from(phase)];
        for (current, own) in self.of_phase.iter_mut().zip(&self.tracks) {
            if own.is_some() && *own == track {
                *current = phase;
            }
        }
    }

    /// Returns the phase in which a connection from `phase` counts now.
    pub(super) fn current(&self, phase: u16) -> u16 {
        self.of_phase[usize::from(phase)]
    }
}
