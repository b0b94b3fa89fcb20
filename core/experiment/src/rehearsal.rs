//! `--scale`, `--speed`, `--target`: the same experiment smaller, faster, or with another target.

use wavetank_grammar::{Span, Spanned};
use wavetank_plan::TargetUrl;
use wavetank_units::{Code, Nanos, UserError, did_you_mean};

use crate::factor::Factor;
use crate::model::{Experiment, FromTo, Phase, PhaseLoad, Sessions, StairHeight, Verb};
use crate::{Step, Target, TargetAddress};

impl Experiment {
    /// Applies `--scale`: multiplies rate, users, hold, the arrivals of a trace, at, step, sessions
    /// (not `each`), spike, `max_open`, `open_rate`, `of`, and every count and rate in conditions.
    /// Variables, repeat and data stay unchanged.
    pub fn scale(&mut self, factor: Factor) {
        for phase in self.all_phases_mut() {
            scale_phase(phase, factor);
        }
        self.open_rate = self.open_rate.map(|rate| factor.of_rate(rate));
        for condition in self.thresholds.iter_mut().chain(&mut self.stop) {
            condition.value = factor.of_condition(&condition.value);
        }
        let lists =
            self.scenarios.iter_mut().flat_map(|one| [&mut one.before, &mut one.steps, &mut one.after]);
        let blocks = self.blocks.iter_mut().map(|block| &mut block.steps);
        for steps in lists.chain(blocks).chain([&mut self.before, &mut self.after]) {
            scale_rendezvous(steps, factor);
        }
    }

    /// Applies `--speed`: divides for, every, ramp, wave, spike, pause, from and the times of
    /// traces and events, and multiplies at. Think times, timeouts and waits stay unchanged.
    pub fn speed(&mut self, factor: Factor) {
        for phase in self.all_phases_mut() {
            let shorten = |at: &mut Option<Spanned<Nanos>>| {
                if let Some(at) = at {
                    at.value = factor.shortens(at.value);
                }
            };
            shorten(&mut phase.length);
            shorten(&mut phase.wave);
            shorten(&mut phase.from);
            match &mut phase.load.value {
                PhaseLoad::Pause(length) => *length = factor.shortens(*length),
                PhaseLoad::Trace(trace) => trace.speed = factor,
                _ => {}
            }
            if let Some(stairs) = &mut phase.stairs {
                stairs.every = factor.shortens(stairs.every);
                stairs.ramp = stairs.ramp.map(|ramp| factor.shortens(ramp));
            }
            if let Some(spike) = &mut phase.spike {
                spike.length = factor.shortens(spike.length);
                spike.every = factor.shortens(spike.every);
            }
            if let Some(at) = &mut phase.at {
                at.value = factor.of_rate(at.value);
            }
        }
        for event in &mut self.events {
            event.when = factor.shortens(event.when);
            event.lasts = event.lasts.map(|lasts| factor.shortens(lasts));
        }
    }

    /// Applies `--target URL` or `--target NAME=URL`: replaces the only target, or the one of that
    /// name.
    pub fn retarget(&mut self, text: &str) -> Result<(), UserError> {
        let named = text.split_once('=').filter(|(name, _)| crate::parse::is_identifier(name));
        let (name, url) = named.map_or((None, text), |(name, url)| (Some(name), url));
        let urls =
            vec![TargetAddress { url: Spanned::new(TargetUrl::parse(url)?, Span::default()), weight: None }];
        let names = || self.targets.iter().filter_map(|target| Some(target.name.as_ref()?.value.as_str()));
        let at = match name {
            Some(name) => {
                self.targets.iter().position(|own| own.name.as_ref().is_some_and(|own| own.value == name))
            }
            None if self.targets.len() <= 1 => Some(0),
            None => self.targets.iter().position(|own| own.name.is_none()),
        };
        let Some(at) = at else {
            let known = names().collect::<Vec<_>>().join(", ");
            let message = match name {
                Some(name) => format!("--target {name}=…: the file has no target \"{name}\""),
                None => "--target needs the name of one of the file's targets".to_owned(),
            };
            let hint = match name.and_then(|name| did_you_mean(name, names())) {
                Some(near) => format!("did you mean {near}?"),
                None if known.is_empty() => "--target URL".to_owned(),
                None => format!("--target NAME=URL; there is: {known}"),
            };
            return Err(UserError::usage(Code::TargetUnknown, message, hint));
        };
        match self.targets.get_mut(at) {
            Some(target) => (target.urls, target.pick) = (urls, None),
            None => self.targets.push(Target { name: None, urls, pick: None, tls: None }),
        }
        self.use_http2_for_grpc(None);
        Ok(())
    }

    fn all_phases_mut(&mut self) -> impl Iterator<Item = &mut Phase> {
        self.phases.iter_mut().chain(self.scenarios.iter_mut().flat_map(|scenario| &mut scenario.phases))
    }
}

fn scale_phase(phase: &mut Phase, factor: Factor) {
    let scale_span = |span: &mut FromTo<u64>| {
        *span = FromTo { from: factor.of_count(span.from), to: factor.of_count(span.to) };
    };
    match &mut phase.load.value {
        PhaseLoad::Rate { rate, .. } => {
            *rate = FromTo { from: factor.of_rate(rate.from), to: factor.of_rate(rate.to) }
        }
        PhaseLoad::Users(span) | PhaseLoad::Hold(span) => scale_span(span),
        PhaseLoad::Trace(trace) => trace.scale = factor,
        PhaseLoad::Pause(_) => {}
    }
    if let Some(at) = &mut phase.at {
        at.value = factor.of_rate(at.value);
    }
    if let Some(stairs) = &mut phase.stairs {
        stairs.step = match stairs.step {
            StairHeight::Count(count) => StairHeight::Count(factor.of_count(count)),
            StairHeight::Rate(rate) => StairHeight::Rate(factor.of_rate(rate)),
        };
    }
    if let Some(Spanned { value: Sessions::Total(total), .. }) = &mut phase.sessions {
        *total = factor.of_count(*total);
    }
    if let Some(spike) = &mut phase.spike {
        spike.rate = factor.of_rate(spike.rate);
    }
    for count in [&mut phase.max_open, &mut phase.requests, &mut phase.pool] {
        *count = count.map(|most| factor.of_count(most));
    }
}

fn scale_rendezvous(steps: &mut [Step], factor: Factor) {
    for step in steps {
        match &mut step.verb {
            Verb::Rendezvous { of: Some(of), .. } => *of = factor.of_count(*of),
            Verb::Group(_, steps)
            | Verb::Repeat(_, steps)
            | Verb::While { steps, .. }
            | Verb::Each { steps, .. } => {
                scale_rendezvous(steps, factor);
            }
            Verb::If { then, otherwise, .. } => {
                scale_rendezvous(then, factor);
                scale_rendezvous(otherwise, factor);
            }
            Verb::Choose(ways) => ways.iter_mut().for_each(|way| scale_rendezvous(&mut way.steps, factor)),
            _ => {}
        }
    }
}
