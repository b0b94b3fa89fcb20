//! `wavetank serve`.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use wavetank_driver::{Errno, Signals, TlsProblem, TlsServer};
use wavetank_plan::feasibility::choose_engine;
use wavetank_plan::{EngineChoice, FileTables, ServerCapacity, SocketLayout};
use wavetank_report::engine_line;
use wavetank_runner::{Host, RunConsole as _, host_error};
use wavetank_store::os_error_text;
use wavetank_target::{Accounts, HandshakeCounts, ServeOptions, Server, ShopOptions, Truth};
use wavetank_units::quantity::format_grouped;
use wavetank_units::{Code, ExitCode, UserError};

use crate::cli::{ServeArgs, ServeTls};
use crate::output::{self, Console};

/// How often the main thread checks for a request to stop.
const LOOK_AROUND: Duration = Duration::from_millis(200);

/// Serves until SIGINT or SIGTERM, then prints the counts. Stopping a server is no failure: exit 0.
pub(crate) fn serve(args: &ServeArgs) -> Result<u8, UserError> {
    let host = Host::inspect()?;
    let engine = choose_engine(args.engine, &host.facts.sockets)?;
    let both_ends = args.listen.iter().all(|address| address.ip().is_loopback());
    let serving =
        ServerCapacity::new(&host.facts, engine.choice, args.threads, both_ends, args.tls.is_some());
    let holding = holding(&serving, args, engine.choice, &host)?;
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let tls = args.tls.as_ref().map(|tls| tls_server(tls, &args.listen)).transpose()?.map(Arc::new);
    let accounts = args.accounts.as_deref().map(accounts).transpose()?.unwrap_or_default();
    let defaults = ServeOptions::default();
    let server = wavetank_target::start(ServeOptions {
        listen: args.listen.clone(),
        tcp: args.tcp().to_vec(),
        tcp_greeting: args.tcp_greeting().into(),
        udp: args.udp().to_vec(),
        http3: args.http3().to_vec(),
        threads: Some(holding.threads),
        engine: engine.choice,
        features: host.found.features,
        files: holding.files,
        connections: args.connections.unwrap_or(defaults.connections),
        any: args.any,
        freeze: args.freeze().map(|freeze| (freeze.at, freeze.length)),
        tls: tls.clone(),
        shop: ShopOptions { database: args.database.clone(), accounts: Arc::new(accounts) },
    })?;
    let mut talk = Console::new(false);
    talk.info(&engine_line(engine.choice, engine.why.as_ref()));
    for note in args.connections.map(|connections| serving.notes(connections)).unwrap_or_default() {
        talk.info(&format!("note       {note}"));
    }
    if let (Some(tls), Some(words)) = (&tls, &args.tls) {
        talk.info(&certificate_line(tls, words));
    }
    let scheme = if tls.is_some() { "https" } else { "http" };
    let raw_scheme = if tls.is_some() { "tls" } else { "tcp" };
    let addresses = server.addresses().iter().map(|address| format!("{scheme}://{address}/"));
    let raw = server.tcp_addresses().iter().map(|address| format!("{raw_scheme}://{address}"));
    let udp = server.udp_addresses().iter().map(|address| format!("udp://{address}"));
    let http3 = server.http3_addresses().iter().map(|address| format!("{address}/udp"));
    let addresses: Vec<_> = addresses.chain(raw).chain(udp).chain(http3).collect();
    // On stdout, because scripts that start a server wait for this line.
    output::print(&format!("serving {} (Ctrl-C stops)\n", addresses.join(" ")))?;
    let fault = attend(&server, signals, &mut talk, holding.threads, host.facts.files_max);
    talk.info(&served(&server.truth(), tls.is_some()));
    if let Some(fault) = fault {
        return Err(fault);
    }
    server.stop();
    Ok(ExitCode::Pass as u8)
}

/// Reports events of the server until it is asked to stop. Returns why it stopped by itself.
fn attend(
    server: &Server,
    signals: Signals,
    talk: &mut Console,
    threads: u32,
    files_max: u64,
) -> Option<UserError> {
    let mut crashes: Vec<String> = Vec::new();
    let (mut not_accepting, mut database_reported) = (false, false);
    while signals.received() == 0 {
        // A signal ends the wait early.
        std::thread::park_timeout(LOOK_AROUND);
        if let Some(errno) = server.accept_failure().filter(|_| !not_accepting) {
            not_accepting = true;
            talk.warn(&not_accepted(errno, files_max));
        }
        if let Some(fault) = server.database_fault().filter(|_| !database_reported) {
            database_reported = true;
            talk.warn(&format!("the database of the flash sale: {fault}; these requests got a 500"));
        }
        for crash in server.crashes() {
            if !crashes.contains(&crash) {
                talk.warn(&format!("{crash}; its connections are lost, all others are served"));
                crashes.push(crash);
            }
        }
        let fault = server.fault();
        if fault.is_some() {
            return fault;
        }
        if crashes.len() == threads as usize {
            return Some(UserError::refused(
                Code::NoThreads,
                "none of the server's worker processes is left",
                "`dmesg` lists what the kernel killed for lack of memory",
            ));
        }
    }
    None
}

/// Reads the accounts that may log in.
fn accounts(path: &Path) -> Result<Accounts, UserError> {
    let name = format!("--accounts {}", path.display());
    let csv = std::fs::read(path).map_err(|error| {
        let message = format!("{name}: {}", os_error_text(&error));
        UserError::usage(Code::BadFile, message, "the file that experiments name under `data`")
    })?;
    Accounts::read(&name, &csv)
}

/// Describes why clients wait, and how to avoid it next time.
fn not_accepted(errno: Errno, files_max: u64) -> String {
    let hint = match errno.symbol() {
        Some("EMFILE") => format!(
            "raise ulimit -n to {}, now {files_max}; or use --connections N, which prepares for N or reports what N need",
            files_max.saturating_mul(2)
        ),
        Some("ENFILE") => "fs.file-max, the limit on files of the whole host, must be higher".to_owned(),
        _ => "free some memory; --connections N reports at the start what N need".to_owned(),
    };
    format!("cannot accept a client: {errno}; new clients wait until others disconnect\nhint: {hint}")
}

fn served(truth: &Truth, tls: bool) -> String {
    let (requests, accepted) = (format_grouped(truth.requests), format_grouped(truth.connections.accepted));
    let HandshakeCounts { full, resumed, failed } = truth.handshakes;
    let [full, resumed, failed] = [full, resumed, failed].map(format_grouped);
    let handshakes = if tls {
        format!("; TLS handshakes: {full} full, {resumed} resumed, {failed} failed")
    } else {
        String::new()
    };
    let not_accepted = match truth.connections.accept_failed {
        0 => String::new(),
        failed => format!("; {} attempts to accept failed", format_grouped(failed)),
    };
    format!("served {requests} requests on {accepted} connections{handshakes}{not_accepted}")
}

/// Creates the TLS server with the given certificate, or with one generated for this host and
/// `listen`.
fn tls_server(tls: &ServeTls, listen: &[SocketAddr]) -> Result<TlsServer, UserError> {
    let server = match &tls.identity {
        Some(own) => TlsServer::new(&own.chain_pem, &own.key_pem, &tls.options),
        None => TlsServer::self_signed(&names(listen), &tls.options),
    };
    let server = server.map_err(|TlsProblem { what, hint }| UserError::usage(Code::BadTls, what, hint))?;
    if let Some(path) = &tls.cert_out {
        std::fs::write(path, server.chain_pem()).map_err(|error| {
            let message = format!("--tls-cert-out {}: {}", path.display(), os_error_text(&error));
            UserError::usage(Code::BadFile, message, "a file in a folder that can be written to")
        })?;
    }
    Ok(server)
}

/// Returns the names for a generated certificate. A wildcard address adds none.
fn names(listen: &[SocketAddr]) -> Vec<String> {
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    for address in listen.iter().map(SocketAddr::ip).filter(|ip| !ip.is_unspecified()) {
        let name = address.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Describes the certificate and how a client can trust it.
fn certificate_line(server: &TlsServer, words: &ServeTls) -> String {
    let cure = match (&words.identity, &words.cert_out) {
        (Some(_), _) => String::new(),
        (None, Some(path)) => format!("; clients trust it with --cacert {}", path.display()),
        (None, None) => {
            "; clients accept it with --insecure (curl -k), or trust the file of --tls-cert-out FILE"
                .to_owned()
        }
    };
    format!("certificate: SHA-256 {}{cure}", server.fingerprint())
}

/// Returns the file tables and the number of threads for the requested connections.
fn holding(
    serving: &ServerCapacity<'_>,
    args: &ServeArgs,
    engine: EngineChoice,
    host: &Host,
) -> Result<SocketLayout, UserError> {
    if let Some(connections) = args.connections {
        return serving.holding(connections);
    }
    // A table for each thread costs nothing where sockets are in tables. A process for each thread
    // is only for those that need it.
    let own = host.found.best_file_tables();
    let tables = engine == EngineChoice::Epoll && own == FileTables::PerThread;
    let threads = args.threads.unwrap_or_else(|| u32::try_from(host.facts.cpus.len()).unwrap_or(1).max(1));
    Ok(SocketLayout { files: if tables { own } else { FileTables::Shared }, threads })
}
