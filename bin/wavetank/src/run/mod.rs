//! The parts of a run that the commands share.

#[cfg(target_os = "linux")]
mod agent_host;
#[cfg(target_os = "linux")]
mod beside;
#[cfg(target_os = "linux")]
mod bounds;
#[cfg(target_os = "linux")]
mod certificate;
#[cfg(target_os = "linux")]
mod conduct;
#[cfg(target_os = "linux")]
mod execute;
#[cfg(target_os = "linux")]
mod hands;
#[cfg(target_os = "linux")]
mod host;
mod host_rows;
mod html_page;
mod judge;
#[cfg(target_os = "linux")]
mod lab_run;
#[cfg(target_os = "linux")]
mod lookup;
#[cfg(target_os = "linux")]
mod memory;
pub(crate) mod out_file;
pub(crate) mod outcome;
pub(crate) mod output;
#[cfg(target_os = "linux")]
mod probing;
#[cfg(target_os = "linux")]
mod redaction;
#[cfg(target_os = "linux")]
mod renewing;
#[cfg(target_os = "linux")]
mod sample;
#[cfg(target_os = "linux")]
mod server_counts;
#[cfg(target_os = "linux")]
mod service_logs;
#[cfg(target_os = "linux")]
mod talk;
#[cfg(target_os = "linux")]
mod tls;

#[cfg(target_os = "linux")]
pub(crate) use beside::{LabServer, Looking, askable};
#[cfg(target_os = "linux")]
pub(crate) use bounds::{Bounds, Carrying, carry};
#[cfg(target_os = "linux")]
pub(crate) use certificate::certificate_lines;
#[cfg(target_os = "linux")]
pub(crate) use conduct::{Conducted, Conductor};
#[cfg(target_os = "linux")]
pub(crate) use execute::{Executed, Execution, execute, host_cannot};
#[cfg(target_os = "linux")]
pub(crate) use hands::{begin_deed, end_deed};
#[cfg(target_os = "linux")]
pub(crate) use host::Host;
pub(crate) use judge::{Told, judge};
#[cfg(target_os = "linux")]
pub(crate) use lab_run::{LabRun, first_load_host, lab_knows};
#[cfg(target_os = "linux")]
pub(crate) use lookup::{admit, lookup};
#[cfg(target_os = "linux")]
pub(crate) use probing::{Probed, cure, is_safe, probe};
#[cfg(target_os = "linux")]
pub(crate) use talk::{Talk, engine_line};
#[cfg(target_os = "linux")]
pub(crate) use tls::tls_client;
