//! The runs directory and its crash safety.
//!
//! An archive is a folder that only grows: one line a sealed second, and at the very end `run.json`, whose
//! presence *is* "finished". Whatever stops the process, everything sealed before can be read again. Writing
//! happens on the control thread; load threads never wait for a disk, and a disk that refuses is reported
//! once and stops nothing.

mod archive_writer;
mod calibration_file;
mod cumulative;
mod line_file;
mod opened_run;
mod over_time;
mod runs_dir;
mod store_problem;
mod stretches;

pub use archive_writer::{ArchiveWriter, RunMeta};
pub use calibration_file::CalibrationFile;
pub use opened_run::{OpenedRun, ReadReport, Sealed, open};
pub use over_time::HostSeries;
pub use runs_dir::{RunEntry, RunsDir, new_id};
pub use store_problem::StoreProblem;
