//! [`Console`]: what is said on stderr while a run goes on.

use std::io::{IsTerminal, Write};

use wavetank_measure::Interval;
use wavetank_record::LiveDoc;
use wavetank_runner::RunConsole;
use wavetank_units::{Nanos, UserError};

use crate::view::LiveView;

/// How often a plain line is written where there is no terminal.
const PLAIN_EVERY: Nanos = Nanos::from_secs(10);

/// Prints progress: a view on a large terminal, one rewritten line on a small one, a plain line
/// every 10 s elsewhere, nothing with `--quiet`. It reads sealed intervals and can delay only the
/// control thread.
pub(crate) struct Console {
    quiet: bool,
    style: ProgressStyle,
    view: Option<LiveView>,
    /// A progress line is on the terminal.
    standing: bool,
    next_plain: Nanos,
}

/// How progress is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgressStyle {
    /// A plain line every 10 s, where there is no terminal.
    Lines,
    /// One line that is renewed.
    OneLine,
    /// A view, if the terminal is large enough, else one line.
    View,
}

impl Console {
    pub(crate) fn new(quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let style = if terminal { ProgressStyle::OneLine } else { ProgressStyle::Lines };
        Self { quiet, style, view: None, standing: false, next_plain: PLAIN_EVERY }
    }

    /// The same, with a view of the load on the whole terminal unless `plain`.
    pub(crate) fn with_views(self, plain: bool) -> Self {
        let may_view = !plain && !self.quiet && self.style == ProgressStyle::OneLine;
        Self { style: if may_view { ProgressStyle::View } else { self.style }, ..self }
    }

    fn print(&mut self, line: &str) {
        if let Some(view) = &mut self.view {
            return view.message(line);
        }
        self.clear_progress();
        write(&format!("{line}\n"));
    }

    /// How it goes, at the instant `at` of the run's clock.
    pub(crate) fn progress_line(&mut self, line: &str, at: Nanos) {
        if self.quiet || self.view.is_some() {
            return;
        }
        if self.style != ProgressStyle::Lines {
            self.renew(line);
        } else if at >= self.next_plain {
            self.next_plain = Nanos((at.0 / PLAIN_EVERY.0 + 1) * PLAIN_EVERY.0);
            write(&format!("{line}\n"));
        }
    }

    fn renew(&mut self, line: &str) {
        // A line that wraps could not be renewed.
        let room = width().saturating_sub(1);
        let line: String = line.chars().take(room).collect();
        write(&format!("\r\x1b[K{line}"));
        self.standing = true;
    }
}

impl RunConsole for Console {
    fn info(&mut self, line: &str) {
        if !self.quiet {
            self.print(line);
        }
    }

    fn warn(&mut self, line: &str) {
        self.print(&format!("warning: {line}"));
    }

    fn warn_of(&mut self, error: &UserError) {
        let text = error.to_string();
        self.warn(&text.strip_prefix("error: ").unwrap_or(&text).replace("\nerror: ", "\nwarning: "));
    }

    fn progress(&mut self, interval: &Interval, held: Option<(u64, u64)>) {
        if self.quiet {
            return;
        }
        let line = wavetank_report::progress(interval, held);
        self.progress_line(&line, interval.end());
    }

    fn stage(&mut self, line: &str) {
        if !self.quiet && self.style != ProgressStyle::Lines && self.view.is_none() {
            self.renew(line);
        }
    }

    fn clear_progress(&mut self) {
        let messages = self.view.take().map(LiveView::close).unwrap_or_default();
        for line in messages {
            write(&format!("{line}\n"));
        }
        if std::mem::take(&mut self.standing) {
            write("\r\x1b[K");
        }
    }

    fn open_view(&mut self, keys: &'static str) {
        if self.style == ProgressStyle::View && self.view.is_none() {
            self.clear_progress();
            self.view = LiveView::open(keys);
        }
    }

    fn has_view(&self) -> bool {
        self.view.is_some()
    }

    fn show(&mut self, state: &LiveDoc) {
        if let Some(view) = &self.view {
            view.show(state);
        }
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
