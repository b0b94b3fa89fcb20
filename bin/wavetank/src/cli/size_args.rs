//! Arguments of `wavetank size`: [`SizeFlags`] as typed, [`SizeArgs`] with the named files read.

use std::ffi::OsString;

use clap::Args;
use wavetank_capacity::size::{BYTES_MAX, Balancing, PortsOption, Role, RoleCapacity, SizeOptions};
use wavetank_plan::{RunOptions, TlsVersions, parse_sources};
use wavetank_units::quantity::{
    parse_count, parse_count_positive, parse_duration_positive, parse_link, parse_rate_positive, parse_size,
};
use wavetank_units::{Code, Nanos, Rate, SourceRange, UserError};

use super::choice::Choice;
use super::connection_args::ClosingArgs;
use super::errors::{Errors, with_flag};
use super::experiment_args::ExperimentArgs;
use super::load_source::{LoadSource, parse_load_source};
use super::output_formats::FileFormat;
use super::request_args::{MessageArgs, RequestArgs};
use super::value_parsers::{TLS_VERSIONS, parse_u32};

/// `--balancer`. Names of products have an error of their own.
const BALANCERS: Choice<Balancing> =
    Choice::new(&[("none", Balancing::None), ("proxy", Balancing::Proxy), ("direct", Balancing::Direct)])
        .or(|text| Some(Balancing::parse(text)));

/// `wavetank size`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank size -r 1M/s -c 1M --hold 100s --capacity balancer=270k/s --capacity server=140k/s --spare 1
             wavetank size -r 10k/s --hold 100s            ten thousand requests per second, each open for 100 s
             wavetank size -c 3.48M --ports 15000-65000 --backends 2 --hosts load=80
             wavetank size lb-million.yaml --memory 64GiB --link 10Gbit/s
Nothing is sent and no name is resolved. Exit codes: 0 estimated, even if hosts do not suffice · 2 wrong usage")]
pub(super) struct SizeFlags {
    /// Experiment file, or URL of the request; optional
    #[arg(value_name = "URL|FILE")]
    goal: Option<OsString>,
    #[command(flatten)]
    load: SizeLoadArgs,
    #[command(flatten)]
    transaction: TransactionArgs,
    #[command(flatten)]
    hosts: HostArgs,
    #[command(flatten)]
    experiment: ExperimentArgs,
    /// Output format
    #[arg(long, default_value = "text")]
    format: FileFormat,
}

/// Amount and duration of the load.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
struct SizeLoadArgs {
    /// Request rate of the whole load: 10k/s, 1M/s
    #[arg(short, long, value_name = "RATE", allow_negative_numbers = true, value_parser = parse_rate_positive)]
    rate: Option<Rate>,
    /// Simultaneous connections [default with -r: as many as the rate needs]
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count_positive)]
    connections: Option<u64>,
    /// Lifetime of a connection [default: unlimited] (with -r alone: one request per connection, of
    /// this duration)
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration_positive)]
    hold: Option<Nanos>,
    /// Length of the load, for totals
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration_positive)]
    duration: Option<Nanos>,
    /// Total number of requests; combined with -d, the first limit reached ends the load
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count_positive)]
    requests: Option<u64>,
    /// Connections opened per second before the load starts [default: 5k/s]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true, value_parser = parse_rate_positive)]
    open_rate: Option<Rate>,
}

/// Contents of a connection.
#[derive(Args, Debug)]
#[command(next_help_heading = "Request and response")]
struct TransactionArgs {
    /// Service time of a request; with -r it decides how many are open simultaneously [default:
    /// 100ms]
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration_positive)]
    service: Option<Nanos>,
    /// Size of a request with its head [default: the request that `run` would send]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = message_size)]
    request_bytes: Option<u64>,
    /// Size of a response with its head [default: 1kB]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = message_size)]
    answer_bytes: Option<u64>,
    #[command(flatten)]
    message: MessageArgs,
    #[command(flatten)]
    closing: ClosingArgs,
    /// Clients use this TLS version [default: TLS only with an https URL]
    #[arg(long, value_name = "1.2|1.3", value_parser = TLS_VERSIONS)]
    tls: Option<TlsVersions>,
}

/// Number and capacity of hosts.
#[derive(Args, Debug)]
#[command(next_help_heading = "Hosts")]
struct HostArgs {
    /// Load balancer in front of the servers: none, proxy (terminates connections) or direct
    /// (forwards packets, and responses bypass it) [default: proxy if an option names a balancer,
    /// else none]
    #[arg(long, value_parser = BALANCERS)]
    balancer: Option<Balancing>,
    /// Capacity of one host of a role (load, balancer, server): requests per second, connections,
    /// or both (repeatable)
    #[arg(long, value_name = "ROLE=RATE,N", value_parser = RoleCapacity::parse)]
    capacity: Vec<(Role, RoleCapacity)>,
    /// Available hosts of a role; the result says whether they suffice (repeatable)
    #[arg(long, value_name = "ROLE=N", value_parser = SizeOptions::parse_hosts)]
    hosts: Vec<(Role, u64)>,
    /// Number of balancers and servers that may fail (N+K) [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = spare)]
    spare: Option<u64>,
    /// Memory limit of each host [default: none]
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = positive_size)]
    memory: Option<u64>,
    /// Link speed limit of each host [default: none]
    #[arg(long, value_name = "10Gbit/s", allow_negative_numbers = true, value_parser = positive_link)]
    link: Option<u64>,
    /// Source ports per address: a number, or first and last [default: 1024-65535, of which a load
    /// leaves one in 16 to other programs]
    #[arg(long, value_name = "N|FIRST-LAST", allow_negative_numbers = true, value_parser = PortsOption::parse)]
    ports: Option<PortsOption>,
    /// Source addresses of all load hosts together: 10.0.8.0/28, 10.0.8.1-10.0.8.14; the result
    /// says whether they suffice (repeatable)
    #[arg(long, value_name = "CIDR|RANGE,…")]
    source: Vec<String>,
    /// Number of address and port pairs that clients connect to [default: 1, or those of the file]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_u32)]
    targets: Option<u32>,
    /// Number of address and port pairs that a proxy connects to; the result says whether they
    /// suffice
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_u32)]
    backends: Option<u32>,
}

/// `wavetank size`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SizeArgs {
    /// URL or experiment file; `None` if neither matters.
    pub(crate) goal: Option<LoadSource>,
    /// Amount of load, as options of `run`.
    pub(crate) options: RunOptions,
    /// Further options of sizing.
    pub(crate) wishes: SizeOptions,
    /// Output format on stdout.
    pub(crate) format: FileFormat,
}

impl SizeFlags {
    /// Checks the options and reads the named files.
    pub(super) fn resolve(self) -> Result<SizeArgs, UserError> {
        let SizeLoadArgs { rate, connections, hold, duration, requests, open_rate } = self.load;
        let TransactionArgs { service, request_bytes, answer_bytes, message, closing, tls } =
            self.transaction;
        let wishes = SizeOptions { hold, service, request_bytes, answer_bytes, ..self.hosts.resolve()? };
        let mut options =
            RunOptions { rate, connections, duration, requests, open_rate, ..closing.resolve() };
        options.tls.version = tls;
        let mut errors = Errors::default();
        let request = RequestArgs { message, ..RequestArgs::default() };
        let (mut options, request) = request.resolve(options, &mut errors);
        errors.finish(Ok(()))?;
        if let (None, Some(option)) = (&self.goal, self.experiment.first_given_flag()) {
            let message = format!("{option} needs an experiment file");
            return Err(UserError::usage(Code::Conflict, message, "wavetank size FILE"));
        }
        let goal =
            self.goal.map(|goal| parse_load_source(&goal, self.experiment, None, request, &mut options));
        Ok(SizeArgs { goal: goal.transpose()?, options, wishes, format: self.format })
    }
}

impl HostArgs {
    fn resolve(self) -> Result<SizeOptions, UserError> {
        Ok(SizeOptions {
            balancer: self.balancer,
            capacity: self.capacity,
            hosts: self.hosts,
            spare: self.spare,
            memory: self.memory,
            link: self.link,
            ports: self.ports,
            targets: self.targets.map(u64::from),
            backends: self.backends.map(u64::from),
            sources: sources(&self.source)?,
            ..SizeOptions::default()
        })
    }
}

/// Returns the number of addresses.
fn sources(words: &[String]) -> Result<Option<u64>, UserError> {
    if words.is_empty() {
        return Ok(None);
    }
    if words.iter().any(|word| word == "auto") {
        let hint = "name the addresses: --source 10.0.8.0/28, or leave it out";
        let message = "--source auto depends on hosts that size does not know";
        return Err(UserError::usage(Code::Conflict, message, hint));
    }
    let ranges = with_flag("--source", parse_sources(&words.join(",")))?;
    let count: u128 = ranges.iter().map(SourceRange::len).sum();
    Ok(Some(u64::try_from(count).unwrap_or(u64::MAX)))
}

/// Parses the number of hosts that may fail; 0 is valid.
fn spare(text: &str) -> Result<u64, UserError> {
    let count = parse_count(text)?;
    if count > 1_000_000 {
        return Err(UserError::usage(Code::Overflow, format!("`{text}` is out of range"), "1 or 2"));
    }
    Ok(count)
}

/// Parses the size of a request or a response.
fn message_size(text: &str) -> Result<u64, UserError> {
    let bytes = positive_size(text)?;
    if bytes > BYTES_MAX {
        return Err(UserError::usage(Code::Overflow, format!("`{text}` is out of range"), "1024GiB at most"));
    }
    Ok(bytes)
}

fn positive_size(text: &str) -> Result<u64, UserError> {
    match parse_size(text)? {
        0 => Err(UserError::usage(
            Code::Zero,
            format!("`{text}`: a size of zero is not allowed here"),
            "16kB, 64GiB",
        )),
        size => Ok(size),
    }
}

fn positive_link(text: &str) -> Result<u64, UserError> {
    match parse_link(text)? {
        0 => Err(UserError::usage(
            Code::Zero,
            format!("`{text}`: a link speed of zero is not allowed here"),
            "10Gbit/s",
        )),
        link => Ok(link),
    }
}
