//! Steps: every form with its verbs and keys.

use super::CustomKind::{Auth, Check, Part, Steps, Template, Think, Value};
use super::{Key, Kind, MapName, Section, StepForm, key, required};

/// Methods that are verbs of their own.
pub(crate) const METHODS: [&str; 7] = ["get", "head", "post", "put", "patch", "delete", "options"];

const REQUEST_KEYS: &[Key] = &[
    key("name", Kind::Text, "Its name in reports and conditions; default: method and path."),
    key("to", Kind::Name, "Another target, a name under targets."),
    key("query", Kind::Map(&Kind::Own(Value)), "Added to the path, encoded; a list repeats the name."),
    key("headers", Kind::Map(&Kind::Own(Template)), "Sent with this request."),
    key("json", Kind::Own(Value), "The body, as JSON."),
    key("form", Kind::Map(&Kind::Own(Value)), "The body, as a form's fields."),
    key(
        "multipart",
        Kind::Map(&Kind::Either(&[Kind::Own(Template), Kind::Is(MapName::MultipartFile)])),
        "The body, as multipart/form-data.",
    ),
    key("body", Kind::Own(Template), "The body, as text."),
    key("file", Kind::File, "The body, from a file."),
    key("auth", Kind::Own(Auth), "basic USER:PASSWORD, digest USER:PASSWORD, bearer TOKEN, none."),
    key("timeout", Kind::Duration, "Instead of http.timeout."),
    key("follow", Kind::Count, "Redirects followed, to targets of the plan; one elsewhere fails."),
    key(
        "resources",
        Kind::Bool,
        "Fetch what an HTML page embeds, in the same time: from the plan's targets, one after another, once a session.",
    ),
    key(
        "extract",
        Kind::Map(&Kind::Own(Part)),
        "Variables taken from the answer; nothing found fails the request.",
    ),
    key(
        "check",
        Kind::OneOrList(&Kind::Either(&[Kind::Own(Check), Kind::Map(&Kind::Own(Check))])),
        "What the answer must be like; else the request fails (class check). NAME: CONDITION gives it a name.",
    ),
    key(
        "count",
        Kind::Map(&Kind::Own(Check)),
        "Counts answers that are like this: count(NAME), ${count.NAME}.",
    ),
    ON_FAILURE,
];

const ON_FAILURE: Key =
    key("on_failure", Kind::Word(&["continue", "end_session", "end_run"]), "What a failure leads to.");

const STEPS: Key = required("steps", Kind::Own(Steps), "The steps inside.");

/// A file in a multipart body.
pub(crate) static MULTIPART_FILE: Section = Section {
    name: "a part",
    title: "A file in multipart",
    about: "A part of a multipart body that comes from a file.",
    keys: &[
        required("file", Kind::File, "The file's name."),
        key("name", Kind::Own(Template), "The name it is sent under; default: the file's own."),
        key("type", Kind::Text, "Its content type; default application/octet-stream."),
    ],
    verbs: &[],
};

/// One way of `choose`.
pub(crate) static CHOICE: Section = Section {
    name: "a choice",
    title: "A choice",
    about: "One of the ways of choose.",
    keys: &[key("weight", Kind::Count, "How often it is chosen, relative to the others; default 1."), STEPS],
    verbs: &[],
};

/// All forms of a step.
pub(crate) static FORMS: &[StepForm] = &[
    StepForm {
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
    StepForm {
        title: "Bytes as they are",
        name: "raw",
        about: "A request written out; an HTTP answer is read.",
        verbs: &[key("raw", Kind::Own(Template), "What is sent, \\r\\n included.")],
        keys: &[
            key("name", Kind::Text, "Its name in reports and conditions."),
            key("to", Kind::Name, "Another target, a name under targets."),
            key("timeout", Kind::Duration, "Instead of http.timeout."),
            key("extract", Kind::Map(&Kind::Own(Part)), "Variables taken from the answer."),
            key(
                "check",
                Kind::OneOrList(&Kind::Either(&[Kind::Own(Check), Kind::Map(&Kind::Own(Check))])),
                "What the answer must be like.",
            ),
            key("count", Kind::Map(&Kind::Own(Check)), "Counts answers that are like this."),
            ON_FAILURE,
        ],
    },
    StepForm {
        title: "Think time",
        name: "think",
        about: "Wait as a person does.",
        verbs: &[key(
            "think",
            Kind::Own(Think),
            "2s · 1s to 3s · exponential 2s · normal 2s +- 500ms · lognormal 2s p95 8s",
        )],
        keys: &[],
    },
    StepForm {
        title: "A group",
        name: "group",
        about: "Steps timed as one.",
        verbs: &[key("group", Kind::Text, "Its name in reports.")],
        keys: &[STEPS],
    },
    StepForm {
        title: "Repeating",
        name: "repeat",
        about: "Steps several times.",
        verbs: &[key("repeat", Kind::Count, "How often.")],
        keys: &[STEPS],
    },
    StepForm {
        title: "While",
        name: "while",
        about: "Steps again and again while a condition holds.",
        verbs: &[key("while", Kind::Own(Check), "The condition, asked ahead of each turn.")],
        keys: &[key("at_most", Kind::Count, "Turns at most."), STEPS],
    },
    StepForm {
        title: "If",
        name: "if",
        about: "Steps if a condition holds, others if not.",
        verbs: &[key("if", Kind::Own(Check), "The condition, on a variable or on the answer before.")],
        keys: &[STEPS, key("else", Kind::Own(Steps), "The steps if it does not hold.")],
    },
    StepForm {
        title: "Each",
        name: "each",
        about: "Steps once for each item of a list.",
        verbs: &[key("each", Kind::Own(Value), "The list: ${LIST}.")],
        keys: &[key("as", Kind::Name, "The variable that holds the item."), STEPS],
    },
    StepForm {
        title: "Choosing",
        name: "choose",
        about: "One of several ways, by weight.",
        verbs: &[key("choose", Kind::List(&Kind::Is(MapName::Choice)), "The ways.")],
        keys: &[],
    },
    StepForm {
        title: "Using a block",
        name: "use",
        about: "The steps of a block.",
        verbs: &[key("use", Kind::Name, "A name under blocks.")],
        keys: &[],
    },
    StepForm {
        title: "Setting variables",
        name: "set",
        about: "Give variables a value, for the rest of the session.",
        verbs: &[key("set", Kind::Map(&Kind::Own(Value)), "Names and values.")],
        keys: &[],
    },
    StepForm {
        title: "Logging",
        name: "log",
        about: "Write a line; shown by try, kept of the first sessions of a run.",
        verbs: &[key("log", Kind::Own(Template), "The line.")],
        keys: &[],
    },
    StepForm {
        title: "Ending",
        name: "end",
        about: "End the session or the run.",
        verbs: &[key("end", Kind::Word(&["session", "run"]), "Which of the two.")],
        keys: &[],
    },
    StepForm {
        title: "A rendezvous",
        name: "rendezvous",
        about: "Wait for the others, then all go at once.",
        verbs: &[key("rendezvous", Kind::Name, "Its name: skew(NAME).")],
        keys: &[
            key("wait", Kind::Duration, "From the first to arrive; then those present go. Default 60s."),
            key(
                "of",
                Kind::Count,
                "How many are waited for; default: everybody of the phase but those who have left. Needed where \
                 sessions arrive.",
            ),
        ],
    },
];
