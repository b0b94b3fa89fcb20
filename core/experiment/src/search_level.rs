//! [`Experiment::with_load_level`]: one phase of the file at one load level, for a search.

use wavetank_grammar::{Span, Spanned};
use wavetank_plan::constants::OPEN_RATE_PER_S;
use wavetank_units::{Code, Nanos, Rate, UserError, did_you_mean};

use crate::model::{Connection, Experiment, FromTo, Phase, PhaseLoad};

/// A level of load and its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// Arrival rate.
    Rate(Rate),
    /// Virtual users.
    Users(u64),
    /// Connections held open.
    Connections(u64),
}

const PLACE: Span = Span { line: 0, column: 0, start: 0, end: 0 };

const fn reported<T>(value: T) -> Spanned<T> {
    Spanned::new(value, PLACE)
}

impl Level {
    /// Returns the key of its phases, and the value of `--of`.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Rate(_) => ("rate", "rate"),
            Self::Users(_) => ("users", "users"),
            Self::Connections(_) => ("hold", "connections"),
        }
    }

    const fn is_of(self, load: &PhaseLoad) -> bool {
        matches!(
            (self, load),
            (Self::Rate(_), PhaseLoad::Rate { .. })
                | (Self::Users(_), PhaseLoad::Users(_))
                | (Self::Connections(_), PhaseLoad::Hold(_))
        )
    }

    fn load(self, before: Option<&PhaseLoad>) -> PhaseLoad {
        match self {
            Self::Rate(rate) => {
                let of_requests = matches!(before, Some(PhaseLoad::Rate { of_requests: true, .. }));
                PhaseLoad::Rate { rate: FromTo { from: rate, to: rate }, of_requests }
            }
            Self::Users(users) => PhaseLoad::Users(FromTo { from: users, to: users }),
            Self::Connections(many) => PhaseLoad::Hold(FromTo { from: many, to: many }),
        }
    }
}

impl Experiment {
    /// Keeps one phase, with the load `level` for `length` after the same for `warmup`: the phase
    /// called `phase`, or the only one of that kind. A file without phases gets one. Returns the
    /// names of the phases that were left out.
    ///
    /// # Errors
    /// If no phase, or more than one, fits, or a threshold refers to a phase that is left out.
    pub fn with_load_level(
        &mut self,
        level: Level,
        (warmup, length): (Nanos, Nanos),
        phase: Option<&str>,
    ) -> Result<Vec<String>, UserError> {
        let (owner, chosen) = self.chosen(level, phase)?;
        let others = self.phases.iter().chain(self.scenarios.iter().flat_map(|one| &one.phases));
        let name = |phase: &Phase| {
            phase.name.as_ref().map_or_else(|| "unnamed".to_owned(), |name| name.value.clone())
        };
        let left_out = match &chosen {
            Some(chosen) => others.filter(|other| *other != chosen && !other.warmup).map(name).collect(),
            None => Vec::new(),
        };
        if let Some(chosen) = &chosen {
            judged_alone(self, chosen)?;
        }
        let phases = phases_at(level, chosen.as_ref(), (warmup, length), self.open_rate);
        self.phases.clear();
        for scenario in &mut self.scenarios {
            scenario.phases.clear();
        }
        match owner.and_then(|at| self.scenarios.get_mut(at)) {
            Some(scenario) => scenario.phases = phases,
            None => self.phases = phases,
        }
        Ok(left_out)
    }

    /// Returns the selected phase, and the scenario it belongs to; `None` if the file has no phases
    /// at all.
    fn chosen(
        &mut self,
        level: Level,
        wanted: Option<&str>,
    ) -> Result<(Option<usize>, Option<Phase>), UserError> {
        if !self.has_phases() {
            if let Some(name) = wanted {
                let message = format!("--phase {name}: the file has no phases");
                return Err(UserError::usage(
                    Code::PhaseUnknown,
                    message,
                    "leave it out: a file without phases gets one",
                ));
            }
            if matches!(level, Level::Rate(_)) {
                // A pool, as in a URL run: arriving sessions do not open their own connections.
                for scenario in &mut self.scenarios {
                    scenario.connection.get_or_insert(Connection::Shared);
                }
            }
            return Ok((None, None));
        }
        if self.scenarios.iter().filter(|scenario| !scenario.phases.is_empty()).count() > 1 {
            let message = "several scenarios have their own phases: no single load can be varied";
            let hint = "use a file with top-level phases, or with one scenario";
            return Err(UserError::usage(Code::SearchPhases, message, hint));
        }
        let own = self.phases.iter().map(|phase| (None, phase));
        let of_scenarios = self.scenarios.iter().enumerate();
        let of_scenarios =
            of_scenarios.flat_map(|(at, one)| one.phases.iter().map(move |phase| (Some(at), phase)));
        let judged: Vec<_> = own.chain(of_scenarios).filter(|(_, phase)| !phase.warmup).collect();
        if let Some(name) = wanted {
            known(&judged, name)?;
        }
        let named = |phase: &Phase| {
            wanted.is_none_or(|wanted| phase.name.as_ref().is_some_and(|name| name.value == wanted))
        };
        let mut fitting = judged.iter().filter(|(_, phase)| named(phase) && level.is_of(&phase.load.value));
        match (fitting.next(), fitting.next()) {
            (Some(&(owner, phase)), None) => Ok((owner, Some(phase.clone()))),
            (None, _) => Err(none_fits(level, &judged, wanted)),
            (Some(_), Some(_)) => Err(several_fit(level, &judged)),
        }
    }
}

/// Returns the warm-up and the phase itself. The warm-up also opens held connections at a limited
/// rate.
fn phases_at(
    level: Level,
    before: Option<&Phase>,
    (warmup, length): (Nanos, Nanos),
    open_rate: Option<Rate>,
) -> Vec<Phase> {
    let load = level.load(before.map(|phase| &phase.load.value));
    let main = Phase {
        place: before.map_or(PLACE, |phase| phase.place),
        name: before.and_then(|phase| phase.name.clone()).or_else(|| Some(reported("main".to_owned()))),
        load: reported(load),
        length: Some(reported(length)),
        at: None,
        stairs: None,
        sessions: None,
        arrivals: before.and_then(|phase| phase.arrivals),
        wave: None,
        spike: None,
        max_open: before.and_then(|phase| phase.max_open),
        requests: None,
        pool: before.and_then(|phase| phase.pool),
        warmup: false,
        from: None,
    };
    let ahead = Phase { name: Some(reported("warmup".to_owned())), warmup: true, ..main.clone() };
    let ahead = match level {
        Level::Connections(many) => Some(Phase {
            load: reported(PhaseLoad::Hold(FromTo { from: 0, to: many })),
            length: None,
            at: Some(reported(open_rate.unwrap_or(Rate::per_second(OPEN_RATE_PER_S)))),
            ..ahead
        }),
        _ => (warmup > Nanos::ZERO).then(|| Phase { length: Some(reported(warmup)), ..ahead }),
    };
    ahead.into_iter().chain([main]).collect()
}

type Owned<'a> = (Option<usize>, &'a Phase);

fn names<'a>(phases: &'a [Owned<'a>]) -> Vec<&'a str> {
    phases.iter().filter_map(|(_, phase)| Some(phase.name.as_ref()?.value.as_str())).collect()
}

fn known(phases: &[Owned<'_>], wanted: &str) -> Result<(), UserError> {
    let names = names(phases);
    if names.contains(&wanted) {
        return Ok(());
    }
    let hint = did_you_mean(wanted, names.iter().copied())
        .map_or_else(|| format!("there is: {}", names.join(", ")), |near| format!("did you mean {near}?"));
    Err(UserError::usage(
        Code::PhaseUnknown,
        format!("--phase {wanted}: no phase of that name is judged"),
        hint,
    ))
}

/// Checks that all thresholds refer to the remaining phase or the whole run. Others would never be
/// decided.
fn judged_alone(experiment: &Experiment, left: &Phase) -> Result<(), UserError> {
    let name = left.name.as_ref().map(|name| name.value.as_str());
    let mut conditions = experiment.thresholds.iter().map(|one| &one.value);
    let Some(other) = conditions.find(|one| one.phase.is_some() && one.phase.as_deref() != name) else {
        return Ok(());
    };
    let phase = other.phase.as_deref().unwrap_or_default();
    let message = format!("`{}`: the search leaves the phase {phase} out", other.text);
    let hint = match name {
        Some(name) => format!("apply it to the varied phase: in {name}; or leave the threshold out"),
        None => "leave out `in PHASE`: only the varied phase remains".to_owned(),
    };
    Err(UserError::usage(Code::PhaseUnknown, message, hint))
}

fn none_fits(level: Level, phases: &[Owned<'_>], wanted: Option<&str>) -> UserError {
    let (key, word) = level.words();
    let message = match wanted {
        Some(name) => format!("--of {word}: the phase {name} has no `{key}`"),
        None => format!("--of {word}: no phase of the file has `{key}`"),
    };
    let other = |load: &PhaseLoad| match load {
        PhaseLoad::Rate { .. } => Some("rate"),
        PhaseLoad::Users(_) => Some("users"),
        PhaseLoad::Hold(_) => Some("connections"),
        PhaseLoad::Trace(_) | PhaseLoad::Pause(_) => None,
    };
    let hint = match phases.iter().find_map(|(_, phase)| other(&phase.load.value)) {
        Some(other) if other != word => format!("it has another kind of load: --of {other}"),
        _ => "a trace or a pause has no level; use a phase with rate, users or hold".to_owned(),
    };
    UserError::usage(Code::SearchPhases, message, hint)
}

fn several_fit(level: Level, phases: &[Owned<'_>]) -> UserError {
    let (key, _) = level.words();
    let fitting: Vec<_> =
        phases.iter().copied().filter(|(_, phase)| level.is_of(&phase.load.value)).collect();
    let names = names(&fitting);
    let message =
        format!("{} phases of the file have `{key}`, so the varied one is ambiguous", fitting.len());
    let hint = match names.last() {
        Some(last) if names.len() == fitting.len() => {
            format!("--phase {last}; there is {}", names.join(", "))
        }
        _ => "give them names, and use --phase NAME".to_owned(),
    };
    UserError::usage(Code::SearchPhases, message, hint)
}
