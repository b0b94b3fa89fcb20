//! Server-sent events: the steps of event streams.

use wavetank_grammar::key;

use super::CustomKind::{Auth, Template, Value};
use super::message::{CHECK, COUNT, EXTRACT, NAME, ON_FAILURE, TIMEOUT, TO};
use super::{Kind, StepForm};

/// `sse.open`.
pub(crate) static OPEN: StepForm = StepForm {
    title: "Opening an event stream",
    name: "sse.open",
    about: "Requests an event stream as a step of its own. Without such a step a stream is opened with its \
        connection, with the path of the target's URL.",
    verbs: &[key("sse.open", Kind::Own(Template), "The path.")],
    keys: &[
        NAME,
        TO,
        key("query", Kind::Map(&Kind::Own(Value)), "Query parameters, encoded; a list repeats the name."),
        key("headers", Kind::Map(&Kind::Own(Template)), "Sent with the request."),
        key("auth", Kind::Own(Auth), "basic USER:PASSWORD, bearer TOKEN, none."),
        TIMEOUT,
        EXTRACT,
        CHECK,
        COUNT,
        ON_FAILURE,
    ],
};

/// `sse.close`.
pub(crate) static CLOSE: StepForm = StepForm {
    title: "Closing an event stream",
    name: "sse.close",
    about: "Closes the connection of the stream and forgets its last event id.",
    verbs: &[key("sse.close", Kind::Bool, "true")],
    keys: &[NAME, TO, TIMEOUT, EXTRACT, CHECK, COUNT, ON_FAILURE],
};
