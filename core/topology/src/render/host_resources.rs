//! [`HostResources`]: what the host of a service has, which the file does not say.

/// What sizes are computed from beside the file. All of it is read inside the host, whose limits are in it already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostResources {
    /// CPUs that a process there may run on, at least 1.
    pub cpus: u32,
    /// Files that a process there may open (`RLIMIT_NOFILE`).
    pub files: u64,
    /// Modules that nginx has to load for Lua, by their absolute paths, in order; none where it is built in.
    pub lua_modules: Vec<String>,
}
