//! [`NetArgs`]: arguments of `wavetank net`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use wavetank_netbench::{DEFAULT_PORT, NetSettings, NetTest};
use wavetank_units::quantity::{parse_count_positive, parse_duration_positive, parse_link};
use wavetank_units::{Code, Nanos, UserError};

use super::output_args::check_files;
use super::output_formats::{OutFile, OutputFormat};
use super::value_parsers::default_runs_dir;

/// Tests in one argument. The alias keeps clap from reading them as a repeatable option.
type TestList = Vec<NetTest>;
/// Numbers of streams in one argument.
type StreamList = Vec<u32>;

/// `wavetank net`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
For example: wavetank net serve                                  on one host; it prints a token
             WAVETANK_NET_TOKEN=… wavetank net lb1               on the other
             wavetank net --lab shop --from load --to lb1        between hosts of a running lab
             wavetank net --fleet dc1.yaml --many-to-one load01  finds a slow switch
             wavetank net 10.0.0.7 --tests tcp,rr -d 10s --out net.html
             wavetank net 10.0.0.7 --tests udp --rate 500Mbit/s
             wavetank compare BEFORE AFTER                       compares two results
Tests: tcp, rr (round trips), connect, sizes (1 B to 8 MiB), udp, mtu. No command line has the token.
Results are stored: wavetank report ID shows one again")]
pub(crate) struct NetArgs {
    #[command(subcommand)]
    pub(crate) what: Option<NetSubcommand>,
    #[command(flatten)]
    pub(crate) measure: NetMeasureArgs,
}

/// A subcommand of `net`.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum NetSubcommand {
    /// Answer measurements of other hosts that have the token, for a limited time
    Serve(NetServeArgs),
    /// Be an end of a measurement that another host controls
    #[command(hide = true)]
    Endpoint,
}

/// `net serve`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank net serve --listen 10.0.0.7:7077 --for 10m
It opens no connection, and sends datagrams only to the address of a client that has proved that it has the token")]
pub(crate) struct NetServeArgs {
    /// Address to listen on, TCP and UDP; a port alone means all interfaces [default: 0.0.0.0:7077]
    #[arg(long, value_name = "ADDR:PORT", value_parser = listen_address, default_value = "7077", hide_default_value = true)]
    pub(crate) listen: SocketAddr,
    /// How long to serve
    #[arg(long = "for", value_name = "DURATION", default_value = "1h", value_parser = parse_duration_positive)]
    pub(crate) lasts: Nanos,
    /// Simultaneous clients
    #[arg(long, value_name = "N", default_value = "4", value_parser = parse_count_positive)]
    pub(crate) peers: u64,
    /// File with the token [default: `WAVETANK_NET_TOKEN`, or a random token]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}

/// `net HOST…`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct NetMeasureArgs {
    /// Hosts on which `wavetank net serve` runs, each measured from this one
    #[arg(value_name = "HOST[:PORT]", required_unless_present_any = ["lab", "fleet"], conflicts_with_all = ["lab", "fleet"])]
    pub(crate) hosts: Vec<String>,
    /// File with the token of these hosts [default: `WAVETANK_NET_TOKEN`]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["lab", "fleet"])]
    pub(crate) token_file: Option<PathBuf>,
    /// Measure between hosts of the running lab of this name
    #[arg(long, value_name = "NAME", conflicts_with = "fleet")]
    pub(crate) lab: Option<String>,
    /// Measure between load hosts of this fleet file, on which `wavetank fleet up` was used
    #[arg(long, value_name = "FILE")]
    pub(crate) fleet: Option<PathBuf>,
    /// Configuration file of ssh in place of the user's
    #[arg(long, value_name = "FILE", requires = "fleet")]
    pub(crate) ssh_config: Option<PathBuf>,
    /// Hosts or roles that measure, joined by commas [default: all]
    #[arg(long, value_name = "HOST|ROLE,…", value_delimiter = ',', conflicts_with = "hosts")]
    pub(crate) from: Vec<String>,
    /// Hosts or roles that are measured, joined by commas [default: all]
    #[arg(long, value_name = "HOST|ROLE,…", value_delimiter = ',', conflicts_with_all = ["hosts", "many_to_one"])]
    pub(crate) to: Vec<String>,
    /// Let all hosts send to this one, each by itself and then together (TCP)
    #[arg(long, value_name = "HOST", conflicts_with_all = ["hosts", "tests"])]
    pub(crate) many_to_one: Option<String>,
    /// Measure one pair after the other, also where pairs share no host
    #[arg(long, conflicts_with = "hosts")]
    pub(crate) serial: bool,
    /// Tests, joined by commas [default: tcp,rr,connect,sizes,udp,mtu]
    #[arg(long, value_name = "TEST,…", value_parser = tests)]
    pub(crate) tests: Option<TestList>,
    /// Numbers of TCP streams, each measured in turn
    #[arg(long, value_name = "N,…", value_parser = streams, default_value = "1,4")]
    pub(crate) streams: StreamList,
    /// Duration of each measurement, up to 1h
    #[arg(short, long, value_name = "DURATION", default_value = "3s", value_parser = parse_duration_positive)]
    pub(crate) duration: Nanos,
    /// UDP rate at which loss and jitter are measured
    #[arg(long, value_name = "BITS", default_value = "10Mbit/s", value_parser = parse_link)]
    pub(crate) rate: u64,
    /// Nominal speed of the links, for findings [default: that of the network cards]
    #[arg(long, value_name = "BITS", value_parser = parse_link)]
    pub(crate) link: Option<u64>,
    /// Port of the servers
    #[arg(long, value_name = "PORT", default_value_t = DEFAULT_PORT)]
    pub(crate) port: u16,
    /// Name of the measurement [default: net, or that of the lab or fleet]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Output format on stdout: text, json or html
    #[arg(long, default_value = "text")]
    pub(crate) format: OutputFormat,
    /// Also write the result to a file, in the format of its suffix: .txt .json .html (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<OutFile>,
    /// Directory for the archive [default: `WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    pub(crate) runs_dir: PathBuf,
    /// Store no archive
    #[arg(long)]
    pub(crate) no_archive: bool,
    /// Print no progress or messages on stderr
    #[arg(long)]
    pub(crate) quiet: bool,
    /// The command as typed.
    #[arg(skip)]
    pub(crate) command: String,
}

impl NetArgs {
    /// Checks options that depend on each other; `command` is the command line as typed.
    pub(super) fn checked(mut self, command: String) -> Result<Self, UserError> {
        self.measure.command = command;
        if self.what.is_some() {
            return Ok(self);
        }
        check_files(&self.measure.out)?;
        let formats = self.measure.out.iter().map(|out| out.format).chain([self.measure.format]);
        for format in formats {
            if !matches!(format, OutputFormat::Text | OutputFormat::Json | OutputFormat::Html) {
                let message = "a network measurement is written as text, json or html";
                return Err(UserError::usage(
                    Code::Conflict,
                    message,
                    "use --format json, or --out FILE.html",
                ));
            }
        }
        if self.measure.duration > NetSettings::DURATION_MAX {
            let message = format!("--duration {} is too long", self.measure.duration);
            return Err(UserError::usage(Code::Overflow, message, "use up to 1h for each measurement"));
        }
        let is_between = self.measure.lab.is_some() || self.measure.fleet.is_some();
        let needs = [
            ("--from", !self.measure.from.is_empty()),
            ("--to", !self.measure.to.is_empty()),
            ("--many-to-one", self.measure.many_to_one.is_some()),
            ("--serial", self.measure.serial),
        ];
        match needs.iter().find(|(_, is_given)| *is_given && !is_between) {
            Some((option, _)) => {
                let message = format!("{option} selects hosts of a lab or fleet");
                Err(UserError::usage(Code::Conflict, message, "add --lab NAME or --fleet FILE"))
            }
            None => Ok(self),
        }
    }
}

#[cfg(target_os = "linux")]
impl NetMeasureArgs {
    /// Returns what is measured.
    pub(crate) fn settings(&self) -> NetSettings {
        NetSettings {
            tests: self.tests.clone().unwrap_or_else(|| NetTest::ALL.to_vec()),
            streams: self.streams.clone(),
            duration: self.duration,
            udp_bits_per_s: self.rate,
        }
    }
}

fn listen_address(text: &str) -> Result<SocketAddr, UserError> {
    let port = text.strip_prefix(':').unwrap_or(text);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(SocketAddr::from(([0, 0, 0, 0], port)));
    }
    text.parse().map_err(|_| {
        let hint = "use an address and a port: 10.0.0.7:7077, or [::]:7077 for IPv6";
        UserError::usage(Code::BadListen, format!("`{text}` is not an address"), hint)
    })
}

fn tests(text: &str) -> Result<TestList, UserError> {
    let known = || NetTest::ALL.map(NetTest::name).join(", ");
    let find = |name: &str| {
        NetTest::ALL.into_iter().find(|test| test.name() == name.trim()).ok_or_else(|| {
            let message = format!("`{}` is not one of {}", name.trim(), known());
            UserError::usage(Code::ValueUnknown, message, "names joined by commas: --tests tcp,rr")
        })
    };
    let mut tests = text.split(',').map(find).collect::<Result<TestList, _>>()?;
    tests.sort_unstable();
    tests.dedup();
    Ok(tests)
}

fn streams(text: &str) -> Result<StreamList, UserError> {
    let most = NetSettings::STREAMS_MAX;
    let parse = |number: &str| {
        let parsed = number.trim().parse().ok().filter(|count| (1..=most).contains(count));
        parsed.ok_or_else(|| {
            let message = format!("`{}` is not a number of streams", number.trim());
            UserError::usage(
                Code::ValueUnknown,
                message,
                format!("1 to {most}, joined by commas: --streams 1,8"),
            )
        })
    };
    let mut streams = text.split(',').map(parse).collect::<Result<StreamList, _>>()?;
    streams.sort_unstable();
    streams.dedup();
    Ok(streams)
}
