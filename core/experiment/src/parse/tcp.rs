//! Raw TCP: its steps.

use wavetank_grammar::{Entry, Node, NodeKind};
use wavetank_plan::{MessageAction, ReadExtent, UrlProtocol};
use wavetank_units::Code;

use super::message::empty;
use super::{Keys, Parser, TreeReader as _};
use crate::grammar::MapName;
use crate::model::{Body, Message, Request, RequestHead, Template};

const EXTENTS: &str = "any, close, {until: \"\\r\\n\"}, {length: 64B} or {prefix: 4}";

impl Parser<'_> {
    /// Reads a step of raw TCP; `form` is its verb.
    pub(super) fn tcp_step(&mut self, form: &str, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        match form {
            "tcp.connect" => self.bare_step(UrlProtocol::Tcp, MessageAction::Connect, verb, keys),
            "tcp.send" => self.tcp_send(verb, keys),
            "tcp.read" => {
                let read = self.read_extent(&verb.value);
                let request = self.common(Some(RequestHead::Raw(empty(verb.value.place))), keys);
                let message = Message::new(UrlProtocol::Tcp, MessageAction::Wait);
                Some(Request { message: Some(Message { read: Some(read?), ..message }), ..request? })
            }
            _ => self.bare_step(UrlProtocol::Tcp, MessageAction::Close, verb, keys),
        }
    }

    fn tcp_send(&mut self, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        let place = verb.value.place;
        let sent = self.sent_bytes(verb);
        let read = keys.take("read").map(|node| self.read_extent(node));
        let (text, body) = sent.map_or((None, None), |(text, body)| (Some(text), body));
        let request = self.common(text.map(RequestHead::Raw), keys)?;
        if read.is_none() && request.reads_answer() {
            let message = "nothing answers bytes without read";
            return self.fail(Code::OptionConflict, place, message, format!("read: {EXTENTS}"));
        }
        let read = match read {
            None => None,
            Some(read) => Some(read?),
        };
        let message = Message { binary: true, read, ..Message::new(UrlProtocol::Tcp, MessageAction::Send) };
        Some(Request { body, message: Some(message), ..request })
    }

    /// Reads what is sent: a text, or a map with bytes.
    pub(super) fn sent_bytes(&mut self, verb: &Entry) -> Option<(Template, Option<Body>)> {
        let (node, place) = (&verb.value, verb.value.place);
        let (text, body) = if matches!(node.kind, NodeKind::Map(_)) {
            let mut keys = Keys::open(self, node, MapName::TcpBytes)?;
            let hex = keys.take("hex").map(|node| self.hex(node).map(Body::Bytes));
            let file = keys.take("file").map(|node| self.text(node, "a file").map(Body::File));
            keys.finish();
            match (hex, file) {
                (Some(body), None) | (None, Some(body)) => (empty(place), Some(body?)),
                _ => {
                    let message = "bytes are hex or file, one of them";
                    let hint = format!("{}: {{hex: \"01 02\"}}", verb.key);
                    return self.fail(Code::OptionConflict, place, message, hint);
                }
            }
        } else {
            (self.template(node, "what is sent")?, None)
        };
        if text.parts.is_empty() && body.is_none() {
            let hint = format!("{}: \"PING\\r\\n\"", verb.key);
            return self.fail(Code::RawEmpty, place, "nothing would be sent", hint);
        }
        Some((text, body))
    }

    /// Reads bytes as pairs of hexadecimal digits; blanks between them have no meaning.
    fn hex(&mut self, node: &Node) -> Option<Vec<u8>> {
        let text = self.text(node, "hexadecimal digits")?;
        let digits: Vec<u8> = text.value.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let (pairs, rest) = digits.as_chunks::<2>();
        let byte = |pair: &[u8; 2]| {
            let pair =
                str::from_utf8(pair).ok().filter(|pair| pair.bytes().all(|b| b.is_ascii_hexdigit()))?;
            u8::from_str_radix(pair, 16).ok()
        };
        let bytes = pairs.iter().map(byte).collect::<Option<Vec<_>>>();
        if let Some(bytes) = bytes.filter(|bytes| rest.is_empty() && !bytes.is_empty()) {
            return Some(bytes);
        }
        let message = format!("`{}` is not a sequence of bytes", text.value);
        self.fail(Code::BadHex, text.place, message, "two hexadecimal digits for each byte: \"01 02 ff\"")
    }

    /// Reads how much is read.
    fn read_extent(&mut self, node: &Node) -> Option<ReadExtent> {
        if let Some(scalar) = node.scalar() {
            return match scalar.text.trim() {
                "any" => Some(ReadExtent::Any),
                "close" => Some(ReadExtent::Close),
                other => {
                    let message = format!("`{other}` is not an extent");
                    self.fail(Code::BadExtent, node.place, message, EXTENTS)
                }
            };
        }
        let mut keys = Keys::open(self, node, MapName::TcpExtent)?;
        let until =
            keys.take("until").map(|node| self.text(node, "a text").map(|text| text.value.into_bytes()));
        let until_hex = keys.take("until_hex").map(|node| self.hex(node));
        let length =
            keys.take("length").map(|node| self.size(node).map(|size| ReadExtent::Length(size.value)));
        let prefix = keys.take("prefix").map(|node| self.prefix(node).map(ReadExtent::Prefix));
        keys.finish();
        let until = [until, until_hex].into_iter().flatten().map(|bytes| bytes.map(ReadExtent::Until));
        let mut given: Vec<_> = until.chain(length).chain(prefix).collect();
        let is_empty = |extent: &ReadExtent| {
            matches!(extent, ReadExtent::Length(0))
                || matches!(extent, ReadExtent::Until(bytes) if bytes.is_empty())
        };
        match given.pop() {
            Some(extent) if given.is_empty() => {
                let extent = extent?;
                if is_empty(&extent) {
                    return self.fail(Code::BadExtent, node.place, "nothing would be read", EXTENTS);
                }
                Some(extent)
            }
            _ => self.fail(Code::BadExtent, node.place, "an extent has one key", EXTENTS),
        }
    }

    fn prefix(&mut self, node: &Node) -> Option<u8> {
        let count = self.count_positive(node)?;
        match count.value {
            bytes @ (1 | 2 | 4 | 8) => Some(bytes as u8),
            other => {
                let message = format!("a length in {other} bytes is not supported");
                self.fail(Code::BadExtent, node.place, message, "prefix: 1, 2, 4 or 8")
            }
        }
    }
}
