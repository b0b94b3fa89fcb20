//! `wavetank net HOST…`: measures from this host.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use wavetank_driver::{Clock, Signals};
use wavetank_netbench::{Direction, total_seconds};
use wavetank_netprobe::{MeasuredPair, PairContext, measure_pair};
use wavetank_runner::{RunConsole as _, host_error};
use wavetank_units::{Code, Nanos, UserError, sanitize};

use super::result::{Measured, announce, deliver};
use super::token_source::required_token;
use crate::cli::NetMeasureArgs;
use crate::output::Console;

/// How often signals are looked at.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// Measures each host from this one, one after the other because all pairs share this host.
pub(super) fn measure(args: &NetMeasureArgs) -> Result<u8, UserError> {
    let token = required_token(args.token_file.as_deref())?;
    let servers = args.hosts.iter().map(|host| resolve(host, args.port)).collect::<Result<Vec<_>, _>>()?;
    let settings = args.settings();
    let mut console = Console::new(args.quiet);
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let mut measured = Measured::begin(args);
    announce(&mut console, servers.len(), servers.len(), total_seconds(&settings, servers.len(), 0));
    let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let clock = Clock::starting_now();
    let is_interrupted = || signals.received() > 0;
    let stop = watch_signals(signals);
    for (host, server) in args.hosts.iter().zip(servers) {
        if is_interrupted() {
            break;
        }
        let mut progress = |test: &str| {
            let at = Nanos(clock.now().0);
            console.progress_line(&format!("{own} → {host}  {test}"), at);
        };
        let MeasuredPair { doc, connect_error } = measure_pair(&mut PairContext {
            from: &own,
            to: host,
            server,
            token: &token,
            version: env!("CARGO_PKG_VERSION"),
            settings: &settings,
            progress: &mut progress,
            stop: &stop,
            wait_for_start: &mut || {},
            directions: &[Direction::Forward, Direction::Reverse],
        });
        if let (Some(error), 1) = (connect_error, args.hosts.len()) {
            // There is no result at all then.
            return Err(error);
        }
        measured.pairs.push(doc);
    }
    console.clear_progress();
    measured.interrupted = is_interrupted();
    deliver(args, measured, &mut console)
}

/// Returns what is set by SIGINT and SIGTERM. Measurements run in several threads, of which each
/// looks at it.
fn watch_signals(signals: Signals) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&stop);
    std::thread::spawn(move || {
        while signals.received() == 0 {
            std::thread::park_timeout(LOOK_AROUND);
        }
        set.store(true, Ordering::Relaxed);
    });
    stop
}

/// Returns the address of `HOST`, `HOST:PORT`, `ADDRESS` or `[ADDRESS]:PORT`.
fn resolve(host: &str, port: u16) -> Result<SocketAddr, UserError> {
    if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, port));
    }
    let (name, port) = match host.rsplit_once(':') {
        Some((name, text)) => match text.parse::<u16>() {
            Ok(port) if port > 0 => (name, port),
            _ => {
                let message = format!("`{}` has no valid port", sanitize(host));
                return Err(UserError::usage(
                    Code::BadNetHost,
                    message,
                    "HOST or HOST:PORT, for example lb1:7077",
                ));
            }
        },
        None => (host, port),
    };
    let name = name.trim_matches(['[', ']']);
    let failed = |reason: &str| {
        let message = format!("cannot find the address of `{}`: {reason}", sanitize(name));
        UserError::refused(Code::NetNameUnknown, message, "check the name, or give an address")
    };
    let addresses = (name, port).to_socket_addrs().map_err(|error| failed(&error.to_string()))?;
    let mut addresses: Vec<SocketAddr> = addresses.collect();
    // `wavetank net serve` listens on IPv4 unless an option says otherwise.
    addresses.sort_by_key(SocketAddr::is_ipv6);
    addresses.first().copied().ok_or_else(|| failed("it has none"))
}
