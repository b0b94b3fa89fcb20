//! `--scale`, `--speed`, `--target`: the same experiment smaller, faster, or with another target.

use wavetank_grammar::{Span, Spanned};
use wavetank_plan::TargetUrl;
use wavetank_units::{Nanos, Rate, UserError, did_you_mean};

use crate::model::{Experiment, FromTo, Phase, PhaseLoad, Sessions, StairHeight, Verb};
use crate::{Step, Target, TargetAddress};

/// A factor: `1/1000`, `0.5`, `20x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    numerator: u64,
    denominator: u64,
}

impl std::fmt::Display for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.denominator {
            1 => write!(f, "{}x", self.numerator),
            parts => write!(f, "{}/{parts}", self.numerator),
        }
    }
}

/// Maximum factor. Larger ones are typing errors.
const FACTOR_MAX: u64 = 1_000_000_000;

impl Factor {
    /// Parses `1/1000`, `0.001`, `20x`, `20`. Fails on zero, and on negative and huge factors.
    pub fn parse(option: &str, text: &str) -> Result<Self, UserError> {
        let bad = || {
            let message = format!("{option} {text} is not a factor");
            UserError::usage(
                "bad_factor",
                message,
                "--scale 1/1000 is a thousandth of the load; --speed 20x is 20 times as fast",
            )
        };
        let trimmed = text.trim().trim_end_matches(['x', '×']);
        let whole = |word: &str| word.parse::<u64>().ok().filter(|number| (1..=FACTOR_MAX).contains(number));
        let (numerator, denominator) = match (trimmed.split_once('/'), trimmed.split_once('.')) {
            (Some((numerator, denominator)), _) => (whole(numerator.trim()), whole(denominator.trim())),
            (None, Some((units, decimals))) if decimals.len() <= 9 => {
                (whole(&format!("{units}{decimals}")), Some(10_u64.pow(decimals.len() as u32)))
            }
            _ => (whole(trimmed), Some(1)),
        };
        numerator
            .zip(denominator)
            .map(|(numerator, denominator)| Self { numerator, denominator })
            .ok_or_else(bad)
    }

    /// Whether it changes nothing.
    pub const fn is_one(self) -> bool {
        self.numerator == self.denominator
    }

    /// Returns a count times the factor, rounded up and at least 1; 0 stays 0.
    fn of_count(self, count: u64) -> u64 {
        let product = u128::from(count) * u128::from(self.numerator);
        u64::try_from(product.div_ceil(u128::from(self.denominator))).unwrap_or(u64::MAX)
    }

    fn of_rate(self, rate: Rate) -> Rate {
        Rate { count: self.of_count(rate.count), per: rate.per }
    }

    /// Returns a length divided by the factor, at least 1 ns; 0 stays 0.
    fn shortens(self, length: Nanos) -> Nanos {
        let shorter = i128::from(length.0) * i128::from(self.denominator) / i128::from(self.numerator);
        Nanos(i64::try_from(shorter).unwrap_or(i64::MAX).max(i64::from(length.0 > 0)))
    }
}

impl Experiment {
    /// Applies `--scale`: multiplies rate, users, hold, at, step, sessions (not `each`), spike,
    /// `max_open`, `open_rate`, `of`, and every count and rate in conditions. Variables, repeat and
    /// data stay unchanged.
    pub fn scale(&mut self, factor: Factor) {
        for phase in self.all_phases_mut() {
            scale_phase(phase, factor);
        }
        self.open_rate = self.open_rate.map(|rate| factor.of_rate(rate));
        for condition in self.thresholds.iter_mut().chain(&mut self.stop) {
            condition.value = condition.value.scaled(factor.numerator, factor.denominator);
        }
        let lists =
            self.scenarios.iter_mut().flat_map(|one| [&mut one.before, &mut one.steps, &mut one.after]);
        let blocks = self.blocks.iter_mut().map(|block| &mut block.steps);
        for steps in lists.chain(blocks).chain([&mut self.before, &mut self.after]) {
            scale_rendezvous(steps, factor);
        }
    }

    /// Applies `--speed`: divides for, every, ramp, wave, spike, pause, from and the times of
    /// events, and multiplies at. Think times, timeouts and waits stay unchanged.
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
            if let PhaseLoad::Pause(length) = &mut phase.load.value {
                *length = factor.shortens(*length);
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
            return Err(UserError::usage("target_unknown", message, hint));
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
        PhaseLoad::Trace(_) | PhaseLoad::Pause(_) => {}
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
