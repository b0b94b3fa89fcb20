//! [`LoadChange`]: another load for the rest of a running phase.

use std::fmt;

use wavetank_units::quantity::format_grouped;
use wavetank_units::{Nanos, Rate};

use crate::{Load, Plan};

/// A new load for a phase that is active at the instant of the change, as the total of the run.
/// It applies until that phase ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadChange {
    /// Open loop: sessions arriving.
    Rate(Rate),
    /// Closed loop: virtual users.
    Users(u64),
    /// Held connections.
    Connections(u64),
}

impl LoadChange {
    /// The kind of load in a sentence: `a rate`, `users` or `held connections`.
    const fn kind(self) -> &'static str {
        match self {
            Self::Rate(_) => "a rate",
            Self::Users(_) => "users",
            Self::Connections(_) => "held connections",
        }
    }

    const fn fits(self, load: &Load) -> bool {
        match self {
            Self::Rate(_) => load.is_open(),
            Self::Users(_) => matches!(load, Load::Closed { .. }),
            Self::Connections(_) => matches!(load, Load::Hold { .. }),
        }
    }

    /// The number of users or connections; `None` for a rate.
    const fn count(self) -> Option<u64> {
        match self {
            Self::Rate(_) => None,
            Self::Users(count) | Self::Connections(count) => Some(count),
        }
    }
}

/// Why a load cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadChangeError {
    /// No phase with such a load is active at that instant. It has the names of those that are.
    NotActive(LoadChange, Vec<String>),
    /// The named phase is active, and has another kind of load.
    OtherKind(LoadChange, String),
    /// These phases are active at the same time, and the change names none of them.
    Ambiguous(Vec<String>),
    /// This phase has connections and memory for this number of users or connections at most.
    TooMany(LoadChange, String, u64),
    /// The phase replays recorded arrivals.
    Recorded(String),
    /// The curve of the phase would have too many pieces.
    TooManyPieces(String),
}

impl fmt::Display for LoadChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotActive(change, active) => {
                write!(f, "no phase with {} is active", change.kind())?;
                match active.as_slice() {
                    [] => Ok(()),
                    active => write!(f, "; active: {}", active.join(", ")),
                }
            }
            Self::OtherKind(change, phase) => write!(f, "phase {phase} does not have {}", change.kind()),
            Self::Ambiguous(phases) => write!(f, "{} are active at the same time", phases.join(" and ")),
            Self::TooMany(change, phase, most) => {
                let (most, kind) = (format_grouped(*most), change.kind());
                write!(f, "phase {phase} is planned for at most {most} {kind}")
            }
            Self::Recorded(phase) => write!(f, "phase {phase} replays recorded arrivals"),
            Self::TooManyPieces(phase) => write!(f, "the load of phase {phase} has too many pieces"),
        }
    }
}

impl Plan {
    /// Changes the load of the phase that is active at `at` of the run's clock, and returns its
    /// index. Of several active phases, `phase` is the index of the one to change. Load threads
    /// change their own schedules by the same rules. This plan follows for everything that compares
    /// the load with the plan.
    ///
    /// # Errors
    /// If no phase can take the change. The plan is as before.
    pub fn change_load(
        &mut self,
        at: Nanos,
        phase: Option<u16>,
        change: LoadChange,
    ) -> Result<u16, LoadChangeError> {
        let index = self.phase_to_change(at, phase, change)?;
        let phase = &mut self.phases[usize::from(index)];
        let since = at - phase.start;
        let changed = match (&mut phase.load, change) {
            (Load::Open { rate, .. }, LoadChange::Rate(new)) => {
                rate.changed_at(since, new).map(|curve| *rate = curve)
            }
            (Load::Closed { users: levels, .. }, LoadChange::Users(new))
            | (Load::Hold { connections: levels, .. }, LoadChange::Connections(new)) => {
                levels.changed_at(since, new).map(|curve| *levels = curve)
            }
            _ => return Err(LoadChangeError::Recorded(phase.name.clone())),
        };
        changed.map_err(|_| LoadChangeError::TooManyPieces(phase.name.clone()))?;
        Ok(index)
    }

    /// Returns `change` with a rate in sessions, where the rate of the phase that is active at `at`
    /// was given in requests.
    #[must_use]
    pub fn change_in_sessions(&self, at: Nanos, phase: Option<u16>, change: LoadChange) -> LoadChange {
        let LoadChange::Rate(rate) = change else { return change };
        let chosen = |index: u16| phase.is_none_or(|phase| phase == index);
        let active = (0_u16..).zip(&self.phases).filter(|(_, phase)| phase.is_active_at(at));
        let requests_each =
            active.filter(|(index, _)| chosen(*index)).filter_map(|(_, phase)| match phase.load {
                Load::Open { requests_each, .. } => requests_each,
                _ => None,
            });
        match requests_each.max() {
            Some(requests) => {
                let per = i128::from(rate.per.0) * i128::from(requests);
                LoadChange::Rate(Rate { per: Nanos(i64::try_from(per).unwrap_or(i64::MAX)), ..rate })
            }
            None => change,
        }
    }

    /// The index of the phase with this name, the one that is active at `at` first.
    pub fn phase_named(&self, name: &str, at: Nanos) -> Option<u16> {
        let named = || (0_u16..).zip(&self.phases).filter(|(_, phase)| phase.name == name);
        let active = named().find(|(_, phase)| phase.is_active_at(at));
        active.or_else(|| named().next()).map(|(index, _)| index)
    }

    fn phase_to_change(
        &self,
        at: Nanos,
        chosen: Option<u16>,
        change: LoadChange,
    ) -> Result<u16, LoadChangeError> {
        let active = (0_u16..).zip(&self.phases).filter(|(_, phase)| phase.is_active_at(at));
        let active: Vec<_> = active.collect();
        let is_chosen = |index: u16| chosen.is_none_or(|chosen| chosen == index);
        let mut fitting =
            active.iter().filter(|(index, phase)| change.fits(&phase.load) && is_chosen(*index));
        let names = |phases: &mut dyn Iterator<Item = &str>| phases.map(str::to_owned).collect();
        let Some((index, phase)) = fitting.next() else {
            if let Some((_, phase)) = active.iter().find(|(index, _)| chosen == Some(*index)) {
                return Err(LoadChangeError::OtherKind(change, phase.name.clone()));
            }
            let active = names(&mut active.iter().map(|(_, phase)| phase.name.as_str()));
            return Err(LoadChangeError::NotActive(change, active));
        };
        if let Some((_, other)) = fitting.next() {
            let both = [phase.name.as_str(), other.name.as_str()];
            return Err(LoadChangeError::Ambiguous(names(&mut both.into_iter())));
        }
        if let Some(count) = change.count() {
            let tracks = self.tracks();
            let track = tracks.iter().find(|track| track.phases.contains(index));
            let most = track.map_or(0, |track| track.most);
            if count > most {
                return Err(LoadChangeError::TooMany(change, phase.name.clone(), most));
            }
        }
        Ok(*index)
    }
}
