//! `wavetank serve`.

use std::time::Duration;

use wavetank_driver::Signals;
use wavetank_plan::{ExitCode, UserError};
use wavetank_target::ServeOptions;

use crate::cli::ServeArgs;
use crate::run::{Talk, host_cannot, output};

/// How often the main thread looks whether it was told to stop.
const LOOK_AROUND: Duration = Duration::from_millis(200);

/// Serve until SIGINT or SIGTERM; then say what was seen. Stopping a server is no failure: exit 0.
pub(crate) fn serve(args: &ServeArgs) -> Result<u8, UserError> {
    // Where the kernel says no, the plan is made for the limit there is.
    let _ = wavetank_observe::raise_file_limit();
    let signals = Signals::listen().map_err(|errno| host_cannot("listen for signals", errno))?;
    let server = wavetank_target::start(ServeOptions {
        listen: args.listen.clone(),
        threads: args.threads,
        any: args.any,
        freeze: args.freeze.map(|freeze| (freeze.at, freeze.length)),
    })?;
    let addresses: Vec<_> = server.addresses().iter().map(|address| format!("http://{address}/")).collect();
    // On stdout: whoever starts a server from a script waits for this line.
    output::print(&format!("serving {} (Ctrl-C stops)\n", addresses.join(" ")))?;
    while signals.received() == 0 {
        // Ends early when a signal comes.
        std::thread::park_timeout(LOOK_AROUND);
    }
    let truth = server.truth();
    Talk::new(false).say(&format!(
        "served {} requests on {} connections",
        wavetank_plan::quantity::show_count(truth.requests),
        wavetank_plan::quantity::show_count(truth.connections.accepted),
    ));
    server.stop();
    Ok(ExitCode::Pass as u8)
}
