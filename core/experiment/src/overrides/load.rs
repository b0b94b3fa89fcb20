//! `-r -c -d -n --warmup --arrivals`: the phases of a URL, or of a file without phases.

use wavetank_plan::constants::{CONNECTIONS, DURATION};
use wavetank_plan::{RunOptions, StageLoad};
use wavetank_units::{Code, Nanos, Rate, UserError};

use super::conflict;
use crate::model::{Connection, Experiment, FromTo, Phase, PhaseLoad};
use crate::placeless::{PLACE, without_span};

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
            ("--stage", !options.stages.is_empty()),
        ];
        let Some((first, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
        if self.has_phases() {
            let message = format!("{first} does not apply to a file that has its own phases");
            let hint = "use --set NAME=VALUE to change a variable in them, --scale 1/10 for every rate and count, --speed 2x for the time";
            return Err(conflict(message, hint));
        }
        let own = options.streams.or(options.pipeline);
        let pipeline = u64::from(own.unwrap_or(self.http.requests_in_flight()));
        let staged = options.stages.iter().any(|stage| matches!(stage.to, StageLoad::Rate(_)));
        let open = options.rate.is_some() || staged;
        if options.arrivals.is_some() && !open {
            let hint = "only a rate has arrivals: -r 500/s --arrivals poisson";
            return Err(conflict("--arrivals has no effect without -r", hint));
        }
        self.phases =
            if options.stages.is_empty() { phases_of(options, pipeline)? } else { stages_of(options)? };
        let pool = self.connections.as_ref().map(|own| own.value).filter(|_| open);
        for phase in &mut self.phases {
            phase.pool = phase.pool.or(pool);
        }
        if open {
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
pub(crate) fn default_phases(pipeline: u64) -> Vec<Phase> {
    phases_of(&RunOptions::default(), pipeline).unwrap_or_default()
}

/// Returns a phase for each stage. Each starts at the load of the previous one, the first at zero.
fn stages_of(options: &RunOptions) -> Result<Vec<Phase>, UserError> {
    let mut rate = Rate { count: 0, per: Nanos::SECOND };
    let mut users = 0;
    let mut phases = Vec::with_capacity(options.stages.len());
    for (at, stage) in options.stages.iter().enumerate() {
        let zero = |is_zero: bool| {
            let message = format!("stage {} stays at zero", at + 1);
            if is_zero {
                Err(conflict(message, "--stage 1m:100/s: the first stage starts at zero"))
            } else {
                Ok(())
            }
        };
        let load = match stage.to {
            StageLoad::Rate(to) => {
                zero(to.count == 0 && rate.count == 0)?;
                PhaseLoad::Rate {
                    rate: FromTo { from: std::mem::replace(&mut rate, to), to },
                    of_requests: false,
                }
            }
            StageLoad::Users(to) => {
                zero(to == 0 && users == 0)?;
                PhaseLoad::Users(FromTo { from: std::mem::replace(&mut users, to), to })
            }
        };
        phases.push(Phase {
            arrivals: options.arrivals,
            pool: options.connections,
            ..Phase::plain(format!("stage-{}", at + 1), load, Some(stage.length))
        });
    }
    let is_rate = |phase: &Phase| matches!(phase.load.value, PhaseLoad::Rate { .. });
    let rates = phases.iter().filter(|phase| is_rate(phase)).count();
    if rates != 0 && rates != phases.len() {
        let hint = "all stages have a rate, or all have users; an experiment file can mix them";
        return Err(conflict("--stage mixes a rate and users", hint));
    }
    if rates == 0 && options.connections.is_some() {
        let hint = "each user has its own connection: leave -c out";
        return Err(conflict("-c and --stage with users exclude each other", hint));
    }
    Ok(phases)
}

impl Phase {
    /// A phase of the command line.
    fn plain(name: String, load: PhaseLoad, length: Option<Nanos>) -> Self {
        Self {
            place: PLACE,
            name: Some(without_span(name)),
            load: without_span(load),
            length: length.map(without_span),
            at: None,
            stairs: None,
            sessions: None,
            arrivals: None,
            wave: None,
            spike: None,
            max_open: None,
            requests: None,
            pool: None,
            warmup: false,
            from: None,
        }
    }
}

/// `pipeline` users share each of `-c` connections.
fn phases_of(options: &RunOptions, pipeline: u64) -> Result<Vec<Phase>, UserError> {
    let fewer = options.requests.map_or(CONNECTIONS, |most| most.div_ceil(pipeline).min(CONNECTIONS));
    let connections = options.connections.unwrap_or(fewer);
    let users = connections.checked_mul(pipeline).ok_or_else(|| {
        let message = format!("-c {connections} with {pipeline} requests on each connection is out of range");
        UserError::usage(Code::Overflow, message, "fewer of both")
    })?;
    if let (Some(most), None, Some(_)) = (options.requests, options.rate, options.connections)
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
        (length, _) => Some(length.unwrap_or(DURATION)),
    };
    let main = Phase {
        arrivals: options.arrivals,
        requests: options.requests,
        pool: options.connections.filter(|_| options.rate.is_some()),
        ..Phase::plain("main".to_owned(), load, length)
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
