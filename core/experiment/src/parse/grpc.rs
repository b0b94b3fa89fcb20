//! `grpc`, and the steps of gRPC.

use wavetank_grammar::{Entry, Node, Spanned};
use wavetank_plan::{MessageAction, UrlProtocol};
use wavetank_units::Code;

use super::message::empty;
use super::{Keys, Parser, TreeReader as _};
use crate::grammar::MapName;
use crate::model::{Body, Grpc, Message, Request, RequestHead};

impl Parser<'_> {
    /// `grpc:`.
    pub(super) fn grpc(&mut self, node: &Node) -> Option<Grpc> {
        let mut keys = Keys::open(self, node, MapName::Grpc)?;
        let proto = keys.take("proto").map(|node| self.each(node, Self::file_name)).unwrap_or_default();
        let paths = keys.take("paths").map(|node| self.texts(node, "a folder")).unwrap_or_default();
        let descriptors = keys.take("descriptors").and_then(|node| self.file_name(node));
        let reflection = keys.take("reflection").and_then(|node| Some((self.bool(node)?, node.place)));
        let gzip = keys.take("gzip").and_then(|node| self.bool(node)).unwrap_or_default();
        let deadline = keys.take("deadline").and_then(|node| self.bool(node)).unwrap_or(true);
        keys.finish();
        if let (Some(descriptors), false) = (&descriptors, proto.is_empty()) {
            let message = "`proto` and `descriptors` exclude each other";
            return self.fail(Code::OptionConflict, descriptors.place, message, "keep one of the two");
        }
        if let Some((true, place)) = reflection
            && (descriptors.is_some() || !proto.is_empty())
        {
            let message = "`reflection` asks the server for what `proto` or `descriptors` describe";
            return self.fail(Code::OptionConflict, place, message, "keep one of them");
        }
        let reflection = reflection.is_some_and(|(reflection, _)| reflection);
        let paths = paths.into_iter().map(|path| path.value).collect();
        Some(Grpc { proto, paths, descriptors, reflection, gzip, hides_deadline: !deadline })
    }

    /// Reads a step with `grpc.call` as its verb.
    pub(super) fn grpc_call(&mut self, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        let method = self.method_name(verb);
        let headers = keys.take("headers").map(|node| self.headers(node)).unwrap_or_default();
        let body = keys.take("json").and_then(|node| self.value(node)).map(Body::Json);
        let request = self.common(method.map(RequestHead::Grpc), keys);
        Some(Request { headers, body, ..request? })
    }

    /// Reads a step of a call that stays open; `form` is its verb.
    pub(super) fn call_step(&mut self, form: &str, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        if form == "grpc.open" {
            let method = self.method_name(verb);
            self.open_call.clone_from(&method);
            let headers = keys.take("headers").map(|node| self.headers(node)).unwrap_or_default();
            let name = keys.take("name").and_then(|node| self.step_name(node));
            let to = keys.take("to").and_then(|node| self.name(node, "a target"));
            let timeout = keys.take("timeout").and_then(|node| self.duration_positive(node));
            let on_failure = keys.take("on_failure").and_then(|node| self.on_failure(node));
            let request = Request::plain(RequestHead::Grpc(method?));
            let request = Request { name, to, timeout, on_failure, ..request };
            let message = Some(Message::new(UrlProtocol::Grpc, MessageAction::Open));
            return Some(Request { headers, message, ..request });
        }
        let request = match form {
            "grpc.send" => self.call_message(verb, keys),
            "grpc.wait" => self.waiting(UrlProtocol::Grpc, verb, keys),
            _ => self.bare_step(UrlProtocol::Grpc, MessageAction::Close, verb, keys),
        }?;
        let Some(method) = &self.open_call else {
            let message = format!("`{form}` belongs to a call, and no grpc.open comes before it");
            let hint = "- grpc.open: shop.Chat/Talk, in the same steps or block";
            return self.fail(Code::GrpcNotOpen, verb.place, message, hint);
        };
        let method = Spanned::new(method.value.clone(), verb.value.place);
        Some(Request { head: RequestHead::Grpc(method), ..request })
    }

    fn call_message(&mut self, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        let place = verb.value.place;
        let body = self.value(&verb.value).map(Body::Json);
        let (reply, count) = self.awaited(keys);
        let request = self.common(Some(RequestHead::Raw(empty(place))), keys);
        let (reply, count) = self.checked_reply(reply, count, request.as_ref(), place)?;
        let message = Message::new(UrlProtocol::Grpc, MessageAction::Send);
        let message = Some(Message { binary: true, reply, count, ..message });
        Some(Request { body: Some(body?), message, ..request? })
    }

    fn method_name(&mut self, verb: &Entry) -> Option<Spanned<String>> {
        let method = self.text(&verb.value, "a method")?;
        let is_name = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte))
        };
        if method.value.trim_start_matches('/').split('/').all(is_name) {
            return Some(method);
        }
        let message = format!("`{}` is not a method", method.value);
        self.fail(Code::BadName, method.place, message, "service and method: shop.Orders/Place")
    }
}
