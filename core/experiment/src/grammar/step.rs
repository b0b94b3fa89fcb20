//! Steps: every form with its verbs and keys.

use wavetank_grammar::{key, required};

use super::CustomKind::{Auth, Check, Part, Steps, Template, Think, Value};
use super::message::ON_FAILURE;
use super::step_form::StepForm;
use super::{Key, Kind, MapName, Section, grpc_call, message, sse, tcp, udp, websocket};

/// Methods that are verbs themselves.
pub(crate) const METHODS: [&str; 7] = ["get", "head", "post", "put", "patch", "delete", "options"];

const REQUEST_KEYS: &[Key] = &[
    key("name", Kind::Text, "Its name in reports and conditions; default: method and path."),
    key("to", Kind::Name, "Another target, a name under targets."),
    key("query", Kind::Map(&Kind::Own(Value)), "Query parameters, encoded; a list repeats the name."),
    key("headers", Kind::Map(&Kind::Own(Template)), "Sent with this request."),
    key("json", Kind::Own(Value), "The body, as JSON."),
    key("xml", Kind::Own(Template), "The body, as XML text; values are escaped."),
    key(
        "soap",
        Kind::Either(&[Kind::Own(Template), Kind::Is(MapName::SoapCall)]),
        "The action of a SOAP operation, for the envelope under xml.",
    ),
    key("form", Kind::Map(&Kind::Own(Value)), "The body, as form fields."),
    key(
        "multipart",
        Kind::Map(&Kind::Either(&[Kind::Own(Template), Kind::Is(MapName::MultipartFile)])),
        "The body, as multipart/form-data.",
    ),
    key("body", Kind::Own(Template), "The body, as text."),
    key("file", Kind::File, "The body, from a file."),
    key("auth", Kind::Own(Auth), "basic USER:PASSWORD, digest USER:PASSWORD, bearer TOKEN, none."),
    key("timeout", Kind::Duration, "Instead of http.timeout."),
    key(
        "follow",
        Kind::Count,
        "Redirects followed, to targets of the plan; a redirect to another host fails.",
    ),
    key(
        "resources",
        Kind::Bool,
        "Fetch resources embedded in an HTML page, within its response time: from the plan's \
         targets, one after another, once per session.",
    ),
    key(
        "extract",
        Kind::Map(&Kind::Own(Part)),
        "Variables extracted from the response; if nothing is found, the request fails.",
    ),
    key(
        "check",
        Kind::OneOrList(&Kind::Either(&[Kind::Own(Check), Kind::Map(&Kind::Own(Check))])),
        "Conditions on the response; otherwise the request fails (class check). NAME: CONDITION \
         gives a condition a name.",
    ),
    key(
        "count",
        Kind::Map(&Kind::Own(Check)),
        "Counts responses that meet the condition: count(NAME), ${count.NAME}.",
    ),
    ON_FAILURE,
];

const STEPS: Key = required("steps", Kind::Own(Steps), "The steps inside.");

/// A file in a multipart body.
pub(crate) static MULTIPART_FILE: Section = Section {
    name: "a part",
    title: "A file in multipart",
    about: "A part of a multipart body, read from a file.",
    keys: &[
        required("file", Kind::File, "The file's name."),
        key("name", Kind::Own(Template), "File name sent; default: the file's own name."),
        key("type", Kind::Text, "Its content type; default application/octet-stream."),
    ],
    verbs: &[],
};

/// The operation of a SOAP request.
pub(crate) static SOAP_CALL: Section = Section {
    name: "a SOAP call",
    title: "A SOAP call",
    about: "The operation of a SOAP request, and its version.",
    keys: &[
        required("action", Kind::Own(Template), "The URI of the operation; can be empty."),
        key(
            "version",
            Kind::Word(&["1.1", "1.2"]),
            "1.1: header SOAPAction, text/xml; 1.2: application/soap+xml with action. Default 1.1.",
        ),
    ],
    verbs: &[],
};

/// One alternative of `choose`.
pub(crate) static CHOICE: Section = Section {
    name: "a choice",
    title: "A choice",
    about: "One alternative of choose.",
    keys: &[key("weight", Kind::Count, "Its probability, relative to the others; default 1."), STEPS],
    verbs: &[],
};

/// All forms of a step.
pub(crate) static FORMS: &[&StepForm] = &[
    &StepForm {
        title: "A request",
        name: "request",
        about: "One HTTP request, timed and counted.",
        verbs: &[
            key("get", Kind::Own(Template), "GET a path or URL."),
            key("head", Kind::Own(Template), "HEAD a path or URL."),
            key("post", Kind::Own(Template), "POST to a path or URL."),
            key("put", Kind::Own(Template), "PUT to a path or URL."),
            key("patch", Kind::Own(Template), "PATCH a path or URL."),
            key("delete", Kind::Own(Template), "DELETE a path or URL."),
            key("options", Kind::Own(Template), "OPTIONS of a path or URL."),
            key("request", Kind::Own(Template), "Any other method: PROPFIND /dav/."),
        ],
        keys: REQUEST_KEYS,
    },
    &StepForm {
        title: "A gRPC call",
        name: "grpc",
        about: "One call of a method, timed and counted. Its response is checked as JSON.",
        verbs: &[key("grpc.call", Kind::Text, "Service and method: shop.Orders/Place.")],
        keys: &[
            key("name", Kind::Text, "Its name in reports and conditions; default: service and method."),
            key("to", Kind::Name, "Another target, a name under targets."),
            key("headers", Kind::Map(&Kind::Own(Template)), "Metadata; NAME-bin takes base64."),
            key(
                "json",
                Kind::Own(Value),
                "The message; for a stream, a list of messages. Default: a message without fields.",
            ),
            key("timeout", Kind::Duration, "Instead of http.timeout; also sent as the deadline."),
            key("extract", Kind::Map(&Kind::Own(Part)), "Variables extracted from the response."),
            key(
                "check",
                Kind::OneOrList(&Kind::Either(&[Kind::Own(Check), Kind::Map(&Kind::Own(Check))])),
                "Conditions on the response: status = OK, json $.id = 5.",
            ),
            key("count", Kind::Map(&Kind::Own(Check)), "Counts responses that meet the condition."),
            ON_FAILURE,
        ],
    },
    &StepForm {
        title: "Bytes as they are",
        name: "raw",
        about: "A literal request; an HTTP response is read.",
        verbs: &[key("raw", Kind::Own(Template), "The bytes to send, including \\r\\n.")],
        keys: &[
            key("name", Kind::Text, "Its name in reports and conditions."),
            key("to", Kind::Name, "Another target, a name under targets."),
            key("timeout", Kind::Duration, "Instead of http.timeout."),
            key("extract", Kind::Map(&Kind::Own(Part)), "Variables extracted from the response."),
            key(
                "check",
                Kind::OneOrList(&Kind::Either(&[Kind::Own(Check), Kind::Map(&Kind::Own(Check))])),
                "Conditions on the response.",
            ),
            key("count", Kind::Map(&Kind::Own(Check)), "Counts responses that meet the condition."),
            ON_FAILURE,
        ],
    },
    &message::WAIT,
    &grpc_call::OPEN,
    &grpc_call::SEND,
    &grpc_call::END,
    &websocket::CONNECT,
    &websocket::SEND,
    &websocket::CLOSE,
    &sse::OPEN,
    &sse::CLOSE,
    &tcp::CONNECT,
    &tcp::SEND,
    &tcp::READ,
    &tcp::CLOSE,
    &udp::SEND,
    &udp::READ,
    &StepForm {
        title: "Think time",
        name: "think",
        about: "Wait like a human user.",
        verbs: &[key(
            "think",
            Kind::Own(Think),
            "2s · 1s to 3s · exponential 2s · normal 2s +- 500ms · lognormal 2s p95 8s",
        )],
        keys: &[],
    },
    &StepForm {
        title: "A group",
        name: "group",
        about: "Steps timed as one unit.",
        verbs: &[key("group", Kind::Text, "Its name in reports.")],
        keys: &[STEPS],
    },
    &StepForm {
        title: "Repeating",
        name: "repeat",
        about: "Repeats steps.",
        verbs: &[key("repeat", Kind::Count, "Number of repetitions.")],
        keys: &[STEPS],
    },
    &StepForm {
        title: "While",
        name: "while",
        about: "Repeats steps while a condition is true.",
        verbs: &[key("while", Kind::Own(Check), "The condition, tested before each iteration.")],
        keys: &[key("at_most", Kind::Count, "Maximum number of iterations."), STEPS],
    },
    &StepForm {
        title: "If",
        name: "if",
        about: "Runs steps if a condition is true, others if not.",
        verbs: &[key("if", Kind::Own(Check), "The condition, on a variable or on the previous response.")],
        keys: &[STEPS, key("else", Kind::Own(Steps), "The steps if it is false.")],
    },
    &StepForm {
        title: "Each",
        name: "each",
        about: "Runs steps once for each item of a list.",
        verbs: &[key("each", Kind::Own(Value), "The list: ${LIST}.")],
        keys: &[key("as", Kind::Name, "The variable that holds the item."), STEPS],
    },
    &StepForm {
        title: "Choosing",
        name: "choose",
        about: "Chooses one of several alternatives, by weight.",
        verbs: &[key("choose", Kind::List(&Kind::Is(MapName::Choice)), "The alternatives.")],
        keys: &[],
    },
    &StepForm {
        title: "Using a block",
        name: "use",
        about: "Runs the steps of a block.",
        verbs: &[key("use", Kind::Name, "A name under blocks.")],
        keys: &[],
    },
    &StepForm {
        title: "Setting variables",
        name: "set",
        about: "Sets variables for the rest of the session.",
        verbs: &[key("set", Kind::Map(&Kind::Own(Value)), "Names and values.")],
        keys: &[],
    },
    &StepForm {
        title: "Logging",
        name: "log",
        about: "Writes a line; shown by try, stored for the first sessions of a run.",
        verbs: &[key("log", Kind::Own(Template), "The line.")],
        keys: &[],
    },
    &StepForm {
        title: "Ending",
        name: "end",
        about: "Ends the session or the run.",
        verbs: &[key("end", Kind::Word(&["session", "run"]), "What to end.")],
        keys: &[],
    },
    &StepForm {
        title: "A rendezvous",
        name: "rendezvous",
        about: "Waits for the other users, then all continue simultaneously.",
        verbs: &[key("rendezvous", Kind::Name, "Its name, for skew(NAME).")],
        keys: &[
            key(
                "wait",
                Kind::Duration,
                "Maximum wait from the first arrival; then the users present continue. Default 60s.",
            ),
            key(
                "of",
                Kind::Count,
                "Number of users to wait for; default: all users of the phase except those that \
                 have left. Required where sessions arrive.",
            ),
        ],
    },
];
