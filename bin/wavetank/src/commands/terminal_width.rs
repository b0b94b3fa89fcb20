//! [`terminal_width`]: the width of the text that a command prints.

/// Columns if the width of the terminal is unknown.
const COLUMNS: usize = 100;
/// Longer lines are harder to read.
const COLUMNS_MAX: usize = 160;

/// Returns the columns of the terminal, or of the environment if stdout is not a terminal.
pub(super) fn terminal_width() -> usize {
    let reported = || std::env::var("COLUMNS").ok()?.parse::<usize>().ok();
    terminal().filter(|columns| *columns > 0).or_else(reported).unwrap_or(COLUMNS).min(COLUMNS_MAX)
}

#[cfg(target_os = "linux")]
fn terminal() -> Option<usize> {
    rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col))
}

/// The terminal query is built for Linux only.
#[cfg(not(target_os = "linux"))]
const fn terminal() -> Option<usize> {
    None
}
