//! WebSocket: `ws` and the steps with messages.

use wavetank_grammar::{Entry, Node, Span, Spanned};
use wavetank_plan::{MessageAction, UrlProtocol};
use wavetank_units::Code;

use super::{Keys, Parser, TreeReader as _};
use crate::grammar::MapName;
use crate::model::{AwaitedReply, Body, Message, Request, RequestHead, Template, Value, WebSocket};

/// Close codes that a client may send (RFC 6455 §7.4): it is done, or an application's own.
const CLOSE_CODES: [std::ops::RangeInclusive<u64>; 2] = [1_000..=1_000, 3_000..=4_999];

impl Parser<'_> {
    /// `ws:`.
    pub(super) fn web_socket(&mut self, node: &Node) -> Option<WebSocket> {
        let mut keys = Keys::open(self, node, MapName::WebSocket)?;
        let settings = WebSocket {
            subprotocol: keys.take("subprotocol").and_then(|node| self.subprotocol(node)),
            deflate: keys.take("deflate").and_then(|node| self.bool(node)),
            ping: keys.take("ping").and_then(|node| self.duration_positive(node)),
        };
        keys.finish();
        Some(settings)
    }

    fn subprotocol(&mut self, node: &Node) -> Option<String> {
        let text = self.text(node, "a subprotocol")?;
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let mut parts = text.value.split(',').map(str::trim);
        if parts.all(|part| !part.is_empty() && part.bytes().all(is_token)) {
            return Some(text.value);
        }
        let message = format!("`{}` is not a subprotocol", text.value);
        self.fail(Code::BadName, text.place, message, "letters, digits, dots and -, such as chat.v2")
    }

    /// Reads a step with `ws.connect` as its verb.
    pub(super) fn ws_connect(&mut self, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        self.opening(UrlProtocol::WebSocket, verb, keys)
    }

    /// Reads a step with an HTTP request that opens a connection with messages.
    pub(super) fn opening(
        &mut self,
        protocol: UrlProtocol,
        verb: &Entry,
        keys: &mut Keys<'_>,
    ) -> Option<Request> {
        let head = self.template(&verb.value, "a path").and_then(|whole| self.path(whole, verb.value.place));
        let query =
            keys.take("query").and_then(|node| self.named_values(node, "a query")).unwrap_or_default();
        let headers = keys.take("headers").map(|node| self.headers(node)).unwrap_or_default();
        let auth = keys.take("auth").and_then(|node| self.auth(node));
        let method = Spanned::new("GET".to_owned(), verb.place);
        let request = self.common(head.map(|url| RequestHead::Http { method, url }), keys)?;
        let message = Some(Message::new(protocol, MessageAction::Connect));
        Some(Request { query, headers, auth, message, ..request })
    }

    /// Reads a step with `ws.send` as its verb.
    pub(super) fn ws_send(&mut self, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        let place = verb.value.place;
        let (text, body) = match self.value(&verb.value) {
            Some(Value::Text(text)) => (Some(text), None),
            Some(Value::Map(entries)) => (Some(empty(place)), Some(Body::Json(Value::Map(entries)))),
            Some(Value::List(items)) => (Some(empty(place)), Some(Body::Json(Value::List(items)))),
            Some(_) => (self.template(&verb.value, "a message"), None),
            None => (None, None),
        };
        let binary = keys.take("binary").and_then(|node| self.bool(node)).unwrap_or_default();
        let (reply, count) = self.awaited(keys);
        let request = self.common(text.map(RequestHead::Raw), keys);
        let (reply, count) = self.checked_reply(reply, count, request.as_ref(), place)?;
        let message = Message::new(UrlProtocol::WebSocket, MessageAction::Send);
        let message = Some(Message { binary, reply, count, ..message });
        Some(Request { body, message, ..request? })
    }

    /// Reads what a message awaits: `reply` and `messages`.
    pub(super) fn awaited(&mut self, keys: &mut Keys<'_>) -> (Option<AwaitedReply>, Option<Spanned<u32>>) {
        let reply = match keys.take("reply") {
            None => Some(AwaitedReply::None),
            Some(node) => self.reply(node),
        };
        (reply, self.message_count(keys))
    }

    /// Checks that a message that is not answered has no part of an answer.
    pub(super) fn checked_reply(
        &mut self,
        reply: Option<AwaitedReply>,
        count: Option<Spanned<u32>>,
        request: Option<&Request>,
        place: Span,
    ) -> Option<(AwaitedReply, u32)> {
        let reply = reply?;
        if let (Some(count), AwaitedReply::None) = (&count, &reply) {
            let message = "a message without reply awaits no messages";
            return self.fail(Code::OptionConflict, count.place, message, "reply: any");
        }
        if reply == AwaitedReply::None && request?.reads_answer() {
            let message = "nothing answers a message without reply";
            let hint = "reply: any, or reply: with a condition on the answer";
            return self.fail(Code::OptionConflict, place, message, hint);
        }
        Some((reply, count.map_or(1, |count| count.value)))
    }

    /// Reads a step with `ws.wait` as its verb.
    pub(super) fn ws_wait(&mut self, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        self.waiting(UrlProtocol::WebSocket, verb, keys)
    }

    /// Reads a step that waits for messages.
    pub(super) fn waiting(
        &mut self,
        protocol: UrlProtocol,
        verb: &Entry,
        keys: &mut Keys<'_>,
    ) -> Option<Request> {
        let reply = self.reply(&verb.value);
        let count = self.message_count(keys).map_or(1, |count| count.value);
        let request = self.common(Some(RequestHead::Raw(empty(verb.value.place))), keys);
        let message = Message { reply: reply?, count, ..Message::new(protocol, MessageAction::Wait) };
        Some(Request { message: Some(message), ..request? })
    }

    /// Reads a step with `ws.close` as its verb.
    pub(super) fn ws_close(&mut self, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        let place = verb.value.place;
        let mut code = self.count_positive(&verb.value);
        if let Some(given) = &code
            && !CLOSE_CODES.iter().any(|range| range.contains(&given.value))
        {
            let message = format!("{} is not a close code that a client may send", given.value);
            code = self.fail(
                Code::BadCloseCode,
                place,
                message,
                "1000, or 3000 to 4999 for an application's own",
            );
        }
        let head = code.map(|code| RequestHead::Raw(Template::fixed(code.value.to_string(), place)));
        let request = self.common(head, keys)?;
        Some(Request { message: Some(Message::new(UrlProtocol::WebSocket, MessageAction::Close)), ..request })
    }

    fn reply(&mut self, node: &Node) -> Option<AwaitedReply> {
        if node.scalar().is_some_and(|scalar| scalar.text.trim() == "any") {
            return Some(AwaitedReply::Any);
        }
        self.check(node).map(AwaitedReply::Matching)
    }

    fn message_count(&mut self, keys: &mut Keys<'_>) -> Option<Spanned<u32>> {
        let node = keys.take("messages")?;
        self.count_positive(node)?;
        self.small_count(node).map(|count| Spanned::new(count, node.place))
    }
}

impl Request {
    /// Whether a part of the answer is used.
    pub(super) const fn reads_answer(&self) -> bool {
        !(self.extract.is_empty() && self.checks.is_empty() && self.counts.is_empty())
    }
}

pub(super) fn empty(place: wavetank_grammar::Span) -> Template {
    Template::fixed("", place)
}
