//! [`LiveView`]: a running run on the whole terminal. `run` shows its own, `attach` any of this
//! user. It draws what was sealed, once for each seal, and takes no part in the load.

mod history;
mod screen;
mod screen_mode;
mod screen_parts;

use std::collections::VecDeque;
use std::io::{IsTerminal as _, Stderr, stderr};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use wavetank_record::LiveDoc;
use wavetank_units::sanitize;

use history::History;
use screen::{Screen, draw};
use screen_mode::ScreenMode;

/// A smaller terminal gets lines instead.
const COLUMNS_MIN: u16 = 80;
const LINES_MIN: u16 = 24;
/// Messages that are printed when the view is closed.
const MESSAGES_MAX: usize = 1_000;

/// See the module's description.
pub(crate) struct LiveView {
    terminal: Terminal<CrosstermBackend<Stderr>>,
    /// Restores the terminal when it is dropped.
    _mode: ScreenMode,
    history: History,
    messages: VecDeque<String>,
    colours: bool,
    /// What the last line says about keys.
    keys: &'static str,
}

impl LiveView {
    /// Opens the view if stderr is a terminal that is large enough. `keys` says what Ctrl-C does.
    pub(crate) fn open(keys: &'static str) -> Option<Self> {
        let size = rustix::termios::tcgetwinsize(stderr()).ok().filter(|_| stderr().is_terminal())?;
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if dumb || size.ws_col < COLUMNS_MIN || size.ws_row < LINES_MIN {
            return None;
        }
        let mode = ScreenMode::enter().ok()?;
        let terminal = Terminal::new(CrosstermBackend::new(stderr())).ok()?;
        let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let (history, messages) = (History::default(), VecDeque::new());
        Some(Self { terminal, _mode: mode, history, messages, colours, keys })
    }

    /// Shows a state. A terminal that cannot be written to is no reason to end a run.
    pub(crate) fn show(&mut self, state: &LiveDoc) {
        self.history.add(state);
        let screen = Screen {
            state,
            history: &self.history,
            messages: &self.messages,
            colours: self.colours,
            keys: self.keys,
        };
        let _ = self.terminal.draw(|frame| draw(frame, &screen));
    }

    /// Shows a message with the next state, and prints it when the view is closed.
    pub(crate) fn message(&mut self, line: &str) {
        if self.messages.len() == MESSAGES_MAX {
            self.messages.pop_front();
        }
        self.messages.push_back(sanitize(line).to_string());
    }

    /// Restores the terminal, and returns the messages.
    pub(crate) fn close(self) -> Vec<String> {
        self.messages.into()
    }
}
