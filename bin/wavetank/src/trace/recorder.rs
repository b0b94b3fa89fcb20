//! [`TraceRecorder`]: what happened, as what may be shown of it.

use wavetank_diagnose::hint_for;
use wavetank_driver::Alpn;
use wavetank_engine::{
    EarlyEnd, FullResponse, Handshake, Opened, RequestCause, RequestFailure, SentRequest, TraceEvent,
};
use wavetank_journey::cookies::CookieOutcome;
use wavetank_journey::value::Values;
use wavetank_measure::ErrorClass;
use wavetank_plan::redact::REDACTED;
use wavetank_plan::{MessageAction, Scenario, Target, UrlProtocol};
use wavetank_record::{Number, TryEvent};
use wavetank_units::{Nanos, address_text};

use super::{SecretScrubber, message};

/// Values of a list that are shown.
const VALUES_MAX: usize = 10;
/// Bytes of a value that are shown.
const VALUE_BYTES_MAX: usize = 200;

/// Turns what happens during a walk through `scenario` into events. Events of a step are held back
/// until it is over, because it may extract a secret from its response.
pub(crate) struct TraceRecorder<'a> {
    scenario: &'a Scenario,
    targets: &'a [Target],
    secrets: &'a mut SecretScrubber,
    held: Vec<TryEvent>,
    step: Option<u16>,
    report: &'a mut dyn FnMut(TryEvent),
}

impl<'a> TraceRecorder<'a> {
    /// Creates a recorder for a walk through `scenario` of a plan with `targets`; `report` receives
    /// what may be shown.
    pub(crate) fn new(
        (scenario, targets): (&'a Scenario, &'a [Target]),
        secrets: &'a mut SecretScrubber,
        report: &'a mut dyn FnMut(TryEvent),
    ) -> Self {
        Self { scenario, targets, secrets, held: Vec::new(), step: None, report }
    }

    /// One thing happened.
    pub(crate) fn record(&mut self, happened: TraceEvent<'_>) {
        let event = self.event(happened);
        match happened {
            TraceEvent::Step(step) => self.step = Some(step),
            TraceEvent::Over(_) => self.step = None,
            _ => {}
        }
        self.held.push(event);
        if self.step.is_none() {
            for mut event in self.held.drain(..) {
                event.for_each_text(&mut |text| self.secrets.redact(text));
                (self.report)(event);
            }
        }
    }

    fn event(&mut self, happened: TraceEvent<'_>) -> TryEvent {
        match happened {
            TraceEvent::Step(step) => {
                let step = self.scenario.steps.get(usize::from(step));
                TryEvent::Step { name: step.map(|step| step.name.clone()).unwrap_or_default() }
            }
            TraceEvent::Opened(opened) => connected(opened),
            TraceEvent::Sent(sent) => self.request(sent),
            TraceEvent::Answered(answer) => self.answer(answer),
            TraceEvent::Unanswered { trouble, address, seen } => TryEvent::NoAnswer {
                class: trouble.class.name().to_owned(),
                detail: trouble.detail.clone(),
                address: address.map(address_text),
                seen: (!seen.is_empty()).then(|| seen.escape_ascii().to_string()),
            },
            TraceEvent::Cookie(header, fate) => cookie(header, fate),
            TraceEvent::Extracted(variable, from, found) => {
                let (values, count) = found.map_or_else(|_| (Vec::new(), 0), |it| self.values(variable, it));
                TryEvent::Extract {
                    variable: variable.to_owned(),
                    from: from.to_owned(),
                    values,
                    count,
                    missing: found.err().map(|miss| miss.as_str().to_owned()),
                }
            }
            TraceEvent::Checked(check, instead) => TryEvent::Check {
                check: check.to_owned(),
                held: instead.is_none(),
                found: instead.map(str::to_owned),
            },
            TraceEvent::Counted(name, counted) => TryEvent::Count { name: name.to_owned(), counted },
            TraceEvent::Over(None) => TryEvent::Done,
            TraceEvent::Over(Some(trouble)) => failed(trouble),
            TraceEvent::Set(variable, value) => {
                let (values, count) = self.values(variable, value);
                TryEvent::Set { variable: variable.to_owned(), values, count }
            }
            TraceEvent::Paused(length, waited) => TryEvent::Think { time_us: micros(length), waited },
            TraceEvent::Met(name) => TryEvent::Rendezvous { name: name.to_owned() },
            TraceEvent::Grouped(name, took) => {
                TryEvent::Group { name: name.to_owned(), time_us: micros(took) }
            }
            TraceEvent::Logged(text) => TryEvent::Log { text: text.to_owned() },
            TraceEvent::EndsEarly(early) => ends(early),
            TraceEvent::Asked(condition, held) => TryEvent::If { condition: condition.to_owned(), held },
            TraceEvent::Endless => TryEvent::Endless,
            TraceEvent::Enough(count) => TryEvent::Enough { count },
        }
    }

    fn request(&self, sent: &SentRequest<'_>) -> TryEvent {
        let step = self.step.and_then(|step| self.scenario.steps.get(usize::from(step)));
        let of_step = step.map_or(&[][..], |step| &step.request.secret_headers);
        let protocol = self.protocol();
        TryEvent::Request {
            why: match sent.why {
                RequestCause::Step => "step",
                RequestCause::Retry => "retry",
                RequestCause::Challenge => "challenge",
                RequestCause::Redirect => "redirect",
                RequestCause::Resource => "resource",
            }
            .to_owned(),
            address: address_text(sent.address),
            reused: sent.reused,
            message: match step.and_then(|step| step.message.as_ref()) {
                Some(own) if own.action == MessageAction::Open => {
                    message::request(&sent.bytes[1..], self.secrets, of_step, None)
                }
                Some(own) if own.action != MessageAction::Connect || protocol == UrlProtocol::Tcp => {
                    message::operation(sent.bytes, protocol, sent.call)
                }
                _ => message::request(sent.bytes, self.secrets, of_step, sent.call),
            },
        }
    }

    /// The protocol of the current step's target.
    fn protocol(&self) -> UrlProtocol {
        let step = self.step.and_then(|step| self.scenario.steps.get(usize::from(step)));
        step.map_or(UrlProtocol::Http, |step| self.targets[step.target].protocol())
    }

    fn answer(&self, answer: &FullResponse<'_>) -> TryEvent {
        TryEvent::Answer {
            status: answer.status,
            ttfb_us: micros(answer.first_byte - answer.sent),
            service_us: micros(answer.complete - answer.sent),
            message: if answer.head.is_empty() || !answer.head.starts_with(b"HTTP/") {
                message::message_answer(self.protocol(), answer, self.secrets)
            } else {
                message::answer(answer, self.secrets)
            },
        }
    }

    /// The first values of a variable as text, and how many there are.
    fn values(&mut self, variable: &str, finds: &Values) -> (Vec<String>, usize) {
        if self.secrets.is_name(variable) {
            finds.iter().for_each(|found| self.secrets.add(&String::from_utf8_lossy(found.text)));
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

fn ends(early: EarlyEnd) -> TryEvent {
    let why = match early {
        EarlyEnd::Session => "session",
        EarlyEnd::Run => "run",
        EarlyEnd::Failure => "failure",
        EarlyEnd::Cancelled => "signal",
    };
    TryEvent::Ends { why: why.to_owned() }
}

fn cookie(header: &[u8], fate: CookieOutcome) -> TryEvent {
    let name = header.split(|&byte| matches!(byte, b'=' | b';')).next().unwrap_or_default();
    let fate = match fate {
        CookieOutcome::Kept => "kept",
        CookieOutcome::Removed => "removed",
        CookieOutcome::Ignored(why) => why,
    };
    TryEvent::Cookie { name: String::from_utf8_lossy(name).trim().to_owned(), fate: fate.to_owned() }
}

/// Returns what failed, with a hint for a reader who sees the whole trace.
fn failed(trouble: &RequestFailure) -> TryEvent {
    let detail = trouble.detail.as_str();
    let own = detail.strip_suffix(')').and_then(|detail| detail.rsplit_once(" (hint: "));
    let hint = match trouble.class {
        ErrorClass::Check => "see the response above; correct the check or the target".to_owned(),
        ErrorClass::Status if detail.strip_prefix("status ").is_some_and(|code| code.len() == 3) => {
            "set the expected statuses with a check of the step (status = 404) or http.expect".to_owned()
        }
        ErrorClass::Data => "the value was not set: check the steps before, and vars and data".to_owned(),
        class => hint_for(class, Some(detail)).into(),
    };
    let (detail, hint) = own.unwrap_or((detail, &hint));
    TryEvent::Failed {
        class: trouble.class.name().to_owned(),
        detail: detail.to_owned(),
        hint: hint.to_owned(),
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
        address: address_text(opened.address),
        connect_us: micros(ready - opened.begun),
        tls_us: tls.map(|handshake| micros(handshake.secured - ready)),
        tls: tls.map(agreed),
    }
}

fn micros(length: Nanos) -> Number {
    Number::micros(length.0.max(0).unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_the_hint_for_its_reason() {
        let check = |class, detail: &str, expected: &str| {
            let event = failed(&RequestFailure { class, detail: detail.to_owned() });
            let TryEvent::Failed { detail: printed, hint, .. } = event else { panic!("{event:?}") };
            assert!(hint.contains(expected), "{detail}: {hint}");
            assert!(!printed.contains("hint"), "{printed}");
        };
        check(ErrorClass::Status, "status 404", "http.expect");
        let challenge = "the challenge was not answered: the server asks for Basic, not Digest";
        check(ErrorClass::Status, challenge, "auth: basic");
        let foreign = "the redirect to http://b/ does not lead to a target (hint: add it under targets)";
        check(ErrorClass::Other, foreign, "add it under targets");
        check(ErrorClass::Check, "coding a (b) is not supported (hint: use gzip)", "use gzip");
        check(ErrorClass::Check, "status = 200: found 404", "see the response above");
    }
}
