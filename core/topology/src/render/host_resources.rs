//! [`HostResources`]: the resources of a service's host that the topology file does not contain.

/// The values from which sizes are computed, in addition to the file. They are read inside the
/// host, so they include its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostResources {
    /// CPUs on which a process of the host may run, at least 1.
    pub cpus: u32,
    /// Open-file limit of a process of the host (`RLIMIT_NOFILE`).
    pub files: u64,
    /// Absolute paths of the modules that nginx must load for Lua, in order. Empty if Lua is built
    /// in.
    pub lua_modules: Vec<String>,
}
