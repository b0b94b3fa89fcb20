//! [`LoadChange`]: another load for the rest of a running phase.

use std::fmt;

use wavetank_units::quantity::format_grouped;
use wavetank_units::{Nanos, Rate};

use crate::{Load, Plan};

/// A new load for the phase that is active at the instant of the change, as the total of the run.
/// It applies until that phase ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadChange {
    /// Open model: sessions arriving.
    Rate(Rate),
    /// Closed model: virtual users.
    Users(u64),
}

/// Why a load cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadChangeError {
    /// No phase with such a load is active at that instant. It has the names of those that are.
    NotActive(LoadChange, Vec<String>),
    /// These phases are active at the same time, and a change cannot select one of them.
    Ambiguous(Vec<String>),
    /// The users of this phase have connections and memory for this number at most.
    TooManyUsers(String, u64),
    /// The phase replays recorded arrivals.
    Recorded(String),
    /// The curve of the phase would have too many pieces.
    TooManyPieces(String),
}

impl fmt::Display for LoadChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotActive(change, active) => {
                let kind = match change {
                    LoadChange::Rate(_) => "a rate",
                    LoadChange::Users(_) => "users",
                };
                write!(f, "no phase with {kind} is active")?;
                match active.as_slice() {
                    [] => Ok(()),
                    active => write!(f, "; active: {}", active.join(", ")),
                }
            }
            Self::Ambiguous(phases) => write!(f, "{} are active at the same time", phases.join(" and ")),
            Self::TooManyUsers(phase, most) => {
                write!(f, "phase {phase} is planned for at most {} users", format_grouped(*most))
            }
            Self::Recorded(phase) => write!(f, "phase {phase} replays recorded arrivals"),
            Self::TooManyPieces(phase) => write!(f, "the load of phase {phase} has too many pieces"),
        }
    }
}

impl Plan {
    /// Changes the load of the phase that is active at `at` of the run's clock, and returns its
    /// index. Load threads change their own schedules by the same rules. This plan follows for
    /// everything that compares the load with the plan.
    ///
    /// # Errors
    /// If no phase can take the change. The plan is as before.
    pub fn change_load(&mut self, at: Nanos, change: LoadChange) -> Result<u16, LoadChangeError> {
        let index = self.phase_to_change(at, change)?;
        let phase = &mut self.phases[usize::from(index)];
        let since = at - phase.start;
        let changed = match (&mut phase.load, change) {
            (Load::Open { rate, .. }, LoadChange::Rate(new)) => {
                rate.changed_at(since, new).map(|curve| *rate = curve)
            }
            (Load::Closed { users, .. }, LoadChange::Users(new)) => {
                users.changed_at(since, new).map(|curve| *users = curve)
            }
            _ => return Err(LoadChangeError::Recorded(phase.name.clone())),
        };
        changed.map_err(|_| LoadChangeError::TooManyPieces(phase.name.clone()))?;
        Ok(index)
    }

    /// Returns `change` with a rate in sessions, where the rate of the phase that is active at `at`
    /// was given in requests.
    #[must_use]
    pub fn change_in_sessions(&self, at: Nanos, change: LoadChange) -> LoadChange {
        let LoadChange::Rate(rate) = change else { return change };
        let active = self.phases.iter().filter(|phase| phase.is_active_at(at));
        let requests_each = active.filter_map(|phase| match phase.load {
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

    fn phase_to_change(&self, at: Nanos, change: LoadChange) -> Result<u16, LoadChangeError> {
        let active = (0_u16..).zip(&self.phases).filter(|(_, phase)| phase.is_active_at(at));
        let active: Vec<_> = active.collect();
        let fits = |load: &Load| match change {
            LoadChange::Rate(_) => load.is_open(),
            LoadChange::Users(_) => matches!(load, Load::Closed { .. }),
        };
        let mut fitting = active.iter().filter(|(_, phase)| fits(&phase.load));
        let names = |phases: &mut dyn Iterator<Item = &str>| phases.map(str::to_owned).collect();
        let Some((index, phase)) = fitting.next() else {
            let active = names(&mut active.iter().map(|(_, phase)| phase.name.as_str()));
            return Err(LoadChangeError::NotActive(change, active));
        };
        if let Some((_, other)) = fitting.next() {
            let both = [phase.name.as_str(), other.name.as_str()];
            return Err(LoadChangeError::Ambiguous(names(&mut both.into_iter())));
        }
        if let LoadChange::Users(users) = change {
            let tracks = self.tracks();
            let track = tracks.iter().find(|track| track.phases.contains(index));
            let most = track.map_or(0, |track| track.most);
            if users > most {
                return Err(LoadChangeError::TooManyUsers(phase.name.clone(), most));
            }
        }
        Ok(*index)
    }
}
