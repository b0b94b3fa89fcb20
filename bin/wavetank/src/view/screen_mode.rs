//! [`ScreenMode`]: takes the terminal for a view, and gives it back on any exit.

use std::io::{Write as _, stderr, stdin};
use std::sync::{Mutex, Once, PoisonError};

use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcsetattr,
};

/// Enters the alternate screen and hides the cursor (xterm's control sequences).
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l";
/// Shows the cursor and returns to the normal screen.
const LEAVE: &[u8] = b"\x1b[?25h\x1b[?1049l";

/// The modes before the view, while there is one.
static BEFORE: Mutex<Option<Before>> = Mutex::new(None);
static PANICS: Once = Once::new();

/// What is restored.
struct Before {
    /// Modes of standard input, if it is a terminal.
    input: Option<Termios>,
}

/// The terminal belongs to a view as long as this value exists.
pub(super) struct ScreenMode;

impl ScreenMode {
    /// Takes the terminal. Typed characters are not shown, and Ctrl-C still sends SIGINT.
    pub(super) fn enter() -> std::io::Result<Self> {
        // The message of a panic is read on the normal screen.
        PANICS.call_once(|| {
            let inner = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                inner(panic);
            }));
        });
        let input = tcgetattr(stdin()).ok();
        if let Some(modes) = &input {
            let mut quiet = modes.clone();
            quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
            // A stopped process would leave its screen behind.
            quiet.special_codes[SpecialCodeIndex::VSUSP] = 0;
            tcsetattr(stdin(), OptionalActions::Now, &quiet)?;
        }
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(Before { input });
        stderr().write_all(ENTER)?;
        Ok(Self)
    }
}

impl Drop for ScreenMode {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back, once.
fn restore() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(before) = before else { return };
    // A terminal that is gone needs nothing.
    let _ = stderr().write_all(LEAVE);
    if let Some(modes) = before.input {
        // What was typed was meant for the view.
        let _ = tcflush(stdin(), QueueSelector::IFlush);
        let _ = tcsetattr(stdin(), OptionalActions::Now, &modes);
    }
}
