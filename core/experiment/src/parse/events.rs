//! Server-sent events: the steps of event streams.

use wavetank_grammar::Entry;
use wavetank_plan::{MessageAction, UrlProtocol};
use wavetank_units::Code;

use super::message::empty;
use super::{Keys, Parser, TreeReader as _};
use crate::model::{Message, Request, RequestHead};

impl Parser<'_> {
    /// Reads a step of an event stream; `form` is its verb.
    pub(super) fn event_step(&mut self, form: &str, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        match form {
            "sse.open" => self.opening(UrlProtocol::Events, verb, keys),
            "sse.wait" => self.waiting(UrlProtocol::Events, verb, keys),
            _ => self.bare_step(UrlProtocol::Events, MessageAction::Close, verb, keys),
        }
    }

    /// Reads a step without anything to say: its verb is `true`.
    pub(super) fn bare_step(
        &mut self,
        protocol: UrlProtocol,
        action: MessageAction,
        verb: &Entry,
        keys: &mut Keys<'_>,
    ) -> Option<Request> {
        let place = verb.value.place;
        let is_done = self.bool(&verb.value);
        let request = self.common(Some(RequestHead::Raw(empty(place))), keys);
        if !is_done? {
            let message = format!("`{}: false` does nothing", verb.key);
            return self.fail(
                Code::OptionConflict,
                place,
                message,
                format!("{}: true, or leave the step out", verb.key),
            );
        }
        Some(Request { message: Some(Message::new(protocol, action)), ..request? })
    }
}
