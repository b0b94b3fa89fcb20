//! [`terminal_width`]: how wide the text is that a command prints.

/// Columns if the width of the terminal is unknown.
const COLUMNS: usize = 100;
/// Wider lines are not read more easily.
const COLUMNS_MAX: usize = 160;

/// Columns of the terminal, or what the environment says of them where the text goes elsewhere.
pub(super) fn terminal_width() -> usize {
    let told = || std::env::var("COLUMNS").ok()?.parse::<usize>().ok();
    terminal().filter(|columns| *columns > 0).or_else(told).unwrap_or(COLUMNS).min(COLUMNS_MAX)
}

#[cfg(target_os = "linux")]
fn terminal() -> Option<usize> {
    rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col))
}

/// What asks a terminal is built for Linux only.
#[cfg(not(target_os = "linux"))]
const fn terminal() -> Option<usize> {
    None
}
