//! `grpc`, and the step `grpc.call`.

use wavetank_grammar::{Entry, Node, Spanned};

use super::{Keys, Parser, TreeReader as _};
use crate::grammar::MapName;
use crate::model::{Body, Grpc, Request, RequestHead};

impl Parser<'_> {
    /// `grpc:`.
    pub(super) fn grpc(&mut self, node: &Node) -> Option<Grpc> {
        let mut keys = Keys::open(self, node, MapName::Grpc)?;
        let proto = keys.take("proto").map(|node| self.each(node, Self::file_name)).unwrap_or_default();
        let paths = keys.take("paths").map(|node| self.texts(node, "a folder")).unwrap_or_default();
        let descriptors = keys.take("descriptors").and_then(|node| self.file_name(node));
        let reflection = keys.take("reflection").and_then(|node| Some((self.bool(node)?, node.place)));
        let gzip = keys.take("gzip").and_then(|node| self.bool(node)).unwrap_or_default();
        keys.finish();
        if let (Some(descriptors), false) = (&descriptors, proto.is_empty()) {
            let message = "`proto` and `descriptors` exclude each other";
            return self.fail("option_conflict", descriptors.place, message, "keep one of the two");
        }
        if let Some((true, place)) = reflection
            && (descriptors.is_some() || !proto.is_empty())
        {
            let message = "`reflection` asks the server for what `proto` or `descriptors` describe";
            return self.fail("option_conflict", place, message, "keep one of them");
        }
        let reflection = reflection.is_some_and(|(reflection, _)| reflection);
        let paths = paths.into_iter().map(|path| path.value).collect();
        Some(Grpc { proto, paths, descriptors, reflection, gzip })
    }

    /// Reads a step with `grpc.call` as its verb.
    pub(super) fn grpc_call(&mut self, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        let method = self.method_name(verb);
        let headers = keys.take("headers").map(|node| self.headers(node)).unwrap_or_default();
        let body = keys.take("json").and_then(|node| self.value(node)).map(Body::Json);
        let request = self.common(method.map(RequestHead::Grpc), keys);
        Some(Request { headers, body, ..request? })
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
        self.fail("bad_name", method.place, message, "service and method: shop.Orders/Place")
    }
}
