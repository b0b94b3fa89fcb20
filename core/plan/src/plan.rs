//! [`Plan`]: the experiment resolved, every number fixed.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use wavetank_units::{Nanos, Rate};

use crate::constants::{CONNECT_TIMEOUT, TIMEOUT};
use crate::{
    Condition, DnsRefreshPlan, HooksPlan, MessageAction, Phase, PlannedEvent, ProxyPlan, ProxyProtocol,
    Scenario, SharedPlan, SourcesPlan, StatusSet, Step, TargetSelection, TargetUrl, TlsPlan, UrlProtocol,
    WebSocketPlan,
};

/// The experiment resolved. Numbers are totals of the whole run, never per thread or host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the run; part of the archive's folder name.
    pub name: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// Where requests go; steps refer to them by index.
    pub targets: Vec<Target>,
    /// The HTTP settings.
    pub http: HttpPlan,
    /// The TLS settings; `None` if no target uses TLS.
    pub tls: Option<TlsPlan>,
    /// Source addresses to bind.
    pub sources: SourcesPlan,
    /// The journeys of virtual users. A plain URL run has one scenario of one step.
    pub scenarios: Vec<Scenario>,
    /// Data that all scenarios share.
    pub shared: SharedPlan,
    /// Steps that run once before and once after the load.
    pub around: HooksPlan,
    /// Stretches of load, in order of their start. Warm-up, if any, ends at 0.
    pub phases: Vec<Phase>,
    /// Load threads.
    pub threads: u32,
    /// Which driver to use.
    pub engine: EngineChoice,
    /// Which file descriptor table each load thread fills.
    pub files: FileTables,
    /// Connections opened per second ahead of a phase.
    pub open_rate: Rate,
    /// Hard bound on everything after the last phase.
    pub drain: Nanos,
    /// Lag above which a request is late.
    pub late_tolerance: Nanos,
    /// Conditions that must be met.
    pub thresholds: Vec<Condition>,
    /// Conditions that stop the run.
    pub stop: Vec<Condition>,
    /// Hosts for which reaching a limit is a result; empty: everything behind the targets'
    /// addresses.
    pub under_test: Vec<String>,
    /// Events on hosts while the load runs.
    pub events: Vec<PlannedEvent>,
    /// The user's labels.
    pub tags: BTreeMap<String, String>,
}

impl Plan {
    /// Returns the names of all targets with TLS, in the targets' order.
    pub fn server_names(&self) -> Vec<String> {
        self.targets.iter().filter_map(|target| target.server_name.clone()).collect()
    }

    /// Returns for each target its index into [`server_names`](Self::server_names); `None`: no TLS.
    pub fn server_name_indices(&self) -> Vec<Option<u16>> {
        let mut next = 0;
        let mut name = |target: &Target| {
            target.server_name.is_some().then(|| {
                next += 1;
                next - 1
            })
        };
        self.targets.iter().map(&mut name).collect()
    }

    /// Returns the TLS settings for each of [`server_names`](Self::server_names).
    pub fn server_tls(&self) -> Vec<&TlsPlan> {
        let secure = self.targets.iter().filter(|target| target.server_name.is_some());
        secure.filter_map(|target| target.tls.as_deref().or(self.tls.as_ref())).collect()
    }

    /// The addresses that connections for `target` go to: the proxy's, or its own.
    pub fn connect_addresses<'a>(&'a self, target: &'a Target) -> &'a [SocketAddr] {
        self.http.proxy.as_ref().map_or(&target.addresses, |proxy| &proxy.addresses)
    }

    /// Returns the addresses that connections of all targets go to, each once, in order.
    pub fn connection_addresses(&self) -> Vec<SocketAddr> {
        let each = self.targets.iter().flat_map(|target| self.connect_addresses(target));
        let mut addresses: Vec<SocketAddr> = each.copied().collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }

    /// Returns the plan without the addresses `unreached`. A target or proxy that has no other
    /// address keeps them.
    #[must_use]
    pub fn without_addresses(mut self, unreached: &[SocketAddr]) -> Self {
        let proxy = self.http.proxy.iter_mut().map(|proxy| &mut proxy.addresses);
        // Behind a proxy, a target's addresses are only there for the guard.
        let direct = proxy.len() == 0;
        let targets = self.targets.iter_mut().map(|target| &mut target.addresses).filter(|_| direct);
        for addresses in proxy.chain(targets) {
            if addresses.iter().any(|address| !unreached.contains(address)) {
                addresses.retain(|address| !unreached.contains(address));
            }
        }
        if let Some(dns) = &mut self.http.dns {
            dns.unreached.extend_from_slice(unreached);
        }
        self
    }

    /// Returns the text before the path in the request lines of `target`, e.g.
    /// `http://10.0.0.5:8080`. It is used with a proxy that is not asked for a tunnel (RFC 9112
    /// §3.2.2). `None`: the path alone.
    pub fn origin_at_proxy(&self, target: &Target) -> Option<String> {
        self.http.proxy.as_ref().filter(|_| !Self::needs_tunnel(target))?;
        let scheme_end = target.url.find("://").map_or(0, |at| at + 3);
        let path = target.url[scheme_end..].find(['/', '?', '#']);
        Some(target.url[..path.map_or(target.url.len(), |at| scheme_end + at)].to_owned())
    }

    /// Returns the host and port to which a proxy must open a tunnel for `target`, e.g.
    /// `shop.example:443`. `None`: no tunnel is needed.
    pub fn tunnel_to(&self, target: &Target) -> Option<String> {
        self.http.proxy.as_ref().filter(|_| Self::needs_tunnel(target))?;
        TargetUrl::parse(&target.url).ok().map(|url| url.authority())
    }

    /// Whether connections to a target go through a proxy as they are (RFC 6455 §4.1 for
    /// WebSocket; a proxy may collect the events of a stream).
    fn needs_tunnel(target: &Target) -> bool {
        target.server_name.is_some() || target.protocol().has_messages()
    }

    /// Whether a target carries messages, and the engine makes its connections ready for them,
    /// because no step does.
    pub fn upgrades_itself(&self, target: usize) -> bool {
        let is_connect = |step: &Step| {
            step.target == target
                && step.message.as_ref().is_some_and(|own| own.action == MessageAction::Connect)
        };
        let around = [&self.around.before, &self.around.after].into_iter().flatten();
        let mut scenarios = self.scenarios.iter().chain(around.map(|own| &**own));
        self.targets[target].protocol().has_messages()
            && !scenarios.any(|own| own.steps.iter().any(is_connect))
    }

    /// The number of users that share one connection of theirs.
    pub fn users_per_connection(&self) -> u32 {
        self.http.users_per_connection(self.targets.len())
    }

    /// Whether connections to a target carry messages.
    pub fn carries_messages(&self, target: usize) -> bool {
        let protocol = self.targets[target].protocol();
        protocol.has_messages() || (protocol == UrlProtocol::Grpc && self.has_open_calls())
    }

    /// Whether steps exchange messages in gRPC calls that stay open.
    fn has_open_calls(&self) -> bool {
        let around = [&self.around.before, &self.around.after].into_iter().flatten();
        let mut scenarios = self.scenarios.iter().chain(around.map(|own| &**own));
        scenarios.any(|own| own.steps.iter().any(|step| step.grpc.is_some() && step.message.is_some()))
    }

    /// Whether WebSockets, event streams and gRPC calls are streams of HTTP/2 that take the place
    /// of connections (RFC 8441).
    pub fn uses_tunnels(&self) -> bool {
        self.http.version == HttpVersion::Http2
            && (0..self.targets.len()).any(|target| self.carries_messages(target))
    }

    /// When the last phase ends by time; `None` if only a number of requests ends it.
    pub fn load_end(&self) -> Option<Nanos> {
        self.phases.iter().map(Phase::end).reduce(|last, end| Some(last?.max(end?))).flatten()
    }
}

/// One place requests go to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Name in reports; the URL's host and port for a plain run.
    pub name: String,
    /// The URL as given, without secrets.
    pub url: String,
    /// Value of the Host header.
    pub host: String,
    /// The name in the TLS handshake, for which the certificate must be valid; `None`: no TLS.
    pub server_name: Option<String>,
    /// Resolved addresses, used in turn; never empty.
    #[serde(with = "wavetank_units::portable_addresses")]
    pub addresses: Vec<SocketAddr>,
    /// The TLS settings of this target if they differ from [`Plan::tls`].
    pub tls: Option<Box<TlsPlan>>,
    /// Steps that name this target use one of several targets, of which it is the first. The others
    /// are identified only by their index.
    pub pick: Option<TargetSelection>,
}

impl Target {
    /// What connections carry.
    pub fn protocol(&self) -> UrlProtocol {
        TargetUrl::protocol_of(&self.url)
    }
}

/// The HTTP settings of all steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpPlan {
    /// Version of HTTP.
    pub version: HttpVersion,
    /// From *begun* to *complete*.
    pub timeout: Nanos,
    /// For the connection alone, inside `timeout`.
    pub connect_timeout: Nanos,
    /// Connections serve more than one request.
    pub keepalive: bool,
    /// Close a connection after this many answers.
    pub requests_per_connection: Option<u64>,
    /// How connections are closed by us.
    pub close: Close,
    /// Maximum number of open requests on one connection: pipelined, or streams of HTTP/2.
    pub pipeline: u32,
    /// Statuses that make an answer *done*.
    pub expect: StatusSet,
    /// Users keep the cookies that answers set.
    pub cookies: bool,
    /// Bytes of an answer's body at most; a longer one fails its request. `None`: any.
    pub body_max: Option<u64>,
    /// The proxy of all connections.
    pub proxy: Option<ProxyPlan>,
    /// The header at the start of each connection.
    pub proxy_protocol: Option<ProxyProtocol>,
    /// How names are looked up again; `None`: they are not.
    pub dns: Option<DnsRefreshPlan>,
    /// The time between two pings of a connection of HTTP/2 or `WebSocket`; `None`: there are none.
    pub ping: Option<Nanos>,
    /// How connections become WebSockets or event streams.
    pub websocket: WebSocketPlan,
}

impl HttpPlan {
    /// The number of users that share one connection of theirs. With several targets, users may
    /// need different ones at a time, so each has its own.
    pub fn users_per_connection(&self, targets: usize) -> u32 {
        if targets > 1 { 1 } else { self.pipeline }
    }
}

impl Default for HttpPlan {
    /// The settings of a run that chooses none.
    fn default() -> Self {
        Self {
            version: HttpVersion::Http11,
            timeout: TIMEOUT,
            connect_timeout: CONNECT_TIMEOUT,
            keepalive: true,
            requests_per_connection: None,
            close: Close::Fin,
            pipeline: 1,
            expect: StatusSet::default_expected(),
            cookies: false,
            body_max: None,
            proxy: None,
            proxy_protocol: None,
            dns: None,
            ping: None,
            websocket: WebSocketPlan::default(),
        }
    }
}

/// Version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HttpVersion {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2: by ALPN with TLS, by prior knowledge without (RFC 9113 §3).
    Http2,
    /// HTTP/3, over QUIC.
    Http3,
}

impl HttpVersion {
    /// Whether a connection carries several requests in streams.
    pub const fn has_streams(self) -> bool {
        matches!(self, Self::Http2 | Self::Http3)
    }
}

/// How we close a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Close {
    /// Orderly: FIN, then `TIME_WAIT` on the side that closed first.
    Fin,
    /// Abortive: RST, no `TIME_WAIT`.
    Rst,
}

/// Which driver runs the sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EngineChoice {
    /// The best one this host allows.
    Auto,
    /// epoll.
    Epoll,
    /// io\_uring.
    Uring,
}

/// Which file descriptor table a load thread fills. One table may hold `RLIMIT_NOFILE` files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileTables {
    /// One for all threads of the process.
    #[default]
    Shared,
    /// Each thread has its own, by `unshare(CLONE_FILES)`.
    PerThread,
    /// Each thread has its own because it works as a process, where a container forbids the former.
    PerProcess,
}

/// The key under which a request is counted, fixed at its intended start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Index into [`Plan::phases`].
    pub phase: u16,
    /// Index into [`Plan::scenarios`].
    pub scenario: u16,
    /// Index into [`Scenario::steps`].
    pub step: u16,
}
