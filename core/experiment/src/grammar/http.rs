//! How HTTP is spoken: `http`, targets, TLS.

use super::CustomKind::{Auth, Statuses, Template, Url};
use super::{Kind, MapName, Section, key, required};

/// `http:`.
pub(crate) static HTTP: Section = Section {
    name: "http",
    title: "HTTP",
    about: "How HTTP is spoken. A step's own timeout, headers, auth and follow stand above these.",
    keys: &[
        key("version", Kind::Word(&["1.0", "1.1"]), "Version of the request line; default 1.1."),
        key("timeout", Kind::Duration, "From begun to complete, connecting included; default 60s."),
        key("connect_timeout", Kind::Duration, "For connecting alone, inside timeout; default 5s."),
        key("keepalive", Kind::Bool, "Connections serve more than one request; default true."),
        key("headers", Kind::Map(&Kind::Own(Template)), "Sent with every request."),
        key("auth", Kind::Own(Auth), "basic USER:PASSWORD, digest USER:PASSWORD, bearer TOKEN."),
        key(
            "cookies",
            Kind::Bool,
            "Each user keeps the cookies it is given (RFC 6265); default true, false where all send one request over and over.",
        ),
        key("follow", Kind::Count, "Redirects followed, to targets of the plan; default 0."),
        key("expect", Kind::Own(Statuses), "Statuses that make an answer done; default 200 to 399."),
        key(
            "proxy",
            Kind::Own(Url),
            "A forward proxy, http://[USER:${secret:PASSWORD}@]HOST:PORT; https goes through it by CONNECT.",
        ),
        key(
            "proxy_protocol",
            Kind::Word(&["v1", "v2"]),
            "Begin each connection with the PROXY protocol's header, as a balancer does.",
        ),
        key(
            "close",
            Kind::Word(&["fin", "rst"]),
            "How connections are closed; default fin, rst for hold phases.",
        ),
        key("pipeline", Kind::Count, "Requests under way on one connection; default 1."),
        key("requests_per_connection", Kind::Count, "Close a connection after this many answers."),
        key(
            "dns",
            Kind::Either(&[Kind::Word(&["once", "each_session"]), Kind::Duration]),
            "When names are resolved: once (default), each_session, or again after a time: see Names.",
        ),
        key("ip", Kind::Word(&["4", "6"]), "Only addresses of this family."),
        key(
            "connect_to",
            Kind::OneOrList(&Kind::Text),
            "HOST:PORT:OTHER:PORT, go elsewhere than the URL says.",
        ),
        key("body_max", Kind::Size, "Longer answers fail as body_limit, and their connection is closed."),
        key("tls", Kind::Is(MapName::Tls), "How TLS is spoken."),
    ],
    verbs: &[],
};

/// `tls:`.
pub(crate) static TLS: Section = Section {
    name: "tls",
    title: "TLS",
    about: "How TLS is spoken, for all targets or for one.",
    keys: &[
        key("verify", Kind::Bool, "Check the server's certificate; default true."),
        key("ca", Kind::File, "Certificates to trust instead of the host's own, in PEM."),
        key("cert", Kind::File, "Our own certificate chain, in PEM."),
        key("key", Kind::File, "The key of cert, in PEM."),
        key("sni", Kind::Text, "The name in the handshake; default: the URL's host."),
        key("resume", Kind::Word(&["never", "user", "shared"]), "Whether sessions of TLS are resumed."),
        key("version", Kind::Word(&["1.2", "1.3"]), "The one version spoken."),
        key("groups", Kind::OneOrList(&Kind::Text), "Groups for the key exchange, in order of preference."),
        key("ciphers", Kind::OneOrList(&Kind::Text), "Cipher suites, in order of preference."),
        key("alpn", Kind::OneOrList(&Kind::Text), "Protocols offered, in order of preference."),
    ],
    verbs: &[],
};

/// A target with more than a URL.
pub(crate) static TARGET: Section = Section {
    name: "a target",
    title: "Targets",
    about: "A place requests go to, of one or several URLs.",
    keys: &[
        required(
            "urls",
            Kind::OneOrList(&Kind::Either(&[Kind::Own(Url), Kind::Is(MapName::TargetUrl)])),
            "Its URLs.",
        ),
        key(
            "pick",
            Kind::Word(&["in_turn", "random", "weight", "dns"]),
            "Which URL a connection takes; default in_turn, weight if there are weights. dns: in turn, and of a name's addresses the first alone.",
        ),
        key("tls", Kind::Is(MapName::Tls), "How TLS is spoken with it."),
    ],
    verbs: &[],
};

/// One URL of a target with its weight.
pub(crate) static TARGET_URL: Section = Section {
    name: "a target's URL",
    title: "A target's URL",
    about: "One of a target's URLs with a weight.",
    keys: &[
        required("url", Kind::Own(Url), "The URL."),
        key("weight", Kind::Count, "Its part of the connections, relative to the others."),
    ],
    verbs: &[],
};
