//! Keys of a phase that can be combined.

use wavetank_grammar::Spanned;
use wavetank_units::{Code, Rate};

use super::{Keys, Parser};
use crate::model::PhaseLoad;

/// The key of a load, whether it goes from one value to another, and the keys that it can have.
struct PhaseRule {
    key: &'static str,
    climbs: bool,
    allowed: &'static [&'static str],
}

const RATE: &[&str] = &[
    "for", "at", "step", "every", "ramp", "sessions", "arrivals", "wave", "spike", "max_open", "warmup",
    "from", "name",
];
const CLOSED: &[&str] = &["for", "at", "step", "every", "ramp", "sessions", "wave", "warmup", "from", "name"];
const TRACE: &[&str] = &["for", "sessions", "arrivals", "max_open", "warmup", "from", "name"];
const PAUSE: &[&str] = &["warmup", "from", "name"];
const EXTRAS: [&str; 12] = [
    "for", "at", "step", "every", "ramp", "sessions", "arrivals", "wave", "spike", "max_open", "warmup",
    "from",
];

impl Parser<'_> {
    /// Checks the rules that involve more than one key.
    pub(super) fn phase_rules(&mut self, keys: &Keys<'_>, load: &Spanned<PhaseLoad>) {
        let shape = shape(&load.value);
        let strange = EXTRAS.iter().find(|key| keys.has(key) && !shape.allowed.contains(key));
        if let Some(key) = strange {
            let message = format!("`{key}` does not apply to {}", shape.key);
            self.report_rule(
                Code::PhaseKey,
                load.place,
                &message,
                &format!("{} takes: {}", shape.key, shape.allowed.join(", ")),
            );
            return;
        }
        if matches!(load.value, PhaseLoad::Trace(_) | PhaseLoad::Pause(_)) {
            return;
        }
        self.nothing(load, &shape);
        self.stairs_whole(keys, load);
        self.one_length(keys, load, &shape);
        self.of_the_kind(keys, load);
    }

    /// Reports a load that is zero from start to end.
    fn nothing(&mut self, load: &Spanned<PhaseLoad>, shape: &PhaseRule) {
        let none = match &load.value {
            PhaseLoad::Rate { rate, .. } => rate.from.count == 0 && rate.to.count == 0,
            PhaseLoad::Users(span) | PhaseLoad::Hold(span) => span.from == 0 && span.to == 0,
            _ => false,
        };
        if none {
            let message = format!("{}: the load is zero", shape.key);
            self.report_rule(
                Code::LoadZero,
                load.place,
                &message,
                "use pause: 30s for a time without new users",
            );
        }
    }

    fn stairs_whole(&mut self, keys: &Keys<'_>, load: &Spanned<PhaseLoad>) {
        let (step, every, ramp) = (keys.has("step"), keys.has("every"), keys.has("ramp"));
        if step != every {
            let (is, wants) = if step { ("step", "every") } else { ("every", "step") };
            let message = format!("`{is}` needs `{wants}`");
            self.report_rule(Code::StairParts, load.place, &message, "users: 0 to 300, step: 50, every: 10s");
        } else if ramp && !step {
            let hint = "users: 0 to 300, for: 1m climbs evenly; stairs: step: 50, every: 10s, ramp: 2s";
            self.report_rule(Code::StairParts, load.place, "`ramp` belongs to stairs", hint);
        }
    }

    /// Checks that exactly one key sets the length.
    fn one_length(&mut self, keys: &Keys<'_>, load: &Spanned<PhaseLoad>, shape: &PhaseRule) {
        let given: Vec<&str> = ["for", "at", "step"].into_iter().filter(|key| keys.has(key)).collect();
        if let [first, second, ..] = given.as_slice() {
            let message = format!("`{first}` and `{second}` both set the length");
            self.report_rule(Code::LengthSecond, load.place, &message, "keep one of for, at, step");
            return;
        }
        let key = shape.key;
        match given.first().copied() {
            Some(fixing @ ("at" | "step")) if !shape.climbs => {
                let message = format!("`{fixing}` applies only to `{key}: A to B`");
                self.report_rule(
                    Code::LengthKind,
                    load.place,
                    &message,
                    &format!("{key}: 0 to N, {fixing}: …"),
                );
            }
            None if shape.climbs => {
                let hint = match key {
                    "rate" => "for: 10m, or step: 100/s, every: 10s",
                    _ => "for: 10m, at: 50/s, or step: 50, every: 10s",
                };
                self.report_rule(
                    Code::LengthMissing,
                    load.place,
                    &format!("`{key}: A to B` has no length"),
                    hint,
                );
            }
            None if !keys.has("sessions") => {
                let hint = "for: 10m, or sessions: 10k";
                self.report_rule(
                    Code::LengthMissing,
                    load.place,
                    &format!("`{key}` alone sets no length"),
                    hint,
                );
            }
            _ => {}
        }
        if keys.has("wave") && !(shape.climbs && given.as_slice() == ["for"]) {
            let hint = format!("{key}: A to B, for: 10m, wave: 1m");
            self.report_rule(Code::WaveKind, load.place, "a wave needs a range A to B and a length", &hint);
        }
    }

    /// Reports rates in counts of users, and counts in rates.
    fn of_the_kind(&mut self, keys: &Keys<'_>, load: &Spanned<PhaseLoad>) {
        let open = matches!(load.value, PhaseLoad::Rate { .. });
        let each = keys.text("sessions").is_some_and(|text| text.ends_with("each"));
        if open && each {
            let hint = "use sessions: 15k as a limit; only users: and hold: can have a number for each user";
            self.report_rule(Code::SessionsEach, load.place, "in a rate phase a user is one session", hint);
        }
        let Some(step) = keys.text("step") else { return };
        if open != step.contains('/') {
            let hint = if open {
                format!("step: {step}/s")
            } else {
                format!("step: {}", step.split('/').next().unwrap_or("50"))
            };
            self.report_rule(
                Code::StairHeight,
                load.place,
                "the height of a stair has the unit of the load",
                &hint,
            );
        }
    }
}

fn shape(load: &PhaseLoad) -> PhaseRule {
    let differ = |from: Rate, to: Rate| (from.as_per_second() - to.as_per_second()).abs() > 0.0;
    match load {
        PhaseLoad::Rate { rate, .. } => {
            PhaseRule { key: "rate", climbs: differ(rate.from, rate.to), allowed: RATE }
        }
        PhaseLoad::Users(span) => PhaseRule { key: "users", climbs: span.from != span.to, allowed: CLOSED },
        PhaseLoad::Hold(span) => PhaseRule { key: "hold", climbs: span.from != span.to, allowed: CLOSED },
        PhaseLoad::Trace(_) => PhaseRule { key: "trace", climbs: false, allowed: TRACE },
        PhaseLoad::Pause(_) => PhaseRule { key: "pause", climbs: false, allowed: PAUSE },
    }
}
