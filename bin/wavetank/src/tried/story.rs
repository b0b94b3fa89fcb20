//! [`Story`]: what happened, as what may be shown of it.

use wavetank_diagnose::hint_for;
use wavetank_driver::Alpn;
use wavetank_engine::{Early, Handshake, Happened, Opened, SentRequest, Trouble, WholeAnswer, Why};
use wavetank_journey::cookies::CookieFate;
use wavetank_journey::value::Finds;
use wavetank_measure::ErrorClass;
use wavetank_plan::redact::REDACTED;
use wavetank_plan::{Nanos, Scenario};
use wavetank_record::{Number, TryEvent};

use super::{Secrets, message};

/// Values of a list that are shown.
const VALUES_MAX: usize = 10;
/// Bytes of a value that are shown.
const VALUE_BYTES_MAX: usize = 200;

/// Turns what happens on a walk through `scenario` into events. Those of a step are held back until it is over: what it
/// extracts may be a secret that stands in the answer.
pub(crate) struct Story<'a> {
    scenario: &'a Scenario,
    secrets: &'a mut Secrets,
    held: Vec<TryEvent>,
    step: Option<u16>,
    tell: &'a mut dyn FnMut(TryEvent),
}

impl<'a> Story<'a> {
    /// Of a walk through `scenario`; `tell` is given what may be shown.
    pub(crate) fn new(
        scenario: &'a Scenario,
        secrets: &'a mut Secrets,
        tell: &'a mut dyn FnMut(TryEvent),
    ) -> Self {
        Self { scenario, secrets, held: Vec::new(), step: None, tell }
    }

    /// One thing happened.
    pub(crate) fn take(&mut self, happened: Happened<'_>) {
        let event = self.event(happened);
        match happened {
            Happened::Step(step) => self.step = Some(step),
            Happened::Over(_) => self.step = None,
            _ => {}
        }
        self.held.push(event);
        if self.step.is_none() {
            for mut event in self.held.drain(..) {
                event.for_each_text(&mut |text| self.secrets.hide(text));
                (self.tell)(event);
            }
        }
    }

    fn event(&mut self, happened: Happened<'_>) -> TryEvent {
        match happened {
            Happened::Step(step) => {
                let step = self.scenario.steps.get(usize::from(step));
                TryEvent::Step { name: step.map(|step| step.name.clone()).unwrap_or_default() }
            }
            Happened::Opened(opened) => connected(opened),
            Happened::Sent(sent) => self.request(sent),
            Happened::Answered(answer) => self.answer(answer),
            Happened::Unanswered { trouble, address, seen } => TryEvent::NoAnswer {
                class: trouble.class.name().to_owned(),
                detail: trouble.detail.clone(),
                address: address.map(|address| address.to_string()),
                seen: (!seen.is_empty()).then(|| seen.escape_ascii().to_string()),
            },
            Happened::Cookie(header, fate) => cookie(header, fate),
            Happened::Extracted(variable, from, found) => {
                let (values, count) = found.map_or_else(|_| (Vec::new(), 0), |it| self.values(variable, it));
                TryEvent::Extract {
                    variable: variable.to_owned(),
                    from: from.to_owned(),
                    values,
                    count,
                    missing: found.err().map(|miss| miss.words().to_owned()),
                }
            }
            Happened::Checked(check, instead) => TryEvent::Check {
                check: check.to_owned(),
                held: instead.is_none(),
                found: instead.map(str::to_owned),
            },
            Happened::Counted(name, counted) => TryEvent::Count { name: name.to_owned(), counted },
            Happened::Over(None) => TryEvent::Done,
            Happened::Over(Some(trouble)) => TryEvent::Failed {
                class: trouble.class.name().to_owned(),
                detail: trouble.detail.clone(),
                hint: hint(trouble).to_owned(),
            },
            Happened::Set(variable, value) => {
                let (values, count) = self.values(variable, value);
                TryEvent::Set { variable: variable.to_owned(), values, count }
            }
            Happened::Paused(length, waited) => TryEvent::Think { time_us: micros(length), waited },
            Happened::Met(name) => TryEvent::Rendezvous { name: name.to_owned() },
            Happened::Grouped(name, took) => TryEvent::Group { name: name.to_owned(), time_us: micros(took) },
            Happened::Logged(text) => TryEvent::Log { text: text.to_owned() },
            Happened::EndsEarly(early) => ends(early),
            Happened::Asked(condition, held) => TryEvent::If { condition: condition.to_owned(), held },
            Happened::Endless => TryEvent::Endless,
            Happened::Enough(count) => TryEvent::Enough { count },
        }
    }

    fn request(&self, sent: &SentRequest<'_>) -> TryEvent {
        let step = self.step.and_then(|step| self.scenario.steps.get(usize::from(step)));
        let of_step = step.map_or(&[][..], |step| &step.request.secret_headers);
        TryEvent::Request {
            why: match sent.why {
                Why::Step => "step",
                Why::Retry => "retry",
                Why::Challenge => "challenge",
                Why::Redirect => "redirect",
                Why::Resource => "resource",
            }
            .to_owned(),
            address: sent.address.to_string(),
            reused: sent.reused,
            message: message::request(sent.bytes, self.secrets, of_step),
        }
    }

    fn answer(&self, answer: &WholeAnswer<'_>) -> TryEvent {
        TryEvent::Answer {
            status: answer.status,
            ttfb_us: micros(answer.first_byte - answer.sent),
            service_us: micros(answer.complete - answer.sent),
            message: message::answer(answer.head, answer.body, answer.body_bytes, self.secrets),
        }
    }

    /// The first values of a variable as text, and how many there are.
    fn values(&mut self, variable: &str, finds: &Finds) -> (Vec<String>, usize) {
        if self.secrets.is_name(variable) {
            finds.iter().for_each(|found| self.secrets.learn(&String::from_utf8_lossy(found.text)));
            return (vec![REDACTED.to_owned(); usize::from(!finds.is_empty())], finds.len());
        }
        let shown = finds.iter().take(VALUES_MAX).map(|found| {
            let text = String::from_utf8_lossy(&found.text[..found.text.len().min(VALUE_BYTES_MAX)]);
            let more = if found.text.len() > VALUE_BYTES_MAX { "…" } else { "" };
            format!("{text}{more}")
        });
        (shown.collect(), finds.len())
    }
}

fn ends(early: Early) -> TryEvent {
    let why = match early {
        Early::Session => "session",
        Early::Run => "run",
        Early::Failure => "failure",
        Early::Cancelled => "signal",
    };
    TryEvent::Ends { why: why.to_owned() }
}

fn cookie(header: &[u8], fate: CookieFate) -> TryEvent {
    let name = header.split(|&byte| matches!(byte, b'=' | b';')).next().unwrap_or_default();
    let fate = match fate {
        CookieFate::Kept => "kept",
        CookieFate::Removed => "removed",
        CookieFate::Ignored(why) => why,
    };
    TryEvent::Cookie { name: String::from_utf8_lossy(name).trim().to_owned(), fate: fate.to_owned() }
}

/// What to do about it, by somebody who has everything before him.
fn hint(trouble: &Trouble) -> &'static str {
    match trouble.class {
        ErrorClass::Check => "the answer stands above: what is asked of it, or the target, is to be mended",
        ErrorClass::Status => {
            "a check of the step (status = 404), or http.expect, says which statuses are wanted"
        }
        ErrorClass::Data => {
            "what should give the value did not: look at the steps before, and at vars and data"
        }
        class => hint_for(class, Some(&trouble.detail)),
    }
}

fn connected(opened: &Opened) -> TryEvent {
    let tls = opened.tls.as_ref();
    // A tunnel belongs to connecting.
    let ready = opened.tunnelled.unwrap_or(opened.connected);
    let agreed = |handshake: &Handshake| {
        let agreed = &handshake.agreed;
        let mut parts = vec![agreed.version, agreed.cipher];
        parts.extend(agreed.group);
        parts.extend(agreed.alpn.as_ref().map(Alpn::as_str));
        parts.join(" · ")
    };
    TryEvent::Connected {
        address: opened.address.to_string(),
        connect_us: micros(ready - opened.begun),
        tls_us: tls.map(|handshake| micros(handshake.secured - ready)),
        tls: tls.map(agreed),
    }
}

fn micros(length: Nanos) -> Number {
    Number::micros(length.0.max(0).unsigned_abs())
}
