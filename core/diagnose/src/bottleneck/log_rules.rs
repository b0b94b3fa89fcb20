//! What the lines of logs mean: the message and the hint of each kind.

use wavetank_measure::LogEvent;
use wavetank_units::{Sentence, phrase, sentence};

use crate::{Blame, FindingCode};

/// What a rule says of a kind of line.
pub(super) struct Rule {
    pub(super) events: &'static [LogEvent],
    pub(super) code: FindingCode,
    pub(super) covers: &'static [FindingCode],
    pub(super) message: fn(&str, &str) -> Sentence,
    pub(super) hint: Sentence,
    pub(super) blame: Option<Blame>,
}

/// How to mend a balancer that does not wait for responses.
pub(super) const RAISE_TIMEOUT: Sentence = phrase!(
    "set the timeout above the slowest response that is right (HAProxy: `timeout server`; nginx: \
     proxy_read_timeout), or make the server faster"
);

/// The rules, the most specific first.
pub(super) static RULES: [Rule; 19] = [
    Rule {
        events: &[LogEvent::NoPorts],
        code: FindingCode::HostNoPorts,
        covers: &[
            FindingCode::UpstreamClosed,
            FindingCode::UpstreamRefused,
            FindingCode::NoLiveUpstreams,
            FindingCode::PortsHalfUsed,
            FindingCode::SlowServer,
        ],
        message: |host, peer| sentence!("{host} has no local port left for connections to {peer}"),
        hint: phrase!(
            "reuse connections to the servers (nginx: `keepalive 64` in the upstream, `proxy_http_version 1.1` and \
               `proxy_set_header Connection \"\"`; HAProxy: `http-reuse safe`), or give it more ports \
               (sysctl -w net.ipv4.ip_local_port_range='1024 65535', and a file in /etc/sysctl.d to keep it after a \
               reboot), more source addresses or more servers"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::NoPortsToBind],
        code: FindingCode::BoundBeforeConnect,
        covers: &[
            FindingCode::HostNoPorts,
            FindingCode::UpstreamClosed,
            FindingCode::NoLiveUpstreams,
            FindingCode::PortsHalfUsed,
            FindingCode::SlowServer,
        ],
        message: |host, _| {
            sentence!(
                "{host} binds a source port before it connects: all its servers share one range of ports"
            )
        },
        hint: phrase!(
            "use a version that binds with IP_BIND_ADDRESS_NO_PORT (nginx 1.11.4 or later, Linux 4.2 or later), remove \
               `proxy_bind` or `source` where one address is enough, or give it more source addresses"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::NoFiles],
        code: FindingCode::HostNoFiles,
        covers: &[
            FindingCode::AcceptQueueFull,
            FindingCode::UpstreamClosed,
            FindingCode::AbandonedRequests,
            FindingCode::SlowServer,
        ],
        message: |host, _| sentence!("{host} has reached its limit of open files"),
        hint: phrase!(
            "raise LimitNOFILE= in the systemd unit (kept after a reboot) or worker_rlimit_nofile in nginx to at \
               least twice the connections of a worker; a balancer needs two files for each request"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::BrokenProxyHeader],
        code: FindingCode::ProxyHeaderMissing,
        covers: &[FindingCode::UpstreamClosed, FindingCode::UpstreamRefused, FindingCode::NoLiveUpstreams],
        message: |host, _| sentence!("{host} expects the PROXY protocol, and the balancer does not send it"),
        hint: phrase!(
            "send it (HAProxy: `send-proxy-v2` on the server line; nginx: `proxy_protocol on` in a stream), or remove \
               `proxy_protocol` from the server's listen"
        ),
        blame: Some(Blame::Balancer),
    },
    Rule {
        events: &[LogEvent::NoWorkerConnections],
        code: FindingCode::WorkerConnections,
        covers: &[FindingCode::AcceptQueueFull, FindingCode::UpstreamClosed, FindingCode::SlowServer],
        message: |host, _| sentence!("{host} uses all connections that an nginx worker may have"),
        hint: phrase!(
            "raise worker_connections to more than twice the clients of a worker, and worker_rlimit_nofile with it"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::ServerDown],
        code: FindingCode::HealthFlapping,
        covers: &[
            FindingCode::NoLiveUpstreams,
            FindingCode::BalancerQueue,
            FindingCode::UpstreamClosed,
            FindingCode::UpstreamRefused,
            FindingCode::SlowServer,
        ],
        message: |host, peer| sentence!("{host} took {peer} out of its pool and back again several times"),
        hint: phrase!(
            "its checks fail under load although it responds: a longer time for checks (HAProxy: `timeout check`, \
               `inter`), several failures before a server is taken out (`fall 3`), and several successes before it \
               returns (`rise 2`)"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::NoLiveUpstreams],
        code: FindingCode::NoLiveUpstreams,
        covers: &[
            FindingCode::UpstreamClosed,
            FindingCode::UpstreamRetried,
            FindingCode::BalancerTimeout,
            FindingCode::UpstreamRefused,
        ],
        message: |host, _| sentence!("{host} rejected requests because it had taken all its servers out"),
        hint: phrase!(
            "a few failures take a server out: raise `max_fails` or set it to 0, shorten `fail_timeout`, and set \
               proxy_read_timeout above the slowest response"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::RateLimited],
        code: FindingCode::RateLimited,
        covers: &[FindingCode::BalancerQueue],
        message: |host, _| sentence!("{host} rejected requests above its limit for each client"),
        hint: phrase!(
            "raise `rate` and `burst` of limit_req (or limit_conn), or send the load from more addresses (--source, \
               more load hosts) if real clients have one each"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::ConnectionsLimited],
        code: FindingCode::RateLimited,
        covers: &[FindingCode::BalancerQueue],
        message: |host, _| {
            sentence!("{host} rejected requests above its limit on connections of each client")
        },
        hint: phrase!(
            "raise the number in `limit_conn`, or send the load from more addresses (--source, more load hosts) if \
               real clients have one each"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::BodyTooLarge],
        code: FindingCode::BodyTooLarge,
        covers: &[],
        message: |host, _| sentence!("{host} rejected requests with bodies above its limit"),
        hint: phrase!(
            "raise client_max_body_size (1 MB unless it is set) above the largest body that is right"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamUnresolved],
        code: FindingCode::UpstreamUnresolved,
        covers: &[FindingCode::UpstreamClosed, FindingCode::NoLiveUpstreams],
        message: |host, _| sentence!("{host} could not resolve the names of its servers"),
        hint: phrase!(
            "check the address in `resolver` and that it answers (dig @ADDRESS NAME), or name the servers in an \
               `upstream`, which nginx resolves once at its start"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamTls, LogEvent::UpstreamRefused],
        code: FindingCode::UpstreamTls,
        covers: &[FindingCode::UpstreamClosed, FindingCode::UpstreamRefused],
        message: |host, peer| sentence!("{host} could not establish TLS with {peer}"),
        hint: phrase!(
            "its log has the reason: trust the authority of the server's certificate (nginx: \
               proxy_ssl_trusted_certificate; HAProxy: `ca-file`), ask for the name in it (proxy_ssl_name; `sni`, \
               `verifyhost`), or speak HTTP to a server without TLS"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::ResponseRejected],
        code: FindingCode::ResponseRejected,
        covers: &[FindingCode::UpstreamClosed],
        message: |host, peer| {
            sentence!(
                "{host} rejected responses of {peer}: their header is not valid, or larger than its buffer"
            )
        },
        hint: phrase!(
            "raise the buffer above the largest header (nginx: proxy_buffer_size, and proxy_buffers with it; HAProxy: \
               `tune.bufsize`), or send fewer and shorter cookies; nginx's log says if the header is not valid"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamRefused],
        code: FindingCode::UpstreamRefused,
        covers: &[FindingCode::UpstreamClosed, FindingCode::UpstreamRetried],
        message: |host, peer| sentence!("{peer} refused connections of {host}: no server listened there"),
        hint: phrase!(
            "start the server; let the balancer take it out and ask another (nginx: `max_fails=1` and \
               `proxy_next_upstream error timeout`; HAProxy: `check` and `option redispatch`)"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamUnreachable],
        code: FindingCode::UpstreamUnreachable,
        covers: &[
            FindingCode::UpstreamClosed,
            FindingCode::UpstreamRetried,
            FindingCode::BalancerTimeout,
            FindingCode::SlowServer,
            FindingCode::PacketLoss,
        ],
        message: |host, peer| sentence!("{peer} did not answer connections of {host}"),
        hint: phrase!(
            "check the server's address, its route back to the balancer, and firewalls between them (ping, ip route get, \
               nc -vz); let the balancer take it out (nginx: `max_fails=1` and a short proxy_connect_timeout; HAProxy: \
               `check`)"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamUnreachable],
        code: FindingCode::BalancerTimeout,
        covers: &[FindingCode::SlowServer, FindingCode::BalancerQueue],
        message: |host, peer| {
            sentence!("{host} gave up on connecting to {peer}: its timeout is shorter than that takes")
        },
        hint: phrase!(
            "look for lost packets and full accept queues of the server, and set the timeout above 3 s, so that a lost \
               packet can be sent again (HAProxy: `timeout connect`; nginx: proxy_connect_timeout)"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::QueueTimeout],
        code: FindingCode::BalancerQueue,
        covers: &[FindingCode::SlowServer, FindingCode::BalancerTimeout],
        message: |host, _| sentence!("requests waited in the queue of {host} until its timeout"),
        hint: phrase!(
            "raise `maxconn` of the servers if they can do more, add servers, or raise `timeout queue`"
        ),
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamTimeout],
        code: FindingCode::BalancerTimeout,
        covers: &[FindingCode::SlowServer, FindingCode::BalancerQueue],
        message: |host, peer| {
            sentence!("{host} gave up on responses of {peer}: its timeout is shorter than they take")
        },
        hint: RAISE_TIMEOUT,
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamClosed],
        code: FindingCode::UpstreamClosed,
        covers: &[],
        message: |host, peer| sentence!("{peer} closed connections under requests of {host}"),
        hint: phrase!(
            "let the balancer close idle connections first: its keepalive_timeout (nginx upstream, HAProxy \
               `timeout http-keep-alive` and `http-reuse`) below the server's idle timeout"
        ),
        blame: None,
    },
];
