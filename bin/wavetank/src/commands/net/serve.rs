//! `wavetank net serve`.

use std::net::SocketAddr;
use std::time::Duration;

use wavetank_driver::Signals;
use wavetank_netbench::DEFAULT_PORT;
use wavetank_netprobe::{NetServer, ServerLimits, random_token};
use wavetank_runner::{RunConsole as _, host_error};
use wavetank_units::{ExitCode, UserError};

use super::token_source::given_token;
use crate::cli::NetServeArgs;
use crate::output::{self, Console};

/// How often events are printed.
const LOOK_AROUND: Duration = Duration::from_millis(200);

/// Serves until its time is over or a signal comes: exit 0. Prints the token first, unless it was
/// given.
pub(super) fn serve(args: &NetServeArgs) -> Result<u8, UserError> {
    let given = given_token(args.token_file.as_deref())?;
    let is_given = given.is_some();
    let token = given.map_or_else(random_token, Ok)?;
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let limits = ServerLimits { peers: usize::try_from(args.peers).unwrap_or(usize::MAX), lasts: args.lasts };
    let server = NetServer::start(args.listen, token.clone(), env!("CARGO_PKG_VERSION"), limits)?;
    let address = server.address();
    let shown = if is_given { "as given" } else { token.text() };
    // On stdout, because scripts that start a server wait for these lines.
    output::print(&format!(
        "serving {address} for {} and {} clients (Ctrl-C stops)\ntoken {shown}\n",
        args.lasts, args.peers
    ))?;
    let mut console = Console::new(false);
    if !is_given {
        console.info(&format!(
            "measure from another host: WAVETANK_NET_TOKEN={} wavetank net {}",
            token.text(),
            host_text(address)
        ));
    }
    while signals.received() == 0 && !server.is_over() {
        // A signal ends the wait early.
        std::thread::park_timeout(LOOK_AROUND);
        server.poll_events().iter().for_each(|event| console.info(event));
    }
    if server.is_over() {
        console.info("its time is over");
    }
    server.end();
    Ok(ExitCode::Pass as u8)
}

/// Returns the server as an argument of `wavetank net`.
fn host_text(address: SocketAddr) -> String {
    let host = if address.ip().is_unspecified() { "THIS-HOST".to_owned() } else { address.ip().to_string() };
    match (address.port(), address.is_ipv6() && !address.ip().is_unspecified()) {
        (DEFAULT_PORT, _) => host,
        (port, true) => format!("[{host}]:{port}"),
        (port, false) => format!("{host}:{port}"),
    }
}
