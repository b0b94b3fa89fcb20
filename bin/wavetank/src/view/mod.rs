//! [`LiveView`]: a running run on the whole terminal. `run` shows its own, `attach` any of this
//! user. A thread of its own draws what was sealed, so that the run does not wait for drawing or
//! for a terminal that has been stopped.

mod history;
mod screen;
mod screen_mode;
mod screen_parts;
mod screen_thread;

use std::collections::VecDeque;
use std::io::{IsTerminal as _, stderr};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use wavetank_record::LiveDoc;
use wavetank_units::sanitize;

use screen_mode::ScreenMode;
use screen_thread::{ScreenThread, Update};

/// A smaller terminal gets lines instead.
const COLUMNS_MIN: u16 = 80;
const LINES_MIN: u16 = 24;
/// Messages that are printed when the view is closed.
const MESSAGES_MAX: usize = 1_000;
/// States and messages that a terminal may be behind. Later ones are not drawn.
const UPDATES_MAX: usize = 256;

/// See the module's description.
pub(crate) struct LiveView {
    messages: VecDeque<String>,
    /// Disconnected to end the thread.
    updates: Option<SyncSender<Update>>,
    thread: Option<JoinHandle<()>>,
}

impl LiveView {
    /// Opens the view if stderr is a terminal that is large enough. `keys` says what Ctrl-C does.
    pub(crate) fn open(keys: &'static str) -> Option<Self> {
        let size = rustix::termios::tcgetwinsize(stderr()).ok().filter(|_| stderr().is_terminal())?;
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if dumb || size.ws_col < COLUMNS_MIN || size.ws_row < LINES_MIN {
            return None;
        }
        let screen = ScreenThread::new(ScreenMode::enter().ok()?, keys).ok()?;
        let (updates, received) = sync_channel(UPDATES_MAX);
        let draw = move || screen.draw_all(&received);
        let thread = std::thread::Builder::new().name("view".to_owned()).spawn(draw).ok()?;
        Some(Self { messages: VecDeque::new(), updates: Some(updates), thread: Some(thread) })
    }

    /// Shows a state. A terminal that cannot be written to is no reason to end a run.
    pub(crate) fn show(&self, state: &LiveDoc) {
        self.update(Update::State(Box::new(state.clone())));
    }

    /// Shows a message with the next state, and prints it when the view is closed.
    pub(crate) fn message(&mut self, line: &str) {
        let line = sanitize(line).to_string();
        push(&mut self.messages, line.clone());
        self.update(Update::Message(line));
    }

    fn update(&self, update: Update) {
        if let Some(updates) = &self.updates {
            let _ = updates.try_send(update);
        }
    }

    /// Restores the terminal, and returns the messages.
    pub(crate) fn close(mut self) -> Vec<String> {
        self.end();
        std::mem::take(&mut self.messages).into()
    }

    fn end(&mut self) {
        self.updates = None;
        if let Some(thread) = self.thread.take() {
            // A panic has restored the terminal and printed its message.
            let _ = thread.join();
        }
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.end();
    }
}

/// Adds a message. The oldest one makes room.
fn push(messages: &mut VecDeque<String>, line: String) {
    if messages.len() == MESSAGES_MAX {
        messages.pop_front();
    }
    messages.push_back(line);
}
