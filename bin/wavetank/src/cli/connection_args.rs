//! [`ConnectionArgs`]: how connections are opened, used and closed.

use clap::Args;
use wavetank_experiment::has_template;
use wavetank_plan::{
    Close, ConnectTo, DnsPolicy, EngineChoice, HttpVersion, IpFamily, ProxyChoice, ProxyProtocol, ProxyUrl,
    RunOptions, SourcesPlan, parse_sources,
};
use wavetank_units::quantity::parse_count_positive;
use wavetank_units::{AllowTarget, Code, UserError};

use super::choice::Choice;
use super::errors::{Errors, with_flag};
use super::files::InputFiles;
use super::value_parsers::{CLOSES, ENGINES, parse_u32};

/// `--http`.
const VERSIONS: Choice<HttpVersion> = Choice::new(&[
    ("1.1", HttpVersion::Http11),
    ("1.0", HttpVersion::Http10),
    ("2", HttpVersion::Http2),
    ("3", HttpVersion::Http3),
])
.or(|text| match text {
    "2.0" | "h2" | "h2c" => Some(Ok(HttpVersion::Http2)),
    "3.0" | "h3" => Some(Ok(HttpVersion::Http3)),
    _ => None,
});

/// `--proxy-protocol`.
const PROXY_PROTOCOLS: Choice<ProxyProtocol> =
    Choice::new(&[("v1", ProxyProtocol::V1), ("v2", ProxyProtocol::V2)]).or(|text| match text {
        "1" => Some(Ok(ProxyProtocol::V1)),
        "2" => Some(Ok(ProxyProtocol::V2)),
        _ => None,
    });

/// `--ip`.
const FAMILIES: Choice<IpFamily> = Choice::new(&[("4", IpFamily::V4), ("6", IpFamily::V6)]);

/// How connections are opened, used and closed.
#[derive(Args, Debug)]
#[command(next_help_heading = "Connections and host")]
pub(super) struct ConnectionArgs {
    /// HTTP version; 2 uses ALPN with https and prior knowledge with http; 3 needs https [default:
    /// 1.1]
    #[arg(long, value_name = "1.0|1.1|2|3", value_parser = VERSIONS)]
    pub(super) http: Option<HttpVersion>,
    #[command(flatten)]
    pub(super) closing: ClosingArgs,
    /// Pipelined requests per connection: N connections carry N × P users [default: 1]
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = parse_u32)]
    pub(super) pipeline: Option<u32>,
    /// Requests in flight on one HTTP/2 or HTTP/3 connection: N connections carry N × S users
    /// [default: 1]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = parse_u32)]
    pub(super) streams: Option<u32>,
    /// Number of load threads [default: one per allowed CPU, at most one per connection]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_u32)]
    pub(super) threads: Option<u32>,
    /// Socket driver [default: auto, the best one available]
    #[arg(long, value_name = "auto|uring|epoll", value_parser = ENGINES)]
    pub(super) engine: Option<EngineChoice>,
    /// Source addresses: 10.0.8.0/28, 10.0.8.1-10.0.8.14, 127.0.0.1-20 (repeatable), or auto for
    /// all addresses of the interface [default: the kernel's choice]
    #[arg(long, value_name = "auto|CIDR|RANGE,…")]
    pub(super) source: Vec<String>,
    /// Connect to another address, keeping the Host header and TLS name: HOST:PORT, or
    /// FROM:PORT:HOST:PORT
    #[arg(long, value_name = "HOST:PORT", value_parser = ConnectTo::parse)]
    pub(super) connect_to: Option<ConnectTo>,
    /// Forward proxy for all connections (CONNECT for https), or @FILE with its URL; user and
    /// password are never stored in an archive
    #[arg(long, value_name = "[http://USER:PASSWORD@]HOST:PORT|@FILE", value_parser = ProxyArg::parse)]
    pub(super) proxy: Option<ProxyArg>,
    /// Send a PROXY protocol header at the start of each connection, as balancers do
    #[arg(long, value_parser = PROXY_PROTOCOLS)]
    pub(super) proxy_protocol: Option<ProxyProtocol>,
    /// When to resolve host names; connections use all addresses in turn; `each_session` resolves
    /// once a second [default: once, before the load]
    #[arg(long, value_name = "once|each_session|DURATION", value_parser = DnsPolicy::parse)]
    pub(super) dns: Option<DnsPolicy>,
    /// Use only addresses of this IP version [default: all]
    #[arg(long, value_parser = FAMILIES)]
    pub(super) ip: Option<IpFamily>,
    /// Allow a public target that you are permitted to load (repeatable)
    #[arg(long, value_name = "CIDR|NAME", value_parser = AllowTarget::parse)]
    pub(super) allow_target: Vec<AllowTarget>,
}

/// How connections are closed.
#[derive(Args, Debug)]
pub(super) struct ClosingArgs {
    /// Close each connection after one response
    #[arg(long)]
    pub(super) no_keepalive: bool,
    /// Close each connection after N responses
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count_positive)]
    requests_per_connection: Option<u64>,
    /// How connections are closed: `fin`, or `rst`, which leaves no port in TIME-WAIT [default:
    /// fin]
    #[arg(long, value_parser = CLOSES)]
    close: Option<Close>,
}

impl ClosingArgs {
    /// Returns these options, without the others of a run.
    pub(super) fn resolve(self) -> RunOptions {
        RunOptions {
            no_keepalive: self.no_keepalive,
            requests_per_connection: self.requests_per_connection,
            close: self.close,
            ..RunOptions::default()
        }
    }
}

/// `--proxy`.
#[derive(Clone, Debug)]
pub(super) enum ProxyArg {
    /// The URL.
    Url(ProxyUrl),
    /// A file that holds the URL.
    File(String),
}

impl ProxyArg {
    /// Parses the URL, or `@FILE`.
    pub(super) fn parse(text: &str) -> Result<Self, UserError> {
        if let Some(path) = text.strip_prefix('@') {
            return Ok(Self::File(path.to_owned()));
        }
        if has_template(text) {
            let hint = "--proxy @FILE with the URL in it, which is used as it is";
            return Err(UserError::usage(Code::TemplateNotFixed, "--proxy takes no templates", hint));
        }
        ProxyUrl::parse(text).map(Self::Url)
    }

    fn read(self) -> Result<ProxyChoice, UserError> {
        let url = match self {
            Self::Url(url) => url,
            Self::File(path) => {
                let text = InputFiles::default().text("--proxy", &path)?;
                with_flag("--proxy", ProxyUrl::parse(text.trim()))?
            }
        };
        Ok(ProxyChoice { url, addresses: Vec::new() })
    }
}

impl ConnectionArgs {
    /// Whether `--source` is `auto`: all addresses of the interface towards the target.
    pub(super) fn is_source_auto(&self) -> bool {
        self.source == ["auto"]
    }

    /// Puts these options into `options`.
    pub(super) fn resolve(self, options: RunOptions, errors: &mut Errors) -> RunOptions {
        let sources = if self.source.is_empty() || self.is_source_auto() {
            SourcesPlan::default()
        } else {
            let ranges = errors.keep(with_flag("--source", parse_sources(&self.source.join(","))));
            SourcesPlan { ranges, ..SourcesPlan::default() }
        };
        RunOptions {
            http: self.http,
            no_keepalive: self.closing.no_keepalive,
            requests_per_connection: self.closing.requests_per_connection,
            close: self.closing.close,
            pipeline: self.pipeline,
            streams: self.streams,
            threads: self.threads,
            engine: self.engine,
            sources,
            connect_to: self.connect_to.into_iter().collect(),
            proxy: errors.keep(self.proxy.map(ProxyArg::read).transpose()),
            proxy_protocol: self.proxy_protocol,
            dns: self.dns,
            ip: self.ip,
            allow_target: self.allow_target,
            ..options
        }
    }
}
