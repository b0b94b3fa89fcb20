//! `-r -c -d -n --warmup --arrivals`: the single phase of a file without phases.

use wavetank_plan::{Nanos, RunOptions, UserError};

use super::{conflict, without_span};
use crate::model::{Connection, FromTo, PhaseLoad};
use crate::{Experiment, Phase};

/// Same default as a URL run.
const USERS: u64 = 50;
const LENGTH: Nanos = Nanos::from_secs(10);

impl Experiment {
    /// Creates the phase that the options describe, or refuses them if the file has phases.
    pub(super) fn amend_load(&mut self, options: &RunOptions) -> Result<(), UserError> {
        let given = [
            ("-r", options.rate.is_some()),
            ("-c", options.connections.is_some()),
            ("-d", options.duration.is_some()),
            ("-n", options.requests.is_some()),
            ("--warmup", options.warmup.is_some()),
            ("--arrivals", options.arrivals.is_some()),
        ];
        let Some((first, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
        if self.has_phases() {
            let message = format!("{first} does not apply to a file that has its own phases");
            let hint = "use --set NAME=VALUE to change a variable in them, --scale 1/10 for every rate and count, --speed 2x for the time";
            return Err(conflict(message, hint));
        }
        if options.arrivals.is_some() && options.rate.is_none() {
            let hint = "only a rate has arrivals: -r 500/s --arrivals poisson";
            return Err(conflict("--arrivals has no effect without -r", hint));
        }
        self.phases = phases_of(options)?;
        if options.rate.is_some() {
            // A pool, as in a URL run: arriving sessions do not open their own connections.
            for scenario in &mut self.scenarios {
                scenario.connection.get_or_insert(Connection::Shared);
            }
        }
        Ok(())
    }

    /// Returns whether the load is defined; otherwise a plan has the default load of a URL run.
    pub fn has_phases(&self) -> bool {
        !self.phases.is_empty() || self.scenarios.iter().any(|scenario| !scenario.phases.is_empty())
    }
}

/// Returns the phases of a run without load options.
pub(crate) fn default_phases() -> Vec<Phase> {
    phases_of(&RunOptions::default()).unwrap_or_default()
}

fn phases_of(options: &RunOptions) -> Result<Vec<Phase>, UserError> {
    let users = options.connections.unwrap_or(options.requests.map_or(USERS, |most| most.min(USERS)));
    if let (Some(most), None, Some(users)) = (options.requests, options.rate, options.connections)
        && users > most
    {
        let message = format!("-c is more than -n: {users} users for a total of {most}");
        return Err(conflict(message, format!("use -n {users} or more, or fewer users")));
    }
    let load = match options.rate {
        Some(rate) => PhaseLoad::Rate { rate: FromTo { from: rate, to: rate }, of_requests: false },
        None => PhaseLoad::Users(FromTo { from: users, to: users }),
    };
    let length = match (options.duration, options.requests) {
        (None, Some(_)) => None,
        (length, _) => Some(without_span(length.unwrap_or(LENGTH))),
    };
    let main = Phase {
        place: super::PLACE,
        name: Some(without_span("main".to_owned())),
        load: without_span(load),
        length,
        at: None,
        stairs: None,
        sessions: None,
        arrivals: options.arrivals,
        wave: None,
        spike: None,
        max_open: None,
        requests: options.requests,
        pool: options.connections.filter(|_| options.rate.is_some()),
        warmup: false,
        from: None,
    };
    let warmup = options.warmup.filter(|length| *length > Nanos::ZERO).map(|length| Phase {
        name: Some(without_span("warmup".to_owned())),
        length: Some(without_span(length)),
        requests: None,
        warmup: true,
        ..main.clone()
    });
    Ok(warmup.into_iter().chain([main]).collect())
}
