//! UDP: its steps.

use wavetank_grammar::{Entry, Node};
use wavetank_plan::{MessageAction, ReadExtent, UrlProtocol};
use wavetank_units::Code;

use super::message::empty;
use super::{Keys, Parser, TreeReader as _};
use crate::model::{Message, Request, RequestHead};

const MATCH: &str = "match: bytes OFFSET NUMBER, such as bytes 0 2";

impl Parser<'_> {
    /// Reads a step with `udp.send` as its verb.
    pub(super) fn udp_send(&mut self, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        let place = verb.value.place;
        let sent = self.sent_bytes(verb);
        let read = keys.take("read").map(|node| self.any(node));
        let matched = keys.take("match").map(|node| (node.place, self.matched(node)));
        let (text, body) = sent.map_or((None, None), |(text, body)| (Some(text), body));
        let request = self.common(text.map(RequestHead::Raw), keys)?;
        if let (None, Some((place, _))) = (&read, &matched) {
            let message = "match compares an answer, and nothing is read";
            return self.fail(Code::OptionConflict, *place, message, "read: any");
        }
        if read.is_none() && request.reads_answer() {
            let message = "nothing answers a datagram without read";
            return self.fail(Code::OptionConflict, place, message, "read: any");
        }
        let range = match matched {
            None => None,
            Some((_, matched)) => Some(matched?),
        };
        let read = match read {
            None => None,
            Some(read) => read.map(|()| Some(ReadExtent::Datagram(range)))?,
        };
        let message = Message { binary: true, read, ..Message::new(UrlProtocol::Udp, MessageAction::Send) };
        Some(Request { body, message: Some(message), ..request })
    }

    /// Reads a step with `udp.read` as its verb.
    pub(super) fn udp_read(&mut self, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        let any = self.any(&verb.value);
        let request = self.common(Some(RequestHead::Raw(empty(verb.value.place))), keys);
        any?;
        let message = Message::new(UrlProtocol::Udp, MessageAction::Wait);
        let read = Some(ReadExtent::Datagram(None));
        Some(Request { message: Some(Message { read, ..message }), ..request? })
    }

    /// Reads `any`: one datagram is the answer, however long it is.
    fn any(&mut self, node: &Node) -> Option<()> {
        match node.scalar().map(|scalar| scalar.text.trim()) {
            Some("any") => Some(()),
            given => {
                let given = given.map_or_else(|| node.what().to_owned(), |given| format!("`{given}`"));
                let message = format!("{given} is not an extent of UDP, where an answer is one datagram");
                self.fail(Code::BadExtent, node.place, message, "any")
            }
        }
    }

    /// Reads the bytes that an answer has in common with its request: their offset and number.
    fn matched(&mut self, node: &Node) -> Option<(u16, u16)> {
        let text = self.text(node, "bytes OFFSET NUMBER")?;
        let mut words = text.value.split_whitespace();
        let is_bytes = words.next() == Some("bytes");
        let numbers: Vec<Option<u16>> = words.map(|word| word.parse().ok()).collect();
        match numbers[..] {
            [Some(offset), Some(number)] if is_bytes && number > 0 => Some((offset, number)),
            _ => {
                let message = format!("`{}` does not name bytes of a datagram", text.value);
                self.fail(Code::BadExtent, text.place, message, MATCH)
            }
        }
    }
}
