//! [`RunWords`]: the words of `wavetank run`, grouped as its help shows them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::compare_words::BaselineWords;
use super::experiment_args::ExperimentArgs;
use super::tls_args::TlsArgs;

/// `wavetank run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Quantities have units: 30s 250ms 1m30s · 500/s 5k/s 7/min · 10k 1M · 1%  (m is minutes, M is million)
Conditions are SUBJECT OP VALUE [in PHASE] [for WINDOW]:
  p99 < 250ms · max(lag) < 5ms · failed < 0.1% · done_rate > 1k/s · errors(reset) = 0
Exit codes: 0 pass · 1 fail · 2 wrong usage · 3 invalid (the generator was in doubt) ·
  4 incomplete · 5 refused · 130 interrupted")]
pub(super) struct RunWords {
    /// Where to: http://host:port/path or https, host/path, host:port, :8080/path (this host); or an experiment file
    #[arg(value_name = "URL|FILE")]
    pub(super) goal: OsString,
    #[command(flatten)]
    pub(super) variation: ExperimentArgs,
    #[command(flatten)]
    pub(super) options: OverrideArgs,
    #[command(flatten)]
    pub(super) result: OutputArgs,
    #[command(flatten)]
    pub(super) baseline: BaselineWords,
}

/// What and how much: everything that takes the place of a file's own words, so that `check` and `plan` read the same.
#[derive(Args, Debug)]
pub(super) struct OverrideArgs {
    #[command(flatten)]
    pub(super) load: LoadArgs,
    #[command(flatten)]
    pub(super) request: RequestArgs,
    #[command(flatten)]
    pub(super) connection: ConnectionArgs,
    #[command(flatten)]
    pub(super) tls: TlsArgs,
    #[command(flatten)]
    pub(super) judge: ThresholdArgs,
    #[command(flatten)]
    pub(super) naming: NameArgs,
}

/// What a run is called.
#[derive(Args, Debug)]
#[command(next_help_heading = "Name")]
pub(super) struct NameArgs {
    /// Name of the run, part of its archive's name [default: host and port]
    #[arg(long, value_name = "WORD")]
    pub(super) name: Option<String>,
    /// A label kept with the run (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) tag: Vec<String>,
}

/// How much, for how long.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub(super) struct LoadArgs {
    /// Connections with one user on each; with -r the most connections of the pool [default: 50]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    pub(super) connections: Option<String>,
    /// Arrivals on a schedule, whatever the target does (open model), for the whole run: 500/s, 5k/s, 7/min
    #[arg(short, long, value_name = "RATE", allow_negative_numbers = true)]
    pub(super) rate: Option<String>,
    /// Length of the measured load [default: 10s, or none with -n]
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) duration: Option<String>,
    /// Requests offered at most; with -d, whichever comes first
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(super) requests: Option<String>,
    /// The same load ahead of the measured one, kept apart and judged by nothing
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) warmup: Option<String>,
    /// Spacing of arrivals with -r [default: even]
    #[arg(long, value_name = "even|poisson")]
    pub(super) arrivals: Option<String>,
    /// Seed of every random choice; one seed, one schedule [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) seed: Option<String>,
    /// Of a request, from its begin: covers connecting and the whole answer [default: 60s]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) timeout: Option<String>,
    /// Of a connection with its TLS handshake, inside --timeout [default: 5s]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) connect_timeout: Option<String>,
    /// How long to wait for open requests after the load; 0s cuts them [default: 30s, or --timeout if longer]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) drain: Option<String>,
    /// With -r: open requests over which arrivals are dropped [default: rate × timeout, less if this host must]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) max_open: Option<String>,
    /// Connections opened per second ahead of the load [default: 5k/s]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub(super) open_rate: Option<String>,
    /// Send one request, print it and the answer with all instants, and no load
    #[arg(long)]
    pub(super) once: bool,
    /// Send no request ahead of the load
    #[arg(long)]
    pub(super) no_probe: bool,
    /// With an experiment file: send one request ahead of the load, as a URL does anyway
    #[arg(long)]
    pub(super) probe: bool,
    #[command(flatten)]
    pub(super) asked: TargetCountArgs,
}

/// Whether the target is asked for its own count.
#[derive(Args, Debug)]
pub(super) struct TargetCountArgs {
    /// With an experiment file that holds connections: ask the target each second how many it has, as a wavetank serve
    /// tells; one on this host is asked anyway
    #[arg(long)]
    pub(super) truth: bool,
    /// Do not ask the target how many connections it has
    #[arg(long)]
    pub(super) no_truth: bool,
}

impl LoadArgs {
    /// The first option given that means something to a file alone.
    pub(super) fn first_file_only_flag(&self) -> Option<&'static str> {
        let all =
            [("--probe", self.probe), ("--truth", self.asked.truth), ("--no-truth", self.asked.no_truth)];
        all.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// What is sent, and which answer is right.
#[derive(Args, Debug)]
#[command(next_help_heading = "Request")]
pub(super) struct RequestArgs {
    /// Method [default: GET, or POST with a body]
    #[arg(short = 'X', long, value_name = "METHOD")]
    pub(super) method: Option<String>,
    /// A header, or @FILE with one on each line (repeatable)
    #[arg(short = 'H', long, value_name = "'NAME: VALUE'|@FILE", allow_hyphen_values = true)]
    pub(super) header: Vec<String>,
    /// The body as it is
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) body: Option<String>,
    /// The body from a file; - is stdin
    #[arg(long, value_name = "FILE|-", allow_hyphen_values = true)]
    pub(super) body_file: Option<PathBuf>,
    /// User and password of basic authentication, or @FILE with them; never written to any archive
    #[arg(long, value_name = "USER:PASSWORD|@FILE", allow_hyphen_values = true)]
    pub(super) basic: Option<String>,
    /// Statuses that count as done: 200,301 or 200 to 399 [default: 200 to 399]
    #[arg(long, value_name = "STATUS,…")]
    pub(super) expect_status: Option<String>,
}

/// How connections are made and used.
#[derive(Args, Debug)]
#[command(next_help_heading = "Connections and host")]
pub(super) struct ConnectionArgs {
    /// Version of HTTP [default: 1.1]
    #[arg(long, value_name = "1.0|1.1")]
    pub(super) http: Option<String>,
    /// Close each connection after one answer
    #[arg(long)]
    pub(super) no_keepalive: bool,
    /// Close each connection after N answers
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) requests_per_connection: Option<String>,
    /// How we close: orderly, or by reset, which leaves no port in TIME-WAIT [default: fin]
    #[arg(long, value_name = "fin|rst")]
    pub(super) close: Option<String>,
    /// Requests under way on one connection: N connections carry N × P users [default: 1]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub(super) pipeline: Option<String>,
    /// Load threads [default: one per allowed CPU, never more than connections]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) threads: Option<String>,
    /// Which driver runs the sockets [default: auto, the best this host allows]
    #[arg(long, value_name = "auto|uring|epoll")]
    pub(super) engine: Option<String>,
    /// Source addresses: 10.0.8.0/28, 10.0.8.1-10.0.8.14, 127.0.0.1-20 (repeatable), or auto: all of the interface's
    /// [default: the kernel's choice]
    #[arg(long, value_name = "auto|CIDR|RANGE,…")]
    pub(super) source: Vec<String>,
    /// Connect there instead; Host header and name in TLS stay: HOST:PORT, or FROM:PORT:HOST:PORT
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) connect_to: Option<String>,
    /// A forward proxy that all connections go through, by CONNECT to https; or @FILE with its URL; user and password are
    /// never written to any archive
    #[arg(long, value_name = "[http://USER:PASSWORD@]HOST:PORT|@FILE")]
    pub(super) proxy: Option<String>,
    /// Begin each connection with the PROXY protocol's header, as balancers do
    #[arg(long, value_name = "v1|v2")]
    pub(super) proxy_protocol: Option<String>,
    /// When names are resolved; connections take all addresses in turn; `each_session`: once a second
    /// [default: once, before the load]
    #[arg(long, value_name = "once|each_session|DURATION")]
    pub(super) dns: Option<String>,
    /// Only addresses of this version [default: all]
    #[arg(long, value_name = "4|6")]
    pub(super) ip: Option<String>,
    /// A target beside loopback and private addresses that is yours to load (repeatable)
    #[arg(long, value_name = "CIDR|NAME")]
    pub(super) allow_target: Vec<String>,
}

/// What must hold.
#[derive(Args, Debug)]
#[command(next_help_heading = "Verdict")]
pub(super) struct ThresholdArgs {
    /// What must hold, else FAIL: 'p99 < 250ms' (repeatable) [default: done > 0, failed < 1%]
    #[arg(long, value_name = "CONDITION")]
    pub(super) threshold: Vec<String>,
    /// What ends the run as FAIL: 'failed > 50% for 10s' (repeatable)
    #[arg(long, value_name = "CONDITION")]
    pub(super) stop: Vec<String>,
}

/// What is told and kept.
#[derive(Args, Debug)]
#[command(next_help_heading = "Result")]
pub(super) struct OutputArgs {
    /// Shape of the result on stdout: text, json, junit, html, markdown, csv, hgrm, hlog [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub(super) format: Option<String>,
    /// Write the result to a file too, in the format of its suffix: .txt .json .xml .junit .html .md .csv .hgrm .hlog
    /// (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(super) out: Vec<PathBuf>,
    /// html: its language, en or zh [default: en]
    #[arg(long, value_name = "LANG")]
    pub(super) lang: Option<String>,
    /// Where archives go [default: runs]
    #[arg(long, value_name = "DIR")]
    pub(super) runs_dir: Option<PathBuf>,
    /// Keep no archive of the run
    #[arg(long)]
    pub(super) no_archive: bool,
    /// No progress and no talk on stderr
    #[arg(long)]
    pub(super) quiet: bool,
}
