//! [`FactWords`]: what the run was made with.

/// What the run was made with.
pub(crate) struct FactWords {
    pub(crate) command: &'static str,
    pub(crate) seed: &'static str,
    pub(crate) plan_hash: &'static str,
    pub(crate) run_id: &'static str,
    pub(crate) version: &'static str,
    pub(crate) started: &'static str,
    pub(crate) window: &'static str,
    pub(crate) host: &'static str,
    pub(crate) host_name: &'static str,
    pub(crate) kernel: &'static str,
    pub(crate) cpu: &'static str,
    pub(crate) memory: &'static str,
    pub(crate) files: &'static str,
    pub(crate) ports: &'static str,
    pub(crate) addresses: &'static str,
    pub(crate) engine_why: &'static str,
    pub(crate) probe: &'static str,
    pub(crate) no_answer: &'static str,
    pub(crate) targets: &'static str,
    pub(crate) sources: &'static str,
    pub(crate) timeout: &'static str,
    /// Of a request, of a connection, of what is open after the load.
    pub(crate) timeouts: fn([&str; 3]) -> String,
    pub(crate) tags: &'static str,
    pub(crate) repeat_hint: &'static str,
}
