//! [`Console`]: what is said on stderr while a run goes on.

use std::io::{IsTerminal, Write};

use wavetank_measure::Interval;
use wavetank_plan::{EngineChoice, Unsupported};
use wavetank_record::engine_name;
use wavetank_units::{Nanos, UserError};

/// How often a plain line is written where there is no terminal.
const PLAIN_EVERY: Nanos = Nanos::from_secs(10);

/// Prints progress: one rewritten line on a terminal, a plain line every 10 s elsewhere, nothing
/// with `--quiet`. It reads sealed intervals and can delay only the control thread.
pub(crate) struct Console {
    quiet: bool,
    terminal: bool,
    /// A progress line is on the terminal.
    standing: bool,
    next_plain: Nanos,
}

impl Console {
    pub(crate) fn new(quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { quiet, terminal, standing: false, next_plain: PLAIN_EVERY }
    }

    /// A line of its own.
    pub(crate) fn info(&mut self, line: &str) {
        if self.quiet {
            return;
        }
        self.clear_progress();
        write(&format!("{line}\n"));
    }

    /// Prints a warning, also with `--quiet`.
    pub(crate) fn warn(&mut self, line: &str) {
        self.clear_progress();
        write(&format!("warning: {line}\n"));
    }

    /// Prints an error as a warning, because the command goes on or another result takes
    /// precedence.
    pub(crate) fn warn_of(&mut self, error: &UserError) {
        let text = error.to_string();
        self.warn(&text.strip_prefix("error: ").unwrap_or(&text).replace("\nerror: ", "\nwarning: "));
    }

    /// How it goes, in the interval just sealed; `held`: how many connections hold phases want, and
    /// how many were lost so far, if there are such phases.
    pub(crate) fn progress(&mut self, interval: &Interval, held: Option<(u64, u64)>) {
        if self.quiet {
            return;
        }
        let line = wavetank_report::progress(interval, held);
        self.progress_line(&line, interval.end());
    }

    /// How it goes, at the instant `at` of the run's clock.
    pub(crate) fn progress_line(&mut self, line: &str, at: Nanos) {
        if self.quiet {
            return;
        }
        if self.terminal {
            self.renew(line);
        } else if at >= self.next_plain {
            self.next_plain = Nanos((at.0 / PLAIN_EVERY.0 + 1) * PLAIN_EVERY.0);
            write(&format!("{line}\n"));
        }
    }

    /// What is being done, in a line that is renewed; nothing where there is no terminal.
    pub(crate) fn stage(&mut self, line: &str) {
        if !self.quiet && self.terminal {
            self.renew(line);
        }
    }

    fn renew(&mut self, line: &str) {
        // A line that wraps could not be renewed.
        let room = width().saturating_sub(1);
        let line: String = line.chars().take(room).collect();
        write(&format!("\r\x1b[K{line}"));
        self.standing = true;
    }

    /// Take the renewed line away.
    pub(crate) fn clear_progress(&mut self) {
        if std::mem::take(&mut self.standing) {
            write("\r\x1b[K");
        }
    }
}

/// The engine in a line, with cause and cure where it is not the best one.
pub(crate) fn engine_line(engine: EngineChoice, why: Option<&Unsupported>) -> String {
    let name = engine_name(engine);
    match why {
        Some(Unsupported { cause, cure }) => format!("engine     {name}: {cause}: {cure}"),
        None => format!("engine     {name}"),
    }
}

/// Columns of the terminal; 80 where it does not say.
fn width() -> usize {
    match rustix::termios::tcgetwinsize(std::io::stderr()) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => 80,
    }
}

/// A reader of stderr that went away is no reason to stop a run.
fn write(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
