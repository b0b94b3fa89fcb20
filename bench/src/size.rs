//! [`Size`]: how many rounds a bench has, and how long they are.

use clap::Args;

/// Number and length of the rounds.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Paired rounds: 5, or 1 with `--smoke`.
    #[arg(long, global = true)]
    pub(crate) rounds: Option<usize>,
    /// Seconds of one turn: 2, or 1 with `--smoke`.
    #[arg(long, global = true)]
    pub(crate) seconds: Option<u32>,
    /// Run one short round of everything and judge no number.
    #[arg(long, global = true)]
    pub(crate) smoke: bool,
}

impl Size {
    /// One short round, without a judgement.
    pub(crate) const SMOKE: Self = Self { rounds: None, seconds: None, smoke: true };

    /// Returns the number of paired rounds.
    pub(crate) fn rounds(self) -> usize {
        self.rounds.unwrap_or(if self.smoke { 1 } else { 5 })
    }

    /// Returns the length of one turn in seconds.
    pub(crate) fn seconds(self) -> u32 {
        self.seconds.unwrap_or(if self.smoke { 1 } else { 2 })
    }

    /// Returns `full`, or `smoke` in a smoke run.
    pub(crate) fn choose<T>(self, full: T, smoke: T) -> T {
        if self.smoke { smoke } else { full }
    }
}
