//! [`SizeWords`]: arguments of `wavetank size`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use wavetank_plan::quantity::{
    parse_count, parse_count_positive, parse_duration_positive, parse_link, parse_rate_positive, parse_size,
};
use wavetank_plan::size::{BYTES_MAX, Balancing, PortsOption, RoleCapacity, SizeOptions};
use wavetank_plan::{Close, RunOptions, SourceRange, UserError, parse_sources};

use super::args::FileFormat;
use super::errors::Errors;
use super::experiment_args::ExperimentArgs;
use super::load_source::{RequestExtras, parse_load_source};
use super::run_args::RequestArgs;
use super::run_options;
use super::size_args::SizeArgs;
use super::tls_args::version;
use super::value_parsers::{parse_choice, parse_optional, parse_u32, with_flag};

/// `wavetank size`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank size -r 1M/s -c 1M --hold 100s --capacity balancer=270k/s --capacity server=140k/s --spare 1
             wavetank size -r 10k/s --hold 100s            ten thousand requests per second, each open for 100 s
             wavetank size -c 3.48M --ports 15000-65000 --backends 2 --hosts load=80
             wavetank size lb-million.yaml --memory 64GiB --link 10Gbit/s
Nothing is sent and no name is resolved. Exit codes: 0 estimated, even if hosts do not suffice · 2 wrong usage")]
pub(super) struct SizeWords {
    /// Experiment file, or URL of the request; optional
    #[arg(value_name = "URL|FILE")]
    goal: Option<OsString>,
    #[command(flatten)]
    load: SizeLoadArgs,
    #[command(flatten)]
    exchange: TransactionArgs,
    #[command(flatten)]
    hosts: HostArgs,
    #[command(flatten)]
    variation: ExperimentArgs,
    /// Output format
    #[arg(long, value_name = "text|json", default_value = "text")]
    format: String,
}

/// Amount and duration of the load.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
struct SizeLoadArgs {
    /// Request rate of the whole load: 10k/s, 1M/s
    #[arg(short, long, value_name = "RATE", allow_negative_numbers = true)]
    rate: Option<String>,
    /// Simultaneous connections [default with -r: as many as the rate needs]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    connections: Option<String>,
    /// Lifetime of a connection [default: unlimited] (with -r alone: one request per connection, of
    /// this duration)
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    hold: Option<String>,
    /// Length of the load, for totals
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true)]
    duration: Option<String>,
    /// Total number of requests; combined with -d, the first limit reached ends the load
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    requests: Option<String>,
    /// Connections opened per second before the load starts [default: 5k/s]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    open_rate: Option<String>,
}

/// Contents of a connection.
#[derive(Args, Debug)]
#[command(next_help_heading = "Request and response")]
struct TransactionArgs {
    /// Service time of a request; with -r it decides how many are open simultaneously [default:
    /// 100ms]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    service: Option<String>,
    /// Size of a request with its head [default: the request that `run` would send]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    request_bytes: Option<String>,
    /// Size of a response with its head [default: 1kB]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    answer_bytes: Option<String>,
    /// Method [default: GET, or POST with a body]
    #[arg(short = 'X', long, value_name = "METHOD")]
    method: Option<String>,
    /// A header, or @FILE with one on each line (repeatable)
    #[arg(short = 'H', long, value_name = "'NAME: VALUE'|@FILE", allow_hyphen_values = true)]
    header: Vec<String>,
    /// Request body, sent as given
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    body: Option<String>,
    /// File with the request body; - is stdin
    #[arg(long, value_name = "FILE|-", allow_hyphen_values = true)]
    body_file: Option<PathBuf>,
    /// Close each connection after one response
    #[arg(long)]
    no_keepalive: bool,
    /// Close each connection after N responses
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    requests_per_connection: Option<String>,
    /// How connections are closed: `fin`, or `rst`, which leaves no port in TIME-WAIT [default:
    /// fin]
    #[arg(long, value_name = "fin|rst")]
    close: Option<String>,
    /// Clients use this TLS version [default: TLS only with an https URL]
    #[arg(long, value_name = "1.2|1.3")]
    tls: Option<String>,
}

/// Number and capacity of hosts.
#[derive(Args, Debug)]
#[command(next_help_heading = "Hosts")]
struct HostArgs {
    /// Load balancer in front of the servers: none, proxy (terminates connections) or direct
    /// (forwards packets, and responses bypass it) [default: proxy if an option names a balancer,
    /// else none]
    #[arg(long, value_name = "none|proxy|direct")]
    balancer: Option<String>,
    /// Capacity of one host of a role (load, balancer, server): requests per second, connections,
    /// or both (repeatable)
    #[arg(long, value_name = "ROLE=RATE,N")]
    capacity: Vec<String>,
    /// Available hosts of a role; the result says whether they suffice (repeatable)
    #[arg(long, value_name = "ROLE=N")]
    hosts: Vec<String>,
    /// Number of balancers and servers that may fail (N+K) [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    spare: Option<String>,
    /// Memory limit of each host [default: none]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    memory: Option<String>,
    /// Link speed limit of each host [default: none]
    #[arg(long, value_name = "10Gbit/s", allow_negative_numbers = true)]
    link: Option<String>,
    /// Source ports per address: a number, or first and last [default: 1024-65535, of which a load
    /// leaves one in 16 to other programs]
    #[arg(long, value_name = "N|FIRST-LAST", allow_negative_numbers = true)]
    ports: Option<String>,
    /// Source addresses of all load hosts together: 10.0.8.0/28, 10.0.8.1-10.0.8.14; the result
    /// says whether they suffice (repeatable)
    #[arg(long, value_name = "CIDR|RANGE,…")]
    source: Vec<String>,
    /// Number of address and port pairs that clients connect to [default: 1, or those of the file]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    targets: Option<String>,
    /// Number of address and port pairs that a proxy connects to; the result says whether they
    /// suffice
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    backends: Option<String>,
}

/// Converts all arguments.
pub(super) fn size(words: SizeWords) -> Result<SizeArgs, UserError> {
    let format = with_flag(
        "--format",
        parse_choice(&words.format, &[("text", FileFormat::Text), ("json", FileFormat::Json)], &[]),
    )?;
    let mut options = RunOptions::default();
    load(&words.load, &mut options)?;
    let wishes = SizeOptions {
        hold: parse_optional("--hold", words.load.hold.as_ref(), parse_duration_positive)?,
        service: parse_optional("--service", words.exchange.service.as_ref(), parse_duration_positive)?,
        request_bytes: parse_optional("--request-bytes", words.exchange.request_bytes.as_ref(), bytes)?,
        answer_bytes: parse_optional("--answer-bytes", words.exchange.answer_bytes.as_ref(), bytes)?,
        ..hosts(&words.hosts)?
    };
    let request = exchange(words.exchange, &mut options)?;
    if let (None, Some(option)) = (&words.goal, words.variation.first_given_flag()) {
        let message = format!("{option} needs an experiment file");
        return Err(UserError::usage("conflict", message, "wavetank size FILE"));
    }
    let variation = words.variation;
    let goal = words.goal.map(|word| parse_load_source(&word, variation, None, request, &mut options));
    let goal = goal.transpose()?;
    Ok(SizeArgs { goal, options, wishes, format })
}

fn load(words: &SizeLoadArgs, options: &mut RunOptions) -> Result<(), UserError> {
    options.rate = parse_optional("-r", words.rate.as_ref(), parse_rate_positive)?;
    options.connections = parse_optional("-c", words.connections.as_ref(), parse_count_positive)?;
    options.duration = parse_optional("-d", words.duration.as_ref(), parse_duration_positive)?;
    options.requests = parse_optional("-n", words.requests.as_ref(), parse_count_positive)?;
    options.open_rate = parse_optional("--open-rate", words.open_rate.as_ref(), parse_rate_positive)?;
    Ok(())
}

fn exchange(words: TransactionArgs, options: &mut RunOptions) -> Result<RequestExtras, UserError> {
    options.no_keepalive = words.no_keepalive;
    options.requests_per_connection = parse_optional(
        "--requests-per-connection",
        words.requests_per_connection.as_ref(),
        parse_count_positive,
    )?;
    let closes = [("fin", Close::Fin), ("rst", Close::Rst)];
    options.close = parse_optional("--close", words.close.as_ref(), |text| parse_choice(text, &closes, &[]))?;
    options.tls.version = parse_optional("--tls", words.tls.as_ref(), version)?;
    let TransactionArgs { method, header, body, body_file, .. } = words;
    let request = RequestArgs { method, header, body, body_file, ..RequestArgs::default() };
    let mut errors = Errors::default();
    let extras = run_options::request(request, options, &mut errors);
    errors.finish(Ok(extras))
}

fn hosts(words: &HostArgs) -> Result<SizeOptions, UserError> {
    let capacity = words.capacity.iter().map(|word| with_flag("--capacity", RoleCapacity::parse(word)));
    let hosts = words.hosts.iter().map(|word| with_flag("--hosts", SizeOptions::parse_hosts(word)));
    Ok(SizeOptions {
        balancer: parse_optional("--balancer", words.balancer.as_ref(), Balancing::parse)?,
        capacity: capacity.collect::<Result<_, _>>()?,
        hosts: hosts.collect::<Result<_, _>>()?,
        spare: parse_optional("--spare", words.spare.as_ref(), spare)?,
        memory: parse_optional("--memory", words.memory.as_ref(), positive_size)?,
        link: parse_optional("--link", words.link.as_ref(), positive_link)?,
        ports: parse_optional("--ports", words.ports.as_ref(), PortsOption::parse)?,
        targets: parse_optional("--targets", words.targets.as_ref(), parse_u32)?.map(u64::from),
        backends: parse_optional("--backends", words.backends.as_ref(), parse_u32)?.map(u64::from),
        sources: sources(&words.source)?,
        ..SizeOptions::default()
    })
}

/// Returns the number of addresses.
fn sources(words: &[String]) -> Result<Option<u64>, UserError> {
    if words.is_empty() {
        return Ok(None);
    }
    if words.iter().any(|word| word == "auto") {
        let hint = "name the addresses: --source 10.0.8.0/28, or leave it out";
        let message = "--source auto depends on hosts that size does not know";
        return Err(UserError::usage("conflict", message, hint));
    }
    let ranges = with_flag("--source", parse_sources(&words.join(",")))?;
    let count: u128 = ranges.iter().map(SourceRange::len).sum();
    Ok(Some(u64::try_from(count).unwrap_or(u64::MAX)))
}

/// Parses the number of hosts that may fail; 0 is valid.
fn spare(text: &str) -> Result<u64, UserError> {
    let count = parse_count(text)?;
    if count > 1_000_000 {
        return Err(UserError::usage("overflow", format!("`{text}` is out of range"), "1 or 2"));
    }
    Ok(count)
}

/// Parses the size of a request or a response.
fn bytes(text: &str) -> Result<u64, UserError> {
    let bytes = positive_size(text)?;
    if bytes > BYTES_MAX {
        return Err(UserError::usage("overflow", format!("`{text}` is out of range"), "1024GiB at most"));
    }
    Ok(bytes)
}

fn positive_size(text: &str) -> Result<u64, UserError> {
    match parse_size(text)? {
        0 => Err(UserError::usage(
            "zero",
            format!("`{text}`: a size of zero is not allowed here"),
            "16kB, 64GiB",
        )),
        size => Ok(size),
    }
}

fn positive_link(text: &str) -> Result<u64, UserError> {
    match parse_link(text)? {
        0 => Err(UserError::usage(
            "zero",
            format!("`{text}`: a link speed of zero is not allowed here"),
            "10Gbit/s",
        )),
        link => Ok(link),
    }
}
