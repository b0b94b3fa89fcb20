//! The runs directory and its crash safety.
//!
//! An archive is a folder that only grows: one line for each sealed second, and finally `run.json`.
//! The presence of `run.json` means that the run is finished. However the process ends, everything
//! sealed before can be read again.
//!
//! The control thread does the writing, so load threads never wait for a disk. A disk error is
//! reported once and does not stop the run.

mod agent_files;
mod agent_lines;
mod agent_reader;
mod archive_error;
mod archive_gaps;
mod archive_ledger;
mod archive_settling;
mod archive_writer;
mod calibration_file;
mod contents;
mod cumulative;
mod file_access;
mod fleet_reader;
mod folder_name;
mod found_spool;
mod host_file_writer;
mod host_lines;
mod interval_span;
mod interval_windows;
mod line_digest;
mod line_file;
mod net_folder;
mod opened_run;
mod over_time;
mod pack;
mod prune;
mod read_ahead;
mod read_report;
mod replay_events;
mod run_entry;
mod run_lookup;
mod runs_dir;
mod search_entry;
mod search_folder;
mod search_marker;
mod spool;
mod spool_file;
mod store_problem;
mod summaries;

pub use archive_gaps::{ArchiveGaps, answered};
pub use archive_settling::{ArchiveSettling, MergedSpool, SettleProblem};
pub use archive_writer::{ArchiveWriter, RunMeta};
pub use calibration_file::CalibrationFile;
pub use fleet_reader::FLEET;
pub use folder_name::new_id;
pub use found_spool::FoundSpoolFile;
pub use line_digest::LineDigest;
pub use net_folder::NetFolder;
pub use opened_run::{OpenedRun, open};
pub use over_time::HostSeries;
pub use pack::{Packed, Unpacked, pack};
pub use prune::{PruneOptions, PrunePlan, Pruned, PrunedSearch};
pub use read_report::{AgentGap, ArchiveItem, ReadReport};
pub use run_entry::RunEntry;
pub use runs_dir::{Listing, PACK_SUFFIX, RunsDir};
pub use search_folder::SearchFolder;
pub use spool::{Spool, SpoolMeta};
pub use spool_file::{SpoolContent, SpoolFile};
pub use store_problem::{StoreProblem, os_error_text};
pub use summaries::{inspect, summarize};
