//! [`MessageYaml`] and [`WebSocketYaml`]: messages, in `plan.yaml`.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use wavetank_plan::redact::{REDACTED, is_secret_header};
use wavetank_plan::{
    Check, CheckSubject, MessageAction, MessagePlan, ReadExtent, Reply, Template, Test, WebSocketPlan,
};

use super::is_default;
use super::names::{name_of, one_of};
use super::text::PlanText;
use crate::DecodeError;

const ACTIONS: [(&str, MessageAction); 5] = [
    ("connect", MessageAction::Connect),
    ("open", MessageAction::Open),
    ("send", MessageAction::Send),
    ("wait", MessageAction::Wait),
    ("close", MessageAction::Close),
];
const ANY: &str = "any";
const CLOSE: &str = "close";
const DATAGRAM: &str = "datagram";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MessageYaml {
    action: String,
    #[serde(default, skip_serializing_if = "is_default")]
    binary: bool,
    /// `any`, or the condition; absent: no answer is awaited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    messages: Option<u32>,
    /// What is read of raw TCP: `any`, `close`, `until` and bytes in hexadecimal digits, `length`
    /// or `prefix` and a number. Of UDP it is `datagram`, with offset and number of the bytes that
    /// it has in common with the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    read: Option<String>,
}

impl MessageYaml {
    pub(super) fn new(message: &MessagePlan, words: PlanText<'_>) -> Self {
        let MessagePlan { action, binary, reply, count, read } = message;
        Self {
            action: name_of(*action, &ACTIONS).to_owned(),
            binary: *binary,
            reply: match reply {
                Reply::None => None,
                Reply::Any => Some(ANY.to_owned()),
                Reply::Matching(check) => Some(words.check(check)),
            },
            messages: (*count != 1).then_some(*count),
            read: read.as_ref().map(|read| match read {
                ReadExtent::Any => ANY.to_owned(),
                ReadExtent::Until(delimiter) => format!("until {}", hex_text(delimiter)),
                ReadExtent::Length(length) => format!("length {length}"),
                ReadExtent::Prefix(bytes) => format!("prefix {bytes}"),
                ReadExtent::Close => CLOSE.to_owned(),
                ReadExtent::Datagram(None) => DATAGRAM.to_owned(),
                ReadExtent::Datagram(Some((offset, length))) => format!("{DATAGRAM} {offset} {length}"),
            }),
        }
    }

    /// Reads it. No message is judged any more, so a condition only has its text.
    pub(super) fn read(&self) -> Result<MessagePlan, DecodeError> {
        let reply = match self.reply.as_deref() {
            None => Reply::None,
            Some(ANY) => Reply::Any,
            Some(text) => {
                let subject = CheckSubject::Value(Template::default());
                let test = Test::Contains(Vec::new());
                Reply::Matching(Box::new(Check { text: text.to_owned(), subject, test }))
            }
        };
        Ok(MessagePlan {
            action: one_of(&self.action, &ACTIONS)?,
            binary: self.binary,
            reply,
            count: self.messages.unwrap_or(1),
            read: self.read.as_deref().map(Self::read_extent),
        })
    }

    fn read_extent(text: &str) -> ReadExtent {
        let (word, argument) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            CLOSE => ReadExtent::Close,
            DATAGRAM => ReadExtent::Datagram(matched_range(argument)),
            "until" => ReadExtent::Until(hex_bytes(argument)),
            "length" => ReadExtent::Length(argument.parse().unwrap_or_default()),
            "prefix" => ReadExtent::Prefix(argument.parse().unwrap_or_default()),
            _ => ReadExtent::Any,
        }
    }
}

fn matched_range(text: &str) -> Option<(u16, u16)> {
    let (offset, length) = text.split_once(' ')?;
    Some((offset.parse().ok()?, length.parse().ok()?))
}

fn hex_text(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn hex_bytes(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().as_chunks::<2>().0.iter();
    pairs.filter_map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct WebSocketYaml {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subprotocol: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    deflate: bool,
    /// `Name: value`, secrets as `***`.
    #[serde(default, skip_serializing_if = "is_default")]
    headers: Vec<String>,
}

impl WebSocketYaml {
    pub(super) fn new(plan: &WebSocketPlan) -> Option<Self> {
        let WebSocketPlan { subprotocol, deflate, headers, secret_headers } = plan;
        let header = |(name, value): &(String, String)| {
            let is_secret =
                is_secret_header(name) || secret_headers.iter().any(|own| own.eq_ignore_ascii_case(name));
            format!("{name}: {}", if is_secret { REDACTED } else { value })
        };
        let headers = headers.iter().map(header).collect();
        let yaml = Self { subprotocol: subprotocol.clone(), deflate: *deflate, headers };
        (*plan != WebSocketPlan::default()).then_some(yaml)
    }

    pub(super) fn read(&self) -> WebSocketPlan {
        let headers: Vec<_> = self.headers.iter().filter_map(|line| line.split_once(": ")).collect();
        let secrets = headers.iter().filter(|(_, value)| *value == REDACTED);
        WebSocketPlan {
            subprotocol: self.subprotocol.clone(),
            deflate: self.deflate,
            secret_headers: secrets.map(|(name, _)| name.to_ascii_lowercase()).collect(),
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        }
    }
}
