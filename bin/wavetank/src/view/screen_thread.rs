//! [`ScreenThread`]: draws states on the terminal.

use std::collections::VecDeque;
use std::io::{BufWriter, Stderr, stderr};
use std::sync::mpsc::Receiver;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use wavetank_record::LiveDoc;
use wavetank_units::WATCHER_NICENESS;

use super::history::History;
use super::screen::{Screen, draw};
use super::screen_mode::ScreenMode;

/// What the thread shows next.
pub(super) enum Update {
    /// A state of the run.
    State(Box<LiveDoc>),
    /// A message, shown with the next state.
    Message(String),
}

/// What the thread owns.
pub(super) struct ScreenThread {
    /// Buffered, because each change of colour or position would be a system call.
    terminal: Terminal<CrosstermBackend<BufWriter<Stderr>>>,
    /// Restores the terminal when it is dropped.
    _mode: ScreenMode,
    history: History,
    messages: VecDeque<String>,
    colours: bool,
    /// What the last line says about keys.
    keys: &'static str,
}

impl ScreenThread {
    /// Takes a terminal that `mode` has prepared.
    ///
    /// # Errors
    /// If the size of the terminal cannot be read.
    pub(super) fn new(mode: ScreenMode, keys: &'static str) -> std::io::Result<Self> {
        let terminal = Terminal::new(CrosstermBackend::new(BufWriter::new(stderr())))?;
        let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let (history, messages) = (History::default(), VecDeque::new());
        Ok(Self { terminal, _mode: mode, history, messages, colours, keys })
    }

    /// Draws until the sender is gone. Only the last state is drawn if several have arrived.
    pub(super) fn draw_all(mut self, updates: &Receiver<Update>) {
        // Load threads that share a CPU with this one come first.
        let _ = rustix::process::setpriority_process(None, WATCHER_NICENESS);
        while let Ok(first) = updates.recv() {
            let mut latest = self.take(first);
            while let Ok(update) = updates.try_recv() {
                latest = self.take(update).or(latest);
            }
            if let Some(state) = latest {
                self.draw(&state);
            }
        }
    }

    /// Returns the state, if it is one.
    fn take(&mut self, update: Update) -> Option<Box<LiveDoc>> {
        match update {
            Update::State(state) => {
                self.history.add(&state);
                Some(state)
            }
            Update::Message(line) => {
                super::push(&mut self.messages, line);
                None
            }
        }
    }

    fn draw(&mut self, state: &LiveDoc) {
        let screen = Screen {
            state,
            history: &self.history,
            messages: &self.messages,
            colours: self.colours,
            keys: self.keys,
        };
        let _ = self.terminal.draw(|frame| draw(frame, &screen));
    }
}
