//! [`Stopwatch`]: measures how long a step took. It is the only clock of the task runner, which
//! must work when the product does not build.

use std::time::{Duration, Instant};

/// Time since a beginning.
#[derive(Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[expect(clippy::disallowed_methods, reason = "the task runner may not depend on the driver's clock")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    #[expect(clippy::disallowed_methods, reason = "the task runner may not depend on the driver's clock")]
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
