//! `phases`.

use wavetank_grammar::{Node, Span, Spanned};
use wavetank_plan::Arrivals;
use wavetank_units::quantity::{parse_count_positive, parse_duration_positive, parse_rate_positive};
use wavetank_units::{Code, UserError};

use super::{Keys, Parser, TreeReader as _};
use crate::factor::Factor;
use crate::grammar::MapName;
use crate::model::{Phase, PhaseLoad, Sessions, Spike, StairHeight, Staircase, Trace};

const LOADS: [&str; 5] = ["rate", "users", "hold", "trace", "pause"];
const EXAMPLE: &str =
    "- {rate: 500/s, for: 1m}, - {users: 0 to 300, at: 5/s}, - {hold: 1M, for: 20m}, - {pause: 30s}";

impl Parser<'_> {
    /// `phases:`.
    pub(super) fn phases(&mut self, node: &Node) -> Vec<Phase> {
        let items = self.list(node, "phases");
        if items.is_empty() && node.items().is_some() {
            self.fail::<()>(Code::PhasesEmpty, node.place, "there are no phases", EXAMPLE);
        }
        items.iter().filter_map(|item| self.phase(item)).collect()
    }

    fn phase(&mut self, node: &Node) -> Option<Phase> {
        let mut keys = Keys::open(self, node, MapName::Phase)?;
        let load = self.load(&mut keys);
        let arrivals = [("even", Arrivals::Even), ("poisson", Arrivals::Poisson)];
        let phase = Phase {
            place: node.place,
            name: keys.take("name").and_then(|node| self.name(node, "a phase")),
            load: Spanned::new(PhaseLoad::Pause(wavetank_units::Nanos::ZERO), node.place),
            length: keys.take("for").and_then(|node| self.phase_length(node)),
            at: keys.take("at").and_then(|node| self.rate(node)),
            stairs: self.stairs(&mut keys),
            sessions: keys
                .take("sessions")
                .and_then(|node| self.quantity(node, "a number of sessions", sessions)),
            arrivals: keys.take("arrivals").and_then(|node| self.one_of(node, "spacing", &arrivals)),
            wave: keys.take("wave").and_then(|node| self.duration_positive(node)),
            spike: keys
                .take("spike")
                .and_then(|node| self.quantity(node, "a spike", spike))
                .map(|at| at.value),
            max_open: keys
                .take("max_open")
                .and_then(|node| self.count_positive(node))
                .map(|count| count.value),
            requests: None,
            pool: None,
            warmup: keys.take("warmup").and_then(|node| self.bool(node)).unwrap_or_default(),
            from: keys.take("from").and_then(|node| self.duration(node)),
        };
        let load = load?;
        self.phase_rules(&keys, &load);
        keys.finish();
        Some(Phase { load, ..phase })
    }

    fn load(&mut self, keys: &mut Keys<'_>) -> Option<Spanned<PhaseLoad>> {
        let place = keys.place;
        let given: Vec<_> = LOADS.iter().filter_map(|load| keys.entry(load)).collect();
        let entry = match given.as_slice() {
            [] if LOADS.iter().any(|load| keys.has(load)) => return None,
            [] => {
                let message = "a phase has exactly one of rate, users, hold, trace, pause";
                return self.fail(Code::LoadMissing, place, message, EXAMPLE);
            }
            [only] => *only,
            [first, second, ..] => {
                let message = format!("a phase has one load: `{}` and `{}`", first.key, second.key);
                let hint = "use two phases, or two scenarios with their own phases to run in parallel";
                return self.fail(Code::LoadSecond, second.place, message, hint);
            }
        };
        let node = &entry.value;
        let load = match entry.key.as_str() {
            "rate" => self.rates(node)?.map(|(rate, of_requests)| PhaseLoad::Rate { rate, of_requests }),
            "users" => self.counts(node)?.map(PhaseLoad::Users),
            "hold" => self.counts(node)?.map(PhaseLoad::Hold),
            "trace" => self
                .file_name(node)?
                .map(|file| PhaseLoad::Trace(Trace { file, scale: Factor::ONE, speed: Factor::ONE })),
            _ => self.phase_length(node)?.map(PhaseLoad::Pause),
        };
        Some(load)
    }

    /// Reads the length of a phase, which must be above zero.
    fn phase_length(&mut self, node: &Node) -> Option<Spanned<wavetank_units::Nanos>> {
        let length = self.duration(node)?;
        if length.value == wavetank_units::Nanos::ZERO {
            return self.fail(
                Code::PhaseEmpty,
                length.place,
                "the length of the phase is zero",
                "leave it out, or give it a time: 10s",
            );
        }
        Some(length)
    }

    fn stairs(&mut self, keys: &mut Keys<'_>) -> Option<Staircase> {
        let step = keys.take("step").and_then(|node| self.quantity(node, "the height of a stair", height));
        let every = keys.take("every").and_then(|node| self.duration_positive(node));
        let ramp = keys.take("ramp").and_then(|node| self.duration_positive(node));
        let (step, every) = (step?, every?);
        if let Some(ramp) = &ramp
            && ramp.value > every.value
        {
            let message =
                format!("a stair takes {} to climb, but the next begins after {}", ramp.value, every.value);
            return self.fail(Code::StairRamp, ramp.place, message, "make ramp at most as long as every");
        }
        Some(Staircase { step: step.value, every: every.value, ramp: ramp.map(|ramp| ramp.value) })
    }

    /// Reports a rule that a phase breaks.
    pub(super) fn report_rule(&mut self, code: Code, place: Span, message: &str, hint: &str) {
        self.fail::<()>(code, place, message, hint);
    }
}

fn height(text: &str) -> Result<StairHeight, UserError> {
    if text.contains('/') {
        parse_rate_positive(text).map(StairHeight::Rate)
    } else {
        parse_count_positive(text).map(StairHeight::Count)
    }
}

fn sessions(text: &str) -> Result<Sessions, UserError> {
    match text.strip_suffix(" each") {
        Some(each) => parse_count_positive(each.trim()).map(Sessions::Each),
        None => parse_count_positive(text).map(Sessions::Total),
    }
}

fn spike(text: &str) -> Result<Spike, UserError> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [rate, "for", length, "every", every] = words.as_slice() else {
        let message = format!("`{text}` is not a spike");
        return Err(UserError::usage(
            Code::BadSpike,
            message,
            "RATE for DURATION every DURATION: 5k/s for 10s every 1m",
        ));
    };
    let (length, every) = (parse_duration_positive(length)?, parse_duration_positive(every)?);
    if length >= every {
        let message = format!("`{text}`: the spike lasts until the next begins");
        return Err(UserError::usage(
            Code::BadSpike,
            message,
            "make it shorter than every: 5k/s for 10s every 1m",
        ));
    }
    Ok(Spike { rate: parse_rate_positive(rate)?, length, every })
}
