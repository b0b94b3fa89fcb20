//! URLs of targets with messages: WebSocket, event streams, TCP, UDP.

use wavetank_grammar::Diagnostic;
use wavetank_plan::{MessageAction, ReadExtent, TargetUrl, UrlProtocol};
use wavetank_units::Code;

use super::{UrlReader, UrlRequest, one_request, rows};
use crate::model::{AwaitedReply, Body, Experiment, Message, Part, Request, RequestHead, Template};
use crate::placeless::PLACE;

impl UrlReader<'_> {
    /// Makes the experiment of a target with messages: a message and its answer, or the next event.
    pub(super) fn messages(
        &mut self,
        request: &UrlRequest,
        target: TargetUrl,
        path: &Template,
        body: Option<Body>,
    ) -> Experiment {
        self.check_messages(request, &target, path, body.as_ref());
        let path = path.as_fixed().unwrap_or("/");
        let (text, body, binary) = match body {
            Some(Body::Text(text)) => (text, None, false),
            Some(body @ (Body::Json(_) | Body::JsonText(_))) => {
                (Template::fixed("", PLACE), Some(body), false)
            }
            Some(body @ (Body::File(_) | Body::Bytes(_))) => (Template::fixed("", PLACE), Some(body), true),
            _ => (Template::fixed(default_message(target.protocol), PLACE), None, false),
        };
        let message = match target.protocol {
            UrlProtocol::Events => {
                Message { reply: AwaitedReply::Any, ..Message::new(UrlProtocol::Events, MessageAction::Wait) }
            }
            UrlProtocol::Tcp => Message {
                binary: true,
                read: Some(ReadExtent::Until(b"\n".to_vec())),
                ..Message::new(UrlProtocol::Tcp, MessageAction::Send)
            },
            UrlProtocol::Udp => Message {
                binary: true,
                read: Some(ReadExtent::Datagram(None)),
                ..Message::new(UrlProtocol::Udp, MessageAction::Send)
            },
            other => Message { binary, reply: AwaitedReply::Any, ..Message::new(other, MessageAction::Send) },
        };
        let target = TargetUrl { path: path.to_owned(), ..target };
        let step = Request { body, message: Some(message), ..Request::plain(RequestHead::Raw(text)) };
        Experiment { data: request.rows.iter().map(|file| rows(file)).collect(), ..one_request(target, step) }
    }

    /// Checks that a URL with messages has nothing that these cannot have.
    fn check_messages(
        &mut self,
        request: &UrlRequest,
        target: &TargetUrl,
        path: &Template,
        body: Option<&Body>,
    ) {
        let (opened, redirects, carries, verb) = match target.protocol {
            UrlProtocol::Events => (
                "an event stream is always opened by GET",
                "the redirects of an event stream are not followed",
                "an event stream",
                "sse.open",
            ),
            UrlProtocol::Tcp => {
                ("TCP has no methods", "TCP has no redirects", "a TCP connection", "tcp.send")
            }
            UrlProtocol::Udp => ("UDP has no methods", "UDP has no redirects", "a UDP socket", "udp.send"),
            _ => (
                "a WebSocket is always opened by GET",
                "a WebSocket has no redirects",
                "a WebSocket",
                "ws.connect",
            ),
        };
        let is_form = matches!(body, Some(Body::Form(_) | Body::Multipart(_)));
        let is_events = target.protocol == UrlProtocol::Events;
        let form = format!("--form is a body of HTTP, and {carries} carries messages");
        let conflicts = [
            (request.method.is_some(), opened, "leave the method out"),
            (request.follow.is_some(), redirects, "leave --follow out"),
            (is_events && body.is_some(), "a client sends nothing on an event stream", "leave the body out"),
            (is_form && !is_events, form.as_str(), "--body TEXT, --json JSON or --body-file FILE"),
        ];
        for (_, message, hint) in conflicts.into_iter().filter(|(given, ..)| *given) {
            self.out.push(Diagnostic::error(Code::Conflict, PLACE, message, hint));
        }
        if target.protocol.is_bare() {
            // It has no path.
            self.report(TargetUrl::parse(&request.url).map(drop));
        }
        if path.as_fixed().is_none() {
            let message = format!("the path of {carries} must be the same for all users here");
            let hint = format!("in a file, {verb}: /path/${{user}} opens one for each user");
            self.out.push(Diagnostic::error(Code::NotFixed, PLACE, message, hint));
        }
        if target.protocol == UrlProtocol::Tcp
            && let Some(Body::Text(text)) = body
            && !matches!(text.parts.last(), Some(Part::Text(end)) if end.ends_with('\n'))
        {
            let message =
                "the answer to a message of a TCP URL ends with its line, and the message has no line end";
            let hint = "--body $'TEXT\\n', or a file with tcp.send: and read:";
            self.out.push(Diagnostic::error(Code::Conflict, PLACE, message, hint));
        }
    }
}

/// Returns the message of a run of a URL that gives none.
const fn default_message(protocol: UrlProtocol) -> &'static str {
    match protocol {
        UrlProtocol::Events => "",
        UrlProtocol::Tcp => "hello\n",
        _ => "hello",
    }
}
