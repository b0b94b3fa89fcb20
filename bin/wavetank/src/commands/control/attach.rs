//! `wavetank attach`: watches a running run.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use wavetank_control::client;
use wavetank_driver::Signals;
use wavetank_record::{LiveDoc, LiveState};
use wavetank_report::{knee_text, live_line, text};
use wavetank_runner::{RunConsole as _, host_error, run_folder};
use wavetank_store::SearchFolder;
use wavetank_units::{Code, ExitCode, Nanos, UserError, sanitize};

use super::selection::{ended, select};
use crate::cli::{AttachArgs, FileFormat};
use crate::output::{self, Console};

/// How long to wait for a state before signals are looked at.
const LOOK_AROUND: Duration = Duration::from_millis(50);
/// What the last line of the view says.
const KEYS: &str = "Ctrl-C ends the view; the run goes on";

/// Shows the state of a run at each seal until it is over, and then its report. The exit code is
/// that of the run.
pub(super) fn attach(args: &AttachArgs) -> Result<u8, UserError> {
    let run = select(args.run.as_deref())?;
    let states = client::watch(&run_folder(), &run.id).map_err(|error| ended(&run, &error))?;
    let mut talk = Console::new(args.format == FileFormat::Json).with_views(args.plain);
    talk.info(&format!(
        "attached   {}  {}  (Ctrl-C ends the view, not the run)",
        sanitize(&run.id),
        sanitize(&run.name)
    ));
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let states = received(states).map_err(|error| ended(&run, &error))?;
    let mut last = run;
    loop {
        if signals.received() > 0 {
            talk.clear_progress();
            talk.info("the run goes on");
            return Ok(ExitCode::Pass as u8);
        }
        match states.recv_timeout(LOOK_AROUND) {
            Ok(state) => last = state.map_err(|error| ended(&last, &error))?,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        }
        show(&last, args.format, &mut talk)?;
    }
    talk.clear_progress();
    if last.state != LiveState::Over {
        let hint = "its sealed seconds are stored: wavetank report latest";
        return Err(UserError::usage(Code::NotRunning, "the run ended without a result", hint));
    }
    if args.format == FileFormat::Text {
        output::print(&result(&last))?;
    }
    Ok(last.verdict.as_ref().map_or(ExitCode::Incomplete as u8, |verdict| verdict.exit))
}

/// Receives states in a thread, so that a signal ends the view although no state comes.
fn received(states: client::States) -> std::io::Result<Receiver<std::io::Result<LiveDoc>>> {
    let (sender, receiver) = sync_channel(1);
    let receive = move || {
        for state in states {
            if sender.send(state).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("attach".to_owned()).spawn(receive)?;
    Ok(receiver)
}

fn show(state: &LiveDoc, format: FileFormat, talk: &mut Console) -> Result<(), UserError> {
    if format == FileFormat::Json {
        return output::print(&(state.to_json() + "\n"));
    }
    if state.state != LiveState::Over {
        talk.open_view(KEYS);
    }
    talk.show(state);
    talk.progress_line(&live_line(state), Nanos((state.at_s.0 * 1e9) as i64));
    Ok(())
}

/// The report of a run or search that is over, or its verdict if it has no archive.
fn result(state: &LiveDoc) -> String {
    let stored = state.archive.as_deref().map(Path::new);
    let search = stored.filter(|_| state.search.is_some()).and_then(SearchFolder::open);
    if let Some(doc) = search.and_then(|folder| folder.read().ok()) {
        return knee_text(&doc);
    }
    let record = stored.and_then(|folder| wavetank_store::open(folder).ok()).and_then(|run| run.record);
    match (record, &state.verdict) {
        (Some(record), _) => text(&record),
        (None, Some(verdict)) => format!("{}: {}\n", verdict.status.name(), sanitize(&verdict.headline)),
        (None, None) => String::new(),
    }
}
