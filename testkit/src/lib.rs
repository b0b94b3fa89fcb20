//! Foundations of the tests of the whole program: scripted targets on a known schedule, the
//! programs under test as child processes, closed forms of the expected measurements, and a list of
//! skips.
//!
//! The scripted target shares no code with `wavetank-wire`, `-driver` or `-target`: a mistake in
//! those must not cancel out against the same mistake here. It uses a blocking thread per
//! connection, which is exact and simple, and suitable for some hundreds of connections.

mod acceptor;
pub mod browser;
pub mod client;
pub mod clock;
mod conversation;
mod foreign_load;
pub mod frame_server;
pub mod jitter_probe;
pub mod long;
pub mod message_server;
pub mod mixture;
pub mod naive_parser;
pub mod netns;
pub mod nginx;
pub mod program;
pub mod result;
pub mod retry_timing;
pub mod run_harness;
pub mod script;
pub mod script_action;
pub mod serve;
pub mod skip;
pub mod target;
pub mod test_dir;
pub mod truth;

pub use browser::Browser;
pub use client::Client;
pub use clock::{Stamp, poll_until};
pub use foreign_load::CpuTimes;
pub use frame_server::{FrameReply, FrameRequest, FrameServer, frame, frame_of_ok};
pub use jitter_probe::JitterProbe;
pub use long::{is_left_to_long_form, is_long};
pub use message_server::{MessageReply, MessageRequest, MessageServer, message_frame, text_frame};
pub use mixture::Mixture;
pub use naive_parser::ReceivedRequest;
pub use nginx::Nginx;
pub use program::{Outcome, Program, Running, Signal};
pub use result::RunResult;
pub use retry_timing::{TimingMismatch, expect_time, retry_timing, retry_timing_of};
pub use run_harness::RunHarness;
pub use script::{Accept, Script};
pub use script_action::{ScriptAction, answer, answer_with};
pub use serve::Serve;
pub use skip::skip;
pub use target::Target;
pub use test_dir::{TestDir, copy_folder, free_port, refusing_udp_socket};
pub use truth::Truth;
