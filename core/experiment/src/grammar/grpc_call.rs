//! The steps of gRPC calls that stay open.

use wavetank_grammar::key;

use super::CustomKind::{Check, Template, Value};
use super::message::{CHECK, COUNT, EXTRACT, MESSAGES, NAME, ON_FAILURE, TIMEOUT, TO};
use super::{Kind, StepForm};

/// `grpc.open`.
pub(crate) static OPEN: StepForm = StepForm {
    title: "Opening a gRPC call",
    name: "grpc.open",
    about: "Starts a call that stays open for messages in both directions. It is done once the kernel has it, and \
        its time is not part of the response time: a server may answer with its first message.",
    verbs: &[key("grpc.open", Kind::Text, "Service and method: shop.Chat/Talk.")],
    keys: &[
        NAME,
        TO,
        key("headers", Kind::Map(&Kind::Own(Template)), "Metadata; NAME-bin takes base64."),
        TIMEOUT,
        ON_FAILURE,
    ],
};

/// `grpc.send`.
pub(crate) static SEND: StepForm = StepForm {
    title: "Sending a message in a gRPC call",
    name: "grpc.send",
    about: "Sends a message in the call of the last grpc.open above it. Without reply it is done once the \
        kernel has it, and its time is not part of the response time.",
    verbs: &[key("grpc.send", Kind::Own(Value), "The message, as JSON; {} has no fields.")],
    keys: &[
        NAME,
        TO,
        key("reply", Kind::Own(Check), "The answer: any, or a condition. Other messages are ignored."),
        MESSAGES,
        TIMEOUT,
        EXTRACT,
        CHECK,
        COUNT,
        ON_FAILURE,
    ],
};

/// `grpc.end`.
pub(crate) static END: StepForm = StepForm {
    title: "Ending a gRPC call",
    name: "grpc.end",
    about: "Ends our side of the call and waits for its status. Its answer is that of grpc.call, without the \
        messages that other steps have read.",
    verbs: &[key("grpc.end", Kind::Bool, "true")],
    keys: &[NAME, TO, TIMEOUT, EXTRACT, CHECK, COUNT, ON_FAILURE],
};
