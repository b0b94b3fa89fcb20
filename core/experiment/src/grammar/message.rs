//! What the steps of all protocols with messages have in common.

use wavetank_grammar::key;

use super::CustomKind::{Check, Part};
use super::{Key, Kind, StepForm};

pub(super) const NAME: Key =
    key("name", Kind::Text, "Its name in reports and conditions; default: the verb.");
pub(super) const TO: Key = key("to", Kind::Name, "Another target, a name under targets.");
pub(super) const TIMEOUT: Key = key("timeout", Kind::Duration, "Instead of http.timeout.");
pub(super) const EXTRACT: Key =
    key("extract", Kind::Map(&Kind::Own(Part)), "Variables extracted from the answer.");
pub(super) const CHECK: Key = key(
    "check",
    Kind::OneOrList(&Kind::Either(&[Kind::Own(Check), Kind::Map(&Kind::Own(Check))])),
    "Conditions on the answer.",
);
pub(super) const COUNT: Key =
    key("count", Kind::Map(&Kind::Own(Check)), "Counts answers that meet the condition.");
pub(super) const MESSAGES: Key =
    key("messages", Kind::Count, "Number of messages to wait for; default 1. The last one is the answer.");
pub(super) const ON_FAILURE: Key =
    key("on_failure", Kind::Word(&["continue", "end_session", "end_run"]), "Reaction to a failure.");

/// `ws.wait`, `sse.wait` and `grpc.wait`.
pub(crate) static WAIT: StepForm = StepForm {
    title: "Waiting for a message or an event",
    name: "wait",
    about: "Waits for a message of the WebSocket, an event of the stream, or a message in the gRPC call. Up to 16 \
        that came before are kept for it. Others than the awaited one are ignored.",
    verbs: &[
        key("ws.wait", Kind::Own(Check), "The message: any, or a condition."),
        key("sse.wait", Kind::Own(Check), "The event: any, or a condition such as event = price."),
        key("grpc.wait", Kind::Own(Check), "The message: any, or a condition."),
    ],
    keys: &[NAME, TO, MESSAGES, TIMEOUT, EXTRACT, CHECK, COUNT, ON_FAILURE],
};
