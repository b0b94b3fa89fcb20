//! [`RunWords`]: arguments of `wavetank run`, grouped as its help shows them.

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
    /// Target URL or experiment file: http://host:port/path or https, host/path, host:port,
    /// :8080/path (this host). Path, query, -H, --body, --json and --form may contain templates:
    /// ${`uuid()`}, ${random(1,100)}
    #[arg(value_name = "URL|FILE", required_unless_present = "curl")]
    pub(super) goal: Option<OsString>,
    #[command(flatten)]
    pub(super) variation: ExperimentArgs,
    #[command(flatten)]
    pub(super) options: OverrideArgs,
    #[command(flatten)]
    pub(super) result: OutputArgs,
    #[command(flatten)]
    pub(super) baseline: BaselineWords,
}

/// Overrides for values of the experiment file, shared by `run`, `check` and `plan`.
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

/// Name and labels of a run.
#[derive(Args, Debug)]
#[command(next_help_heading = "Name")]
pub(super) struct NameArgs {
    /// Name of the run, part of its archive's name [default: host and port]
    #[arg(long, value_name = "WORD")]
    pub(super) name: Option<String>,
    /// Label stored with the run (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) tag: Vec<String>,
}

/// Amount and duration of the load.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub(super) struct LoadArgs {
    /// Number of connections, one user on each; with -r the maximum size of the pool [default: 50]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    pub(super) connections: Option<String>,
    /// Arrival rate of the open model, independent of the target's responses: 500/s, 5k/s, 7/min
    #[arg(short, long, value_name = "RATE", allow_negative_numbers = true)]
    pub(super) rate: Option<String>,
    /// Length of the measured load [default: 10s, or none with -n]
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) duration: Option<String>,
    /// Maximum number of requests; combined with -d, the first limit reached ends the run
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    pub(super) requests: Option<String>,
    /// Load stage: ramp to this rate or number of users in this time: '1m:100/s', '1m:50 users'
    /// (repeatable) [default: none, a constant load]
    #[arg(long, value_name = "DURATION:LOAD", allow_negative_numbers = true)]
    pub(super) stage: Vec<String>,
    /// Warm-up: the same load before the measured part, reported separately and not judged
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) warmup: Option<String>,
    /// Spacing of arrivals with -r [default: even]
    #[arg(long, value_name = "even|poisson")]
    pub(super) arrivals: Option<String>,
    /// Seed of every random choice; the same seed gives the same schedule [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) seed: Option<String>,
    /// Request timeout, including connect and the full response [default: 60s]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) timeout: Option<String>,
    /// Connect timeout, including the TLS handshake; part of --timeout [default: 5s]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) connect_timeout: Option<String>,
    /// How long to wait for open requests after the load ends; 0s aborts them [default: 30s, or
    /// --timeout if longer]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub(super) drain: Option<String>,
    /// With -r: maximum number of open requests; arrivals beyond it are dropped [default: rate ×
    /// timeout, limited by this host]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) max_open: Option<String>,
    /// Connections opened per second before the load starts [default: 5k/s]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub(super) open_rate: Option<String>,
    /// Send one request, print it, the response and all timings, then exit
    #[arg(long)]
    pub(super) once: bool,
    /// Send no probe request before the load
    #[arg(long)]
    pub(super) no_probe: bool,
    /// With an experiment file: send a probe request before the load, as for a URL
    #[arg(long)]
    pub(super) probe: bool,
    #[command(flatten)]
    pub(super) asked: TargetCountArgs,
}

/// Polling of the target's own counters.
#[derive(Args, Debug)]
pub(super) struct TargetCountArgs {
    /// With a file that holds connections: poll the target's connection count every second
    /// (`wavetank serve` reports it) [default: only a target on this host]
    #[arg(long, visible_alias = "target-counts")]
    pub(super) truth: bool,
    /// Do not poll the target's count
    #[arg(long, visible_alias = "no-target-counts")]
    pub(super) no_truth: bool,
}

impl LoadArgs {
    /// Returns the first given option that only applies to a file.
    pub(super) fn first_file_only_flag(&self) -> Option<&'static str> {
        let all =
            [("--probe", self.probe), ("--truth", self.asked.truth), ("--no-truth", self.asked.no_truth)];
        all.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

/// The request, and the responses that count as success.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Request")]
pub(super) struct RequestArgs {
    /// Method [default: GET, or POST with a body]
    #[arg(short = 'X', long, value_name = "METHOD")]
    pub(super) method: Option<String>,
    /// A header, or @FILE with one on each line (repeatable)
    #[arg(short = 'H', long, value_name = "'NAME: VALUE'|@FILE", allow_hyphen_values = true)]
    pub(super) header: Vec<String>,
    /// Request body, sent as given
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) body: Option<String>,
    /// File with the request body; - is stdin
    #[arg(long, value_name = "FILE|-", allow_hyphen_values = true)]
    pub(super) body_file: Option<PathBuf>,
    /// JSON request body, or @FILE; sets Content-Type
    #[arg(long, value_name = "TEXT|@FILE", allow_hyphen_values = true)]
    pub(super) json: Option<String>,
    /// Form field (repeatable); with a @FILE the form is sent as multipart/form-data
    #[arg(long, value_name = "NAME=VALUE|NAME=@FILE", allow_hyphen_values = true)]
    pub(super) form: Vec<String>,
    /// Read the request from a curl command, as browsers copy it (Copy as cURL); - is stdin
    #[arg(long, value_name = "FILE|-", allow_hyphen_values = true)]
    pub(super) curl: Option<String>,
    /// The body of a curl command.
    #[arg(skip)]
    pub(super) raw_body: Option<Vec<u8>>,
    /// Whether the form is multipart even without a file.
    #[arg(skip)]
    pub(super) multipart: bool,
    /// Redirects to follow.
    #[arg(skip)]
    pub(super) follow: Option<u32>,
    /// CSV file for templates, ${rows.COLUMN}; each request takes the next row
    #[arg(long, value_name = "FILE")]
    pub(super) rows: Option<String>,
    /// User and password of basic authentication, or @FILE; never stored in an archive
    #[arg(long, value_name = "USER:PASSWORD|@FILE", allow_hyphen_values = true)]
    pub(super) basic: Option<String>,
    /// Status codes that count as success, such as 200,301 or 200 to 399 [default: 200 to 399]
    #[arg(long, value_name = "STATUS,…")]
    pub(super) expect_status: Option<String>,
}

impl RequestArgs {
    /// Whether an option names a body.
    pub(super) fn has_body(&self) -> bool {
        self.body.is_some() || self.body_file.is_some() || self.json.is_some() || !self.form.is_empty()
    }
}

/// How connections are opened, used and closed.
#[derive(Args, Debug)]
#[command(next_help_heading = "Connections and host")]
pub(super) struct ConnectionArgs {
    /// HTTP version [default: 1.1]
    #[arg(long, value_name = "1.0|1.1")]
    pub(super) http: Option<String>,
    /// Close each connection after one response
    #[arg(long)]
    pub(super) no_keepalive: bool,
    /// Close each connection after N responses
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) requests_per_connection: Option<String>,
    /// How connections are closed: `fin`, or `rst`, which leaves no port in TIME-WAIT [default:
    /// fin]
    #[arg(long, value_name = "fin|rst")]
    pub(super) close: Option<String>,
    /// Pipelined requests per connection: N connections carry N × P users [default: 1]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub(super) pipeline: Option<String>,
    /// Number of load threads [default: one per allowed CPU, at most one per connection]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) threads: Option<String>,
    /// Socket driver [default: auto, the best one available]
    #[arg(long, value_name = "auto|uring|epoll")]
    pub(super) engine: Option<String>,
    /// Source addresses: 10.0.8.0/28, 10.0.8.1-10.0.8.14, 127.0.0.1-20 (repeatable), or auto for
    /// all addresses of the interface [default: the kernel's choice]
    #[arg(long, value_name = "auto|CIDR|RANGE,…")]
    pub(super) source: Vec<String>,
    /// Connect to another address, keeping the Host header and TLS name: HOST:PORT, or
    /// FROM:PORT:HOST:PORT
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) connect_to: Option<String>,
    /// Forward proxy for all connections (CONNECT for https), or @FILE with its URL; user and
    /// password are never stored in an archive
    #[arg(long, value_name = "[http://USER:PASSWORD@]HOST:PORT|@FILE")]
    pub(super) proxy: Option<String>,
    /// Send a PROXY protocol header at the start of each connection, as balancers do
    #[arg(long, value_name = "v1|v2")]
    pub(super) proxy_protocol: Option<String>,
    /// When to resolve host names; connections use all addresses in turn; `each_session` resolves
    /// once a second [default: once, before the load]
    #[arg(long, value_name = "once|each_session|DURATION")]
    pub(super) dns: Option<String>,
    /// Use only addresses of this IP version [default: all]
    #[arg(long, value_name = "4|6")]
    pub(super) ip: Option<String>,
    /// Allow a public target that you are permitted to load (repeatable)
    #[arg(long, value_name = "CIDR|NAME")]
    pub(super) allow_target: Vec<String>,
}

/// Thresholds and stop conditions.
#[derive(Args, Debug)]
#[command(next_help_heading = "Verdict")]
pub(super) struct ThresholdArgs {
    /// Threshold of the verdict: 'p99 < 250ms' (repeatable) [default: done > 0, failed < 1%]
    #[arg(long, value_name = "CONDITION")]
    pub(super) threshold: Vec<String>,
    /// Stop the run as FAIL on this condition: 'failed > 50% for 10s' (repeatable)
    #[arg(long, value_name = "CONDITION")]
    pub(super) stop: Vec<String>,
}

/// Output and archive.
#[derive(Args, Debug)]
#[command(next_help_heading = "Result")]
pub(super) struct OutputArgs {
    /// Output format on stdout: text, oneline, json, junit, html, markdown, csv, hgrm, hlog
    /// [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub(super) format: Option<String>,
    /// Also write the result to a file, in the format of its suffix: .txt .json .xml .junit .html
    /// .md .csv .hgrm .hlog (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(super) out: Vec<PathBuf>,
    /// html: language of the page, en or zh [default: en]
    #[arg(long, value_name = "LANG")]
    pub(super) lang: Option<String>,
    /// Directory for the archive [default: $`WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR")]
    pub(super) runs_dir: Option<PathBuf>,
    /// Store no archive of the run
    #[arg(long)]
    pub(super) no_archive: bool,
    /// Print no progress or messages on stderr
    #[arg(long)]
    pub(super) quiet: bool,
}
