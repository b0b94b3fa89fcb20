//! UDP: its steps.

use wavetank_grammar::key;

use super::CustomKind::Template;
use super::message::{CHECK, COUNT, EXTRACT, NAME, ON_FAILURE, TIMEOUT, TO};
use super::{Kind, MapName, StepForm};

const ANY: Kind = Kind::Word(&["any"]);

/// `udp.send`.
pub(crate) static SEND: StepForm = StepForm {
    title: "Sending a datagram",
    name: "udp.send",
    about: "Sends one datagram. Without read it is done once the kernel has it, and its time is not part of the \
        response time.",
    verbs: &[key(
        "udp.send",
        Kind::Either(&[Kind::Own(Template), Kind::Is(MapName::TcpBytes)]),
        "The text, or bytes; at most 65,507 bytes.",
    )],
    keys: &[
        NAME,
        TO,
        key("read", ANY, "any: the next datagram is the answer."),
        key(
            "match",
            Kind::Text,
            "bytes OFFSET NUMBER: the answer has the same bytes there; other datagrams are discarded.",
        ),
        TIMEOUT,
        EXTRACT,
        CHECK,
        COUNT,
        ON_FAILURE,
    ],
};

/// `udp.read`.
pub(crate) static READ: StepForm = StepForm {
    title: "Reading a datagram",
    name: "udp.read",
    about: "Sends nothing and reads one datagram, the first one that no step has read.",
    verbs: &[key("udp.read", ANY, "any.")],
    keys: &[NAME, TO, TIMEOUT, EXTRACT, CHECK, COUNT, ON_FAILURE],
};
