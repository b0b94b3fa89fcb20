//! HTTP settings: `http`, targets, TLS.

use wavetank_grammar::{key, required};

use super::CustomKind::{Auth, Statuses, Template, Url};
use super::{Kind, MapName, Section};

/// `http:`.
pub(crate) static HTTP: Section = Section {
    name: "http",
    title: "HTTP",
    about: "HTTP settings. A step's own timeout, headers, auth and follow take precedence.",
    keys: &[
        key(
            "version",
            Kind::Word(&["1.0", "1.1", "2", "3"]),
            "HTTP version; default 1.1. 2 uses ALPN with https, and prior knowledge with http. 3 needs https.",
        ),
        key(
            "timeout",
            Kind::Duration,
            "Request timeout, including connecting and the full response; default 60s.",
        ),
        key("connect_timeout", Kind::Duration, "Connect timeout, within timeout; default 5s."),
        key("keepalive", Kind::Bool, "Use a connection for more than one request; default true."),
        key("headers", Kind::Map(&Kind::Own(Template)), "Sent with every request."),
        key("auth", Kind::Own(Auth), "basic USER:PASSWORD, digest USER:PASSWORD, bearer TOKEN."),
        key(
            "cookies",
            Kind::Bool,
            "Each user stores the cookies it receives (RFC 6265); default true, but false if all \
             users repeat one request that has no follow, resources or digest.",
        ),
        key("follow", Kind::Count, "Redirects followed, to targets of the plan; default 0."),
        key("expect", Kind::Own(Statuses), "Statuses with which a request is done; default 200 to 399."),
        key(
            "proxy",
            Kind::Own(Url),
            "A forward proxy, http://[USER:${secret:PASSWORD}@]HOST:PORT; https uses CONNECT.",
        ),
        key(
            "proxy_protocol",
            Kind::Word(&["v1", "v2"]),
            "Start each connection with a PROXY protocol header, as a balancer does.",
        ),
        key(
            "close",
            Kind::Word(&["fin", "rst"]),
            "How connections are closed; default fin, rst for hold phases.",
        ),
        key("pipeline", Kind::Count, "Pipelined requests on one connection; default 1."),
        key("streams", Kind::Count, "Requests in flight on one HTTP/2 or HTTP/3 connection; default 1."),
        key(
            "requests_per_connection",
            Kind::Count,
            "Close a connection after this many responses. Default: unlimited.",
        ),
        key(
            "dns",
            Kind::Either(&[Kind::Word(&["once", "each_session"]), Kind::Duration]),
            "When host names are resolved: once (default), each_session, or again after a duration; \
             see Names.",
        ),
        key("ip", Kind::Word(&["4", "6"]), "Only addresses of this family."),
        key(
            "connect_to",
            Kind::OneOrList(&Kind::Text),
            "HOST:PORT:OTHER:PORT, connect to OTHER:PORT instead of the URL's host.",
        ),
        key(
            "ping",
            Kind::Duration,
            "Ping each HTTP/2 connection at this interval; round trips are p99(ping).",
        ),
        key("body_max", Kind::Size, "Longer responses fail as body_limit, and their connection is closed."),
        key("tls", Kind::Is(MapName::Tls), "TLS settings."),
    ],
    verbs: &[],
};

/// `tls:`.
pub(crate) static TLS: Section = Section {
    name: "tls",
    title: "TLS",
    about: "TLS settings, for all targets or for one.",
    keys: &[
        key("verify", Kind::Bool, "Check the server's certificate; default true."),
        key("ca", Kind::File, "Certificates to trust instead of the host's own, in PEM."),
        key("cert", Kind::File, "The client's certificate chain, in PEM."),
        key("key", Kind::File, "The key of cert, in PEM."),
        key("sni", Kind::Text, "Server name in the handshake; default: the URL's host."),
        key(
            "resume",
            Kind::Word(&["never", "user", "shared"]),
            "TLS session resumption: never (default), per user, or shared by the users of a load thread.",
        ),
        key("version", Kind::Word(&["1.2", "1.3"]), "The only TLS version used."),
        key("groups", Kind::OneOrList(&Kind::Text), "Groups for the key exchange, in order of preference."),
        key("ciphers", Kind::OneOrList(&Kind::Text), "Cipher suites, in order of preference."),
        key("alpn", Kind::OneOrList(&Kind::Text), "ALPN protocols offered, in order of preference."),
    ],
    verbs: &[],
};

/// A target with one or several URLs.
pub(crate) static TARGET: Section = Section {
    name: "a target",
    title: "Targets",
    about: "A target with one or several URLs.",
    keys: &[
        required(
            "urls",
            Kind::OneOrList(&Kind::Either(&[Kind::Own(Url), Kind::Is(MapName::TargetUrl)])),
            "Its URLs.",
        ),
        key(
            "pick",
            Kind::Word(&["in_turn", "random", "weight", "dns"]),
            "URL selection for each connection; default in_turn, or weight if there are weights. \
             dns: in turn, using only the first address of a name.",
        ),
        key("tls", Kind::Is(MapName::Tls), "Its TLS settings."),
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
        key("weight", Kind::Count, "Its share of the connections, relative to the others."),
    ],
    verbs: &[],
};
