//! [`RunOptions`]: the arguments of `run URL`, parsed but not yet resolved.
//!
//! `None` and empty mean *not given*. Only `core/experiment` knows the defaults, so that it can
//! distinguish a default from an explicit option: defaults are printed, explicit options are kept.
//! This type does not use the command-line library, files or the environment. The caller that reads
//! those passes in the contents.

use std::collections::BTreeMap;

use wavetank_units::{AllowTarget, Code, Nanos, Rate, UserError};

use crate::{
    AddressFilter, Arrivals, Close, Condition, ConnectTo, DnsPolicy, EngineChoice, HttpVersion, IpFamily,
    ProxyChoice, ProxyProtocol, Secret, SettingNames, SourcesPlan, Stage, StatusSet, TargetUrl, TlsOptions,
};

/// The options of `run URL`. Every quantity is a total of the whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// `-c`: closed loop: connections with one user on each; open loop: size of the pool.
    pub connections: Option<u64>,
    /// `-r`: arrivals per time; makes the run an open one.
    pub rate: Option<Rate>,
    /// `-d`: length of the measured load.
    pub duration: Option<Nanos>,
    /// `-n`: requests offered at most.
    pub requests: Option<u64>,
    /// `--stage`: ramps, one after the other.
    pub stages: Vec<Stage>,
    /// `--warmup`: the same load for this long before the measured one.
    pub warmup: Option<Nanos>,
    /// `--arrivals`: spacing in the open loop.
    pub arrivals: Option<Arrivals>,
    /// `--seed`: of every random choice.
    pub seed: Option<u64>,
    /// `--timeout`: from *begun* to *complete*.
    pub timeout: Option<Nanos>,
    /// `--connect-timeout`: for the connection alone.
    pub connect_timeout: Option<Nanos>,
    /// `--drain`: hard limit for everything after the load; zero ends the run immediately.
    pub drain: Option<Nanos>,
    /// `--max-open`: open requests over which arrivals are dropped.
    pub max_open: Option<u64>,
    /// `--open-rate`: connections opened per time ahead of the load.
    pub open_rate: Option<Rate>,
    /// `-X`: the method, a token in upper case as given.
    pub method: Option<String>,
    /// `-H`: headers in order, names as given.
    pub headers: Vec<(String, Secret)>,
    /// A request without a User-Agent has none: `-H User-Agent:` of a curl command.
    pub no_user_agent: bool,
    /// `--body` or the contents of `--body-file`.
    pub body: Option<Vec<u8>>,
    /// `--basic`: `user:password`.
    pub basic: Option<Secret>,
    /// `--http`.
    pub http: Option<HttpVersion>,
    /// `--no-keepalive`: one request on each connection.
    pub no_keepalive: bool,
    /// `--requests-per-connection`.
    pub requests_per_connection: Option<u64>,
    /// `--close`.
    pub close: Option<Close>,
    /// `--pipeline`: open requests on one connection.
    pub pipeline: Option<u32>,
    /// `--streams`: open requests on one HTTP/2 connection.
    pub streams: Option<u32>,
    /// `--threads`.
    pub threads: Option<u32>,
    /// `--engine`.
    pub engine: Option<EngineChoice>,
    /// `--source`: the addresses as given, or those that `auto` selects.
    pub sources: SourcesPlan,
    /// `--connect-to`: go elsewhere than the URL's host and port say.
    pub connect_to: Vec<ConnectTo>,
    /// `--proxy`: what all connections go through.
    pub proxy: Option<ProxyChoice>,
    /// `--proxy-protocol`: the header at the start of each connection.
    pub proxy_protocol: Option<ProxyProtocol>,
    /// `--dns`.
    pub dns: Option<DnsPolicy>,
    /// `--ip`: only addresses of this family.
    pub ip: Option<IpFamily>,
    /// The options of TLS.
    pub tls: TlsOptions,
    /// `--expect-status`: statuses that make an answer *done*.
    pub expect_status: Option<StatusSet>,
    /// `--threshold`: what must hold.
    pub thresholds: Vec<Condition>,
    /// `--stop`: what ends the run.
    pub stop: Vec<Condition>,
    /// `--allow-target`: allowed targets in addition to loopback and private addresses.
    pub allow_target: Vec<AllowTarget>,
    /// `--probe`, `--no-probe`: whether one uncounted request is sent ahead of the load.
    pub probe: Option<bool>,
    /// `--truth`, `--no-truth`: whether the target is asked for its own connection count while
    /// connections are held.
    pub truth: Option<bool>,
    /// `--once`: one request, printed with all its instants, and no load.
    pub once: bool,
    /// `--name`: of the run.
    pub name: Option<String>,
    /// `--tag`: the user's labels.
    pub tags: BTreeMap<String, String>,
}

impl RunOptions {
    /// Returns the number of requests that one connection carries simultaneously.
    pub fn requests_in_flight(&self) -> u32 {
        self.streams.or(self.pipeline).unwrap_or(1)
    }

    /// Returns which addresses the options leave.
    pub fn address_filter(&self) -> AddressFilter<'_> {
        AddressFilter {
            ip: self.ip,
            sources: &self.sources,
            proxy_protocol: self.proxy_protocol.is_some(),
            names: SettingNames::Options,
        }
    }

    /// Returns the host and port to resolve and connect to: those of the URL, or those of
    /// `--connect-to`. Fails if that option is about another URL or given twice.
    pub fn connect_point(&self, url: &TargetUrl) -> Result<(String, u16), UserError> {
        match self.connect_to.as_slice() {
            [] => Ok((url.host.clone(), url.port)),
            [rule] => rule.apply(url).ok_or_else(|| {
                UserError::usage(
                    Code::Conflict,
                    format!("--connect-to is about another host or port than {}", url.authority()),
                    format!("--connect-to {}:HOST:PORT, or HOST:PORT alone", url.authority()),
                )
            }),
            _ => Err(UserError::usage(Code::Conflict, "--connect-to is given twice for one URL", "give one")),
        }
    }
}
