//! Raw TCP: its steps.

use wavetank_grammar::key;

use super::CustomKind::Template;
use super::message::{CHECK, COUNT, EXTRACT, NAME, ON_FAILURE, TIMEOUT, TO};
use super::{Kind, MapName, Section, StepForm};

/// Bytes that are not text.
pub(crate) static BYTES: Section = Section {
    name: "bytes",
    title: "Bytes of TCP and UDP",
    about: "Bytes that are not text, for tcp.send and udp.send.",
    keys: &[
        key("hex", Kind::Text, "Hexadecimal digits: \"01 02 ff\"."),
        key("file", Kind::File, "The bytes of a file."),
    ],
    verbs: &[],
};

/// How much is read.
pub(crate) static EXTENT: Section = Section {
    name: "an extent",
    title: "An extent of TCP",
    about: "How much of what the server sends is the answer: one of these keys.",
    keys: &[
        key("until", Kind::Text, "Up to and including this text: \"\\r\\n\"."),
        key("until_hex", Kind::Text, "Up to and including these bytes, in hexadecimal digits."),
        key("length", Kind::Size, "This number of bytes: 64B."),
        key("prefix", Kind::Count, "A length in 1, 2, 4 or 8 bytes, the highest first, and what it counts."),
    ],
    verbs: &[],
};

const EXTENTS: Kind = Kind::Either(&[Kind::Word(&["any", "close"]), Kind::Is(MapName::TcpExtent)]);

/// `tcp.connect`.
pub(crate) static CONNECT: StepForm = StepForm {
    title: "Opening a TCP connection",
    name: "tcp.connect",
    about: "Opens a connection as a step of its own. Without such a step a connection is opened when it is needed.",
    verbs: &[key("tcp.connect", Kind::Bool, "true")],
    keys: &[NAME, TO, TIMEOUT, EXTRACT, CHECK, COUNT, ON_FAILURE],
};

/// `tcp.send`.
pub(crate) static SEND: StepForm = StepForm {
    title: "Sending bytes",
    name: "tcp.send",
    about: "Sends bytes. Without read it is done once the kernel has them, and its time is not part of the \
        response time.",
    verbs: &[key(
        "tcp.send",
        Kind::Either(&[Kind::Own(Template), Kind::Is(MapName::TcpBytes)]),
        "The text, with \\r\\n where the protocol has it, or bytes.",
    )],
    keys: &[
        NAME,
        TO,
        key(
            "read",
            EXTENTS,
            "The answer: any for what arrives, close for everything until the end, or an extent.",
        ),
        TIMEOUT,
        EXTRACT,
        CHECK,
        COUNT,
        ON_FAILURE,
    ],
};

/// `tcp.read`.
pub(crate) static READ: StepForm = StepForm {
    title: "Reading bytes",
    name: "tcp.read",
    about: "Sends nothing and reads what the server sends, from the first byte that no step has read.",
    verbs: &[key("tcp.read", EXTENTS, "any, close or an extent.")],
    keys: &[NAME, TO, TIMEOUT, EXTRACT, CHECK, COUNT, ON_FAILURE],
};

/// `tcp.close`.
pub(crate) static CLOSE: StepForm = StepForm {
    title: "Closing a TCP connection",
    name: "tcp.close",
    about: "Closes the connection.",
    verbs: &[key("tcp.close", Kind::Bool, "true")],
    keys: &[NAME, TO, TIMEOUT, EXTRACT, CHECK, COUNT, ON_FAILURE],
};
