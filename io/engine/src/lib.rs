//! Load threads: shared-nothing, one loop each, arrays instead of objects.
//!
//! Five nouns, each calling only downwards: [`pacer`] (when does something fall due) → [`users`] (who
//! goes on next) → [`exchange`] (one request under way) → [`connections`] (seats, pool, protocol) → the
//! driver. What happened comes back up as plain values. [`worker`] turns the loop; [`threads`] is what
//! the outside sees. Nothing here decides what a result means.
//!
//! Beside the load, [`alone`] walks one user through a journey and waits for every answer: what a run does before and
//! after, the probe, `wavetank try`.

mod alone;
mod budget;
mod collector;
mod connections;
mod exchange;
mod failure;
mod flights;
mod gathering;
mod letters;
mod logs;
mod manner;
mod means;
mod meeting_places;
mod messages;
mod offered;
mod opening;
mod outbox;
mod pacer;
mod passing;
mod place;
mod pool;
mod preface;
mod probe;
mod recorder;
mod reopening;
mod requests;
mod resolved;
mod samples;
mod seat;
mod sessions;
mod slab;
mod sleeper;
mod sources;
mod talk;
mod threads;
mod users;
mod vacant;
mod worker;

pub use alone::{
    Alone, AloneLimits, Early, Handshake, Happened, Opened, SentRequest, StepFailure, Trouble, Walked,
    WholeAnswer, Why,
};
pub use collector::{Collector, Merged};
pub use means::Means;
pub use messages::{Change, Command, EndOfRun, LogLine, Message, Sample, SealedInterval, Slow, Times};
pub use place::Place;
pub use probe::{Probe, ProbeAnswer, ProbeFailure};
pub use sources::SourcePorts;
pub use threads::{LoadThreads, run_here};
