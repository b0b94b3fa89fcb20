//! Units, quantities and texts that every other crate uses: times, rates, sizes, addresses, user
//! errors.

mod allow_target;
mod code;
mod error;
mod grpc_status;
mod ipv6_text;
mod nanos;
mod network;
mod number;
mod number_range;
mod percent;
pub mod portable_addresses;
mod ports;
pub mod quantity;
mod rate;
mod sanitize;
mod sentence;
mod source_range;
mod suggest;
mod unix_socket;

#[doc(hidden)]
pub use linkme;

pub use allow_target::AllowTarget;
pub use code::Code;
pub use error::{ExitCode, UserError};
pub use grpc_status::{GRPC_STATUS_NAMES, grpc_status_from_name, grpc_status_name, status_text};
pub use ipv6_text::{split_zone, with_brackets, without_zone};
pub use nanos::Nanos;
pub use network::{Network, address_from_number, address_number};
pub use number::Number;
pub use number_range::NumberRange;
pub use percent::percent_decoded;
pub use ports::Ports;
pub use rate::Rate;
pub use sanitize::{is_control_char, sanitize, sanitize_lines, shell_quoted};
#[doc(hidden)]
pub use sentence::registered_text;
pub use sentence::{SENTENCES, Sentence, SentenceSource};
pub use source_range::SourceRange;
pub use suggest::did_you_mean;
pub use unix_socket::{address_text, is_unix, parse_address, split_unix, unix_address, unix_host, unix_path};

/// Niceness of threads that show or export a run. Load threads that share a CPU with them run
/// first.
pub const WATCHER_NICENESS: i32 = 10;
