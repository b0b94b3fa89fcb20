//! [`ServeArgs`]: arguments of `wavetank serve`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use wavetank_plan::EngineChoice;
use wavetank_units::quantity::{parse_count_positive, parse_duration, parse_duration_positive};
use wavetank_units::{Code, Nanos, UserError};

use super::serve_tls_args::{ServeTls, ServeTlsArgs};
use super::value_parsers::{ENGINES, parse_u32};

/// Addresses in one argument. The alias keeps clap from reading them as a repeatable option.
type ListenAddresses = Vec<SocketAddr>;

/// `wavetank serve`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
Paths: /  /bytes/N  /delay/DURATION  /sleepN (seconds)  /status/CODE  /echo  /close
       /truth reports the counters, POST /truth/reset sets them to zero,
       /truth/connections reports the current connections
Flash sale: /api/seckill shows it, POST /api/login (user, password), POST /api/order (sku, user),
       POST /admin/sale starts another one (stock, opens_in); wavetank run examples/flash-sale.yaml
Events: /events?rate=N&count=N sends server-sent events, one a second by default
Tiers: /tier/simple  /tier/query  /tier/transaction  with ?workers=N&work=DURATION&queue=N as capacity")]
pub(crate) struct ServeArgs {
    /// Addresses to listen on, joined by commas; a port alone means 127.0.0.1
    #[arg(long, value_name = "ADDR:PORT,…", default_value = "127.0.0.1:8080", value_parser = addresses)]
    pub(crate) listen: ListenAddresses,
    /// Addresses of raw TCP, which send everything back
    #[arg(long, value_name = "ADDR:PORT,…", value_parser = addresses)]
    tcp: Option<ListenAddresses>,
    /// What a connection of raw TCP gets first, with a line end
    #[arg(long, value_name = "TEXT")]
    tcp_greeting: Option<String>,
    /// Addresses of UDP, which send every datagram back
    #[arg(long, value_name = "ADDR:PORT,…", value_parser = addresses)]
    udp: Option<ListenAddresses>,
    /// Addresses of HTTP/3, with --tls
    #[arg(long, value_name = "ADDR:PORT,…", value_parser = addresses)]
    http3: Option<ListenAddresses>,
    /// Threads [default: one per allowed CPU]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_u32)]
    pub(crate) threads: Option<u32>,
    /// Socket driver [default: auto, the best one available]
    #[arg(long, default_value = "auto", hide_default_value = true, value_name = "auto|uring|epoll", value_parser = ENGINES)]
    pub(crate) engine: EngineChoice,
    /// Number of simultaneous connections to prepare for (raises the open-file limit, adds threads
    /// if needed)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count_positive)]
    pub(crate) connections: Option<u64>,
    /// Answer unknown paths like / instead of 404
    #[arg(long, visible_alias = "any-path")]
    pub(crate) any: bool,
    /// Stop answering for this long, once
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration_positive)]
    freeze: Option<Nanos>,
    /// Start of the freeze, counted from the first request
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration)]
    freeze_at: Option<Nanos>,
    /// Store the sale and tier data in this SQLite file [default: in memory]
    #[arg(long, value_name = "FILE")]
    pub(crate) database: Option<PathBuf>,
    /// CSV file of accounts, columns user and password [default: any user, password `secret-USER`]
    #[arg(long, value_name = "FILE")]
    pub(crate) accounts: Option<PathBuf>,
    #[command(flatten)]
    tls_args: ServeTlsArgs,
    /// TLS settings, used on all addresses, with the files read; `None`: no TLS.
    #[arg(skip)]
    pub(crate) tls: Option<ServeTls>,
}

/// A time in which the built-in server answers no request.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freeze {
    /// Start, counted from the first request.
    pub(crate) at: Nanos,
    /// Duration.
    pub(crate) length: Nanos,
}

impl ServeArgs {
    /// Checks the options and reads the named files.
    pub(super) fn read(mut self) -> Result<Self, UserError> {
        if self.freeze.is_some() != self.freeze_at.is_some() {
            let hint = "--freeze is the duration, --freeze-at the start: --freeze 300ms --freeze-at 5s";
            return Err(UserError::usage(Code::Conflict, "--freeze and --freeze-at go together", hint));
        }
        if self.tcp_greeting.is_some() && self.tcp.is_none() {
            let hint = "serve --tcp 7000 --tcp-greeting TEXT";
            return Err(UserError::usage(Code::Conflict, "--tcp-greeting needs --tcp", hint));
        }
        self.tls = self.tls_args.read()?;
        Ok(self)
    }

    /// Returns the addresses of raw TCP.
    #[cfg(target_os = "linux")]
    pub(crate) fn tcp(&self) -> &[SocketAddr] {
        self.tcp.as_deref().unwrap_or_default()
    }

    /// Returns the addresses of UDP.
    #[cfg(target_os = "linux")]
    pub(crate) fn udp(&self) -> &[SocketAddr] {
        self.udp.as_deref().unwrap_or_default()
    }

    /// Returns the addresses of HTTP/3.
    #[cfg(target_os = "linux")]
    pub(crate) fn http3(&self) -> &[SocketAddr] {
        self.http3.as_deref().unwrap_or_default()
    }

    /// Returns what a connection of raw TCP gets first.
    #[cfg(target_os = "linux")]
    pub(crate) fn tcp_greeting(&self) -> Vec<u8> {
        self.tcp_greeting.as_ref().map(|text| format!("{text}\r\n").into_bytes()).unwrap_or_default()
    }

    /// Returns the freeze on purpose.
    #[cfg(target_os = "linux")]
    pub(crate) fn freeze(&self) -> Option<Freeze> {
        Some(Freeze { at: self.freeze_at?, length: self.freeze? })
    }
}

fn addresses(text: &str) -> Result<ListenAddresses, UserError> {
    let listen = text.split(',').map(|word| address(word.trim())).collect::<Result<Vec<_>, _>>()?;
    let doubled = listen.iter().enumerate().find(|(index, one)| listen[..*index].contains(one));
    if let Some((_, address)) = doubled {
        let hint = "one address for each; --threads adds threads";
        return Err(UserError::usage(Code::Conflict, format!("{address} is given twice"), hint));
    }
    Ok(listen)
}

/// Parses `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `:8080` or `8080`. The last three are
/// loopback.
pub(super) fn address(word: &str) -> Result<SocketAddr, UserError> {
    let on_loopback = |port: u16| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let port = word.strip_prefix("localhost:").or_else(|| word.strip_prefix(':')).unwrap_or(word);
    if let Ok(port) = port.parse::<u16>() {
        return Ok(on_loopback(port));
    }
    word.parse().map_err(|_| {
        let hint = if word.parse::<IpAddr>().is_ok() {
            format!("add a port: {word}:8080")
        } else {
            "use an address and a port: 127.0.0.1:8080; 0.0.0.0:8080 listens on all interfaces".to_owned()
        };
        UserError::usage(Code::BadListen, format!("`{word}` is not an address"), hint)
    })
}
