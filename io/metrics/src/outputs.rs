//! [`Outputs`]: all outputs of one run.

use std::fs::OpenOptions;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use wavetank_driver::{Clock, NetworkNamespace};
use wavetank_units::{Code, Nanos, UserError};

use crate::datagrams::{DatagramLines, DatagramSink, FileSink, ReplacedFile};
use crate::http_client::{Encode, HttpSink};
use crate::influx::encode_influx;
use crate::otlp::encode_otlp;
use crate::otlp_proto::encode_otlp_proto;
use crate::output_thread::{Loss, OutputThread, Sink};
use crate::remote_write::encode_remote_write;
use crate::scrape_server::ScrapeServer;
use crate::snapshot::Snapshot;
use crate::spec::{HttpReceiver, OutputSpec, UdpReceiver};
use crate::statsd::StatsdEncoder;

/// Time limit for the end of a run to send what is left, for all outputs together.
const FLUSH_MAX: Nanos = Nanos::from_secs(5);

/// Outputs that are ready before the run: addresses are known, ports and files are open. There are
/// no threads yet, so that this process can still move into a lab.
pub struct OpenOutputs {
    ready: Vec<(String, Ready)>,
    /// The network of this process before it moves into a lab.
    home: Option<NetworkNamespace>,
}

enum Ready {
    Endpoint(TcpListener),
    Sink(Box<dyn Sink>),
}

impl OpenOutputs {
    /// Opens all outputs. With `keeps_network`, sockets are made in the present network of this
    /// process, even if it moves into another one.
    ///
    /// # Errors
    /// An address that is in use, a name that cannot be resolved, a file that cannot be written.
    pub fn open(specs: &[OutputSpec], keeps_network: bool) -> Result<Self, UserError> {
        let ready = specs.iter().map(|spec| Ok((spec.label(), open(spec)?)));
        let ready = ready.collect::<Result<_, UserError>>()?;
        let home = if keeps_network { NetworkNamespace::current().ok() } else { None };
        Ok(Self { ready, home })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// If this host starts no more threads.
    pub fn start(self) -> Result<Outputs, UserError> {
        let mut outputs = Outputs { threads: Vec::new(), endpoints: Vec::new() };
        for (label, ready) in self.ready {
            match ready {
                Ready::Endpoint(listener) => outputs.endpoints.push(ScrapeServer::start(listener)?),
                Ready::Sink(sink) => {
                    outputs.threads.push(OutputThread::start(label, sink, self.home.clone())?);
                }
            }
        }
        Ok(outputs)
    }
}

/// All outputs of one run. No method but [`finish`](Self::finish) waits.
#[derive(Debug)]
pub struct Outputs {
    threads: Vec<OutputThread>,
    endpoints: Vec<ScrapeServer>,
}

impl Outputs {
    /// Passes a snapshot to every output.
    pub fn give(&mut self, snapshot: Snapshot) {
        let snapshot = Arc::new(snapshot);
        self.endpoints.iter().for_each(|endpoint| endpoint.give(&snapshot));
        self.threads.iter_mut().for_each(|thread| thread.give(&snapshot));
    }

    /// Each output with the number of intervals that it lost.
    pub fn lost(&self) -> Vec<(String, u64)> {
        self.threads.iter().map(|thread| (thread.label().to_owned(), thread.lost())).collect()
    }

    /// Outputs that lost their first interval since the last call, with the reason.
    pub fn new_problems(&mut self) -> Vec<(String, String)> {
        let problem =
            |thread: &mut OutputThread| Some((thread.label().to_owned(), thread.take_first_problem()?));
        self.threads.iter_mut().filter_map(problem).collect()
    }

    /// The run is over: waits a few seconds until all is sent, and for a last scrape, or not at all
    /// if it is `hurried`. Returns what was lost.
    pub fn finish(&mut self, hurried: bool) -> Vec<Loss> {
        let clock = Clock::starting_now();
        let limit = if hurried { Nanos::ZERO } else { FLUSH_MAX };
        let left = || Duration::from_nanos((limit - clock.now()).max(Nanos::ZERO).0.unsigned_abs());
        self.threads.iter_mut().for_each(OutputThread::close);
        self.endpoints.iter_mut().for_each(ScrapeServer::close);
        self.threads.iter().for_each(|thread| thread.wait(left()));
        self.endpoints.iter().for_each(|endpoint| endpoint.wait(left()));
        self.threads.iter().filter_map(OutputThread::loss).collect()
    }
}

fn open(spec: &OutputSpec) -> Result<Ready, UserError> {
    let sink: Box<dyn Sink> = match spec {
        OutputSpec::Prometheus { host, port } => return listen(spec, host, *port).map(Ready::Endpoint),
        OutputSpec::PrometheusWrite(receiver) => {
            let encode: Encode = encode_remote_write;
            let headers = [
                ("Content-Type", "application/x-protobuf"),
                ("Content-Encoding", "snappy"),
                ("X-Prometheus-Remote-Write-Version", "0.1.0"),
            ];
            http(spec, receiver, &headers, ("WAVETANK_PROMETHEUS_TOKEN", "Bearer"), encode)?
        }
        OutputSpec::Otlp(receiver) => {
            let encode: Encode = |snapshot| Ok(encode_otlp(snapshot).into_bytes());
            let headers = [("Content-Type", "application/json")];
            http(spec, receiver, &headers, ("WAVETANK_OTLP_TOKEN", "Bearer"), encode)?
        }
        OutputSpec::OtlpProto(receiver) => {
            let encode: Encode = |snapshot| Ok(encode_otlp_proto(snapshot));
            let headers = [("Content-Type", "application/x-protobuf")];
            http(spec, receiver, &headers, ("WAVETANK_OTLP_TOKEN", "Bearer"), encode)?
        }
        OutputSpec::Influx(receiver) => {
            let encode: Encode = |snapshot| Ok(encode_influx(snapshot).concat().into_bytes());
            let headers = [("Content-Type", "text/plain; charset=utf-8")];
            http(spec, receiver, &headers, ("WAVETANK_INFLUX_TOKEN", "Token"), encode)?
        }
        OutputSpec::InfluxUdp(receiver) => datagrams(spec, receiver, DatagramLines::Influx)?,
        OutputSpec::Statsd(receiver) => {
            datagrams(spec, receiver, DatagramLines::Statsd(StatsdEncoder::default()))?
        }
        OutputSpec::JsonFile(path) => Box::new(FileSink { writer: file(path)?, is_broken: false }),
        OutputSpec::JsonStdout => {
            Box::new(FileSink { writer: Box::new(std::io::stdout()), is_broken: false })
        }
    };
    Ok(Ready::Sink(sink))
}

fn resolved(spec: &OutputSpec, host: &str, port: u16) -> Result<Vec<SocketAddr>, UserError> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let unknown = |reason: String| {
        let message = format!("--metrics {}: cannot resolve `{host}`: {reason}", spec.label());
        UserError::usage(Code::MetricsName, message, "check the name, or use an address")
    };
    let addresses: Vec<_> =
        (host, port).to_socket_addrs().map_err(|error| unknown(error.to_string()))?.collect();
    if addresses.is_empty() { Err(unknown("it has no address".to_owned())) } else { Ok(addresses) }
}

fn listen(spec: &OutputSpec, host: &str, port: u16) -> Result<TcpListener, UserError> {
    let addresses = resolved(spec, host, port)?;
    TcpListener::bind(&addresses[..]).map_err(|error| {
        let message = format!("cannot listen for --metrics {}: {error}", spec.label());
        UserError::refused(Code::MetricsBind, message, "use another port, or an address of this host")
    })
}

fn datagrams(
    spec: &OutputSpec,
    UdpReceiver { host, port }: &UdpReceiver,
    lines: DatagramLines,
) -> Result<Box<dyn Sink>, UserError> {
    let to = resolved(spec, host, *port)?[0];
    let any: SocketAddr = if to.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
    let socket = UdpSocket::bind(any).and_then(|socket| {
        socket.connect(to)?;
        socket.set_write_timeout(Some(Duration::from_secs(1)))?;
        Ok(socket)
    });
    let socket = socket.map_err(|error| {
        let message = format!("cannot open a socket for --metrics {}: {error}", spec.label());
        UserError::refused(
            Code::MetricsBind,
            message,
            "check that this host has a route to it: ip route get ADDRESS",
        )
    })?;
    Ok(Box::new(DatagramSink { socket, lines }))
}

/// `token`: the environment variable with a token, and the scheme to send it with.
fn http(
    spec: &OutputSpec,
    receiver: &HttpReceiver,
    headers: &[(&'static str, &str)],
    token: (&str, &str),
    encode: Encode,
) -> Result<Box<dyn Sink>, UserError> {
    let host = receiver.url.host_str().unwrap_or_default();
    let addresses = resolved(spec, host, receiver.url.port_or_known_default().unwrap_or_default())?;
    let mut all: Vec<_> = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    if let Some((user, password)) = &receiver.credentials {
        let pair = format!("{}:{}", user.reveal(), password.reveal());
        all.push(("Authorization", format!("Basic {}", STANDARD.encode(pair))));
    } else if let Some(value) = std::env::var_os(token.0).filter(|value| !value.is_empty()) {
        let plain = value.to_str().filter(|value| value.bytes().all(|byte| byte.is_ascii_graphic()));
        let value = plain.ok_or_else(|| {
            let message = format!("{} has a character that a token cannot have", token.0);
            UserError::usage(
                Code::MetricsOutput,
                message,
                "use the token alone, without spaces or line feeds",
            )
        })?;
        all.push(("Authorization", format!("{} {value}", token.1)));
    }
    Ok(Box::new(HttpSink::new(receiver.url.clone(), addresses, all, encode)))
}

/// Opens a file that the first interval replaces.
fn file(path: &Path) -> Result<Box<dyn std::io::Write + Send>, UserError> {
    let opened = OpenOptions::new().create(true).write(true).truncate(false).open(path);
    let file = opened.map_err(|error| {
        let message = format!("cannot write `--metrics json={}`: {error}", path.display());
        UserError::usage(Code::MetricsFile, message, "use a file in a folder that exists and is writable")
    })?;
    Ok(Box::new(ReplacedFile::new(file)))
}
