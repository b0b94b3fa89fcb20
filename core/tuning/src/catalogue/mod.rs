//! The catalogue: every kernel setting that the program judges, in tables.

mod kernel;
mod network;
mod setting;
mod tcp;

pub use setting::{Scope, Setting, Unit};

use setting::{Rule, Test};

/// Documentation of the kernel.
const IP_SYSCTL: &str = "Linux: networking/ip-sysctl.rst";
const NET_SYSCTL: &str = "Linux: admin-guide/sysctl/net.rst";
const FS_SYSCTL: &str = "Linux: admin-guide/sysctl/fs.rst";
const VM_SYSCTL: &str = "Linux: admin-guide/sysctl/vm.rst";
const KERNEL_SYSCTL: &str = "Linux: admin-guide/sysctl/kernel.rst";
const CONNTRACK: &str = "Linux: networking/nf_conntrack-sysctl.rst";
/// The greatest number of a signed 32-bit variable.
const INT_MAX: u64 = 2_147_483_647;

/// Returns all settings.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    network::SETTINGS.iter().chain(tcp::SETTINGS).chain(kernel::SETTINGS)
}

/// Finds a setting by its key, with dots.
pub fn find_setting(key: &str) -> Option<&'static Setting> {
    settings().find(|setting| setting.key == key)
}
