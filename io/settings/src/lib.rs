//! Reads and changes settings of this host.
//!
//! `core/tuning` knows what to read, what is wrong and what to write. Here are the files: under a
//! root folder, which is `/` except in tests, and in the network of any process.

mod apply;
mod error;
mod journal_file;
mod read;
mod undo;
mod write;

pub use apply::{AppliedChange, ApplyStep, apply};
pub use error::SettingsError;
pub use journal_file::JournalFile;
pub use read::{kernel_keys, read_snapshot, read_snapshot_of_process};
pub use undo::{UndoneChange, undo};
