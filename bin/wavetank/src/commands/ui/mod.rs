//! `wavetank ui`: the web page.

mod page_process;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use rustix::termios::tcgetpgrp;
use wavetank_driver::Signals;
use wavetank_runner::{RunConsole as _, host_error, run_folder};
use wavetank_ui::{UiConfig, UiServer};
use wavetank_units::{Code, ExitCode, UserError, sanitize};

use super::control::leave_terminal;
use crate::cli::UiArgs;
use crate::output::{self, Console};
pub(crate) use page_process::start_page;

/// How often to look for a signal and for Enter.
const LOOK_AROUND: Duration = Duration::from_millis(100);
/// The page of a run that is over ends when no browser has shown it for this long.
const IDLE_MAX: Duration = Duration::from_mins(5);

/// Serves the page until Ctrl-C, or until it is not needed any more. Exit 0.
pub(crate) fn ui(args: &UiArgs) -> Result<u8, UserError> {
    leave_terminal();
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let server = UiServer::start(UiConfig {
        listen: args.listen,
        runs_dir: args.runs_dir.clone(),
        run_folder: run_folder(),
        experiments: args.dir.clone(),
        program: std::env::current_exe().map_err(|error| {
            let message = format!("cannot find this program: {error}");
            UserError::refused(Code::CannotStartPage, message, "start it by its path")
        })?,
        process: args.of_process,
    })?;
    // On stdout, because scripts wait for this line.
    output::print(&format!("{}\n", server.new_url()?))?;
    if args.of_process.is_none() {
        introduce(args, server.address());
    }
    let lines = lines_of_stdin();
    let mut need = Need { process: args.of_process, requests: 0, idle: 0 };
    while signals.received() == 0 && need.is_there(&server) {
        match lines.recv_timeout(LOOK_AROUND) {
            Ok(()) => output::print(&format!("{}\n", server.new_url()?))?,
            Err(RecvTimeoutError::Timeout) => {}
            // Without a terminal there is no Enter.
            Err(RecvTimeoutError::Disconnected) => std::thread::park_timeout(LOOK_AROUND),
        }
    }
    Ok(ExitCode::Pass as u8)
}

fn introduce(args: &UiArgs, address: SocketAddr) {
    let port = address.port();
    let mut talk = Console::new(false);
    talk.info(&format!("runs       {}", sanitize(&args.runs_dir.to_string_lossy())));
    talk.info(&format!("files      {}", sanitize(&args.dir.to_string_lossy())));
    talk.info("session    the address works once; Enter prints a new one");
    talk.info(&format!("remote     ssh -L {port}:{address} HOST, then open the address on your computer"));
    talk.info("           Ctrl-C ends the page; runs go on");
}

/// Receives a value for each line of stdin. The sender is gone when stdin is closed.
fn lines_of_stdin() -> Receiver<()> {
    let (sender, lines) = sync_channel(1);
    let read = move || {
        let stdin = std::io::stdin();
        // A process in the background that reads its terminal would be stopped.
        let is_reader = || {
            tcgetpgrp(&stdin).is_ok_and(|group| group == rustix::process::getpgrp())
                || !std::io::IsTerminal::is_terminal(&stdin)
        };
        let mut line = String::new();
        while is_reader() && stdin.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            line.clear();
            if sender.send(()).is_err() {
                return;
            }
        }
    };
    // Without a thread there is no Enter.
    let _ = std::thread::Builder::new().name("enter".to_owned()).spawn(read);
    lines
}

/// Whether the page is still needed.
struct Need {
    /// The run that it belongs to; `None`: it is needed until Ctrl-C.
    process: Option<u32>,
    /// Requests at the latest look.
    requests: u64,
    /// Looks since a browser last showed the page.
    idle: u32,
}

impl Need {
    /// The page of a run is needed while the run's process exists, and then while a browser shows
    /// it. Without any browser it ends with the run.
    fn is_there(&mut self, server: &UiServer) -> bool {
        let Some(process) = self.process else { return true };
        if Path::new("/proc").join(process.to_string()).exists() {
            return true;
        }
        let earlier = std::mem::replace(&mut self.requests, server.requests());
        let is_used = self.requests != earlier || server.watchers() > 0;
        self.idle = if is_used { 0 } else { self.idle + 1 };
        self.requests > 0 && LOOK_AROUND * self.idle < IDLE_MAX
    }
}
