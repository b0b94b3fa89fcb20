//! A whole cluster on one machine: hosts are namespaces, links are virtual, servers are real.
//!
//! **Everything of a lab dies with its processes.** Nothing is created in the machine's own namespaces: a *keeper*
//! process lives in a network namespace that is the lab's switch, and every host of the lab is a *host* process, PID 1
//! of its own PID namespace, killed by the kernel when the keeper dies. With the processes go namespaces, links, filter
//! tables and mounts. What remains are files: the lab's folder and its control groups, which bear the lab's [`Mark`].
//! Namespaces are entered by executing our own program again (`inner`), since a process of several threads cannot.

mod answer;
mod bearer;
mod client;
pub mod crash;
mod entrance;
mod errand;
pub mod fault;
mod folder;
mod host;
mod inner;
mod keeper;
mod line;
mod lock;
mod log_marks;
mod logs;
mod mark;
pub mod net;
mod order;
mod refusal;
mod routing;
pub mod service;
mod spaces;
mod state;
mod status;
mod sweep;
mod takedown;
mod trial;
mod up;
mod visit;

pub use bearer::Bearer;
pub use client::Client;
pub use entrance::Entrance;
pub use folder::{LabFolder, LabsFolder};
pub use inner::inner;
pub use log_marks::{LogMarks, LogPart, LogParts};
pub use logs::{LogFile, logs};
pub use mark::Mark;
pub use order::Order;
pub use state::{HostState, LabState, Phase, is_kept, wait_for_end};
pub use status::{HostStatus, LabStatus, versioned};
pub use takedown::down;
pub use up::{check, check_deeds, privileged, up};
pub use visit::visit;
