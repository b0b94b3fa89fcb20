//! What the tests of the whole program stand on: scripted targets on a known schedule, the programs
//! under test as child processes, closed forms of what must be measured, and a list of skips.
//!
//! The scripted target shares no code with `wavetank-wire`, `-driver` or `-target`: a mistake in
//! theirs must not cancel out against the same mistake here. It is a blocking thread per connection,
//! which is exact and plain, and good for some hundreds of connections.

pub mod act;
pub mod browser;
pub mod client;
pub mod clock;
mod conversation;
pub mod mixture;
pub mod netns;
pub mod nginx;
pub mod place;
pub mod program;
pub mod reading;
pub mod result;
pub mod script;
pub mod serve;
pub mod skip;
pub mod steady;
pub mod target;
pub mod trial;
pub mod truth;
pub mod witness;

pub use act::{Act, answer, answer_with};
pub use browser::Browser;
pub use client::Client;
pub use clock::{Stamp, poll_until};
pub use mixture::Mixture;
pub use nginx::Nginx;
pub use place::{Place, copy_folder, free_port};
pub use program::{Outcome, Program, Running, Signal};
pub use reading::Seen;
pub use result::RunResult;
pub use script::{Accept, Script};
pub use serve::Serve;
pub use skip::skip;
pub use steady::{OffTime, expect_time, steady};
pub use target::Target;
pub use trial::Trial;
pub use truth::Truth;
pub use witness::Witness;
