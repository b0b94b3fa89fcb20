//! WebSocket: its settings and its steps.

use wavetank_grammar::key;

use super::CustomKind::{Auth, Check, Template, Value};
use super::message::{CHECK, COUNT, EXTRACT, MESSAGES, NAME, ON_FAILURE, TIMEOUT, TO};
use super::{Kind, Section, StepForm};

/// `ws:`.
pub(crate) static WEBSOCKET: Section = Section {
    name: "ws",
    title: "WebSocket",
    about: "Settings of connections to targets with ws:// or wss://; see docs/websocket.md.",
    keys: &[
        key("subprotocol", Kind::Text, "Subprotocols offered, separated by commas."),
        key("deflate", Kind::Bool, "Offer compression (permessage-deflate); default false."),
        key("ping", Kind::Duration, "Ping each WebSocket at this interval; round trips are p99(ping)."),
    ],
    verbs: &[],
};

/// `ws.connect`.
pub(crate) static CONNECT: StepForm = StepForm {
    title: "Opening a WebSocket",
    name: "ws.connect",
    about: "Upgrades a connection as a step of its own. Without such a step a connection is upgraded when it is \
        opened, with the path of the target's URL.",
    verbs: &[key("ws.connect", Kind::Own(Template), "The path.")],
    keys: &[
        NAME,
        TO,
        key("query", Kind::Map(&Kind::Own(Value)), "Query parameters, encoded; a list repeats the name."),
        key("headers", Kind::Map(&Kind::Own(Template)), "Sent with the upgrade."),
        key("auth", Kind::Own(Auth), "basic USER:PASSWORD, bearer TOKEN, none."),
        TIMEOUT,
        EXTRACT,
        CHECK,
        COUNT,
        ON_FAILURE,
    ],
};

/// `ws.send`.
pub(crate) static SEND: StepForm = StepForm {
    title: "Sending a message",
    name: "ws.send",
    about: "Sends a WebSocket message. Without reply it is done once the kernel has it, and its time is not \
        part of the response time.",
    verbs: &[key("ws.send", Kind::Own(Value), "The message: text, or a map or list, sent as JSON.")],
    keys: &[
        NAME,
        TO,
        key("binary", Kind::Bool, "Send bytes instead of text; default false."),
        key("reply", Kind::Own(Check), "The answer: any, or a condition. Other messages are ignored."),
        MESSAGES,
        TIMEOUT,
        EXTRACT,
        CHECK,
        COUNT,
        ON_FAILURE,
    ],
};

/// `ws.close`.
pub(crate) static CLOSE: StepForm = StepForm {
    title: "Closing a WebSocket",
    name: "ws.close",
    about: "Sends a Close frame and waits for that of the server.",
    verbs: &[key("ws.close", Kind::Count, "The code: 1000, or 3000 to 4999.")],
    keys: &[NAME, TO, TIMEOUT, EXTRACT, CHECK, COUNT, ON_FAILURE],
};
