//! The topology file as it was read, with the user's names and patterns. Nothing is resolved yet.

mod file_fault;
mod file_host;
mod file_interface;
mod file_lab;
mod file_server;
mod file_service;

pub(crate) use file_fault::{FileFault, FileFaultKind};
pub(crate) use file_host::{FileHost, FileRoute, FileVirtual};
pub(crate) use file_interface::FileInterface;
pub(crate) use file_lab::{FileLab, FileNetwork};
pub(crate) use file_server::FileServer;
pub(crate) use file_service::FileService;
