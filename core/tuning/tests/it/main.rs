//! All integration tests of this crate in one program.

mod change;
mod files;
mod haproxy;
mod host;
mod nginx;
mod script;
mod seeds;
mod stock;
mod support;
mod sysctl;
mod systemd;
