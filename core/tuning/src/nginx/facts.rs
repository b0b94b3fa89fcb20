//! [`Facts`]: what rules know about a whole configuration.

use super::{Directive, value};
use crate::LintContext;

/// Where the statements come from.
pub(super) const SOURCE: &str = "nginx.org: documentation and CHANGES";

/// What rules know about the whole configuration.
pub(super) struct Facts<'a> {
    pub(super) context: &'a LintContext,
    /// Workers, if their number is in the file or equals that of the CPUs.
    pub(super) workers: Option<u64>,
    pub(super) worker_connections: Option<u64>,
    pub(super) rlimit_nofile: Option<u64>,
    /// `max=` of `open_file_cache`.
    pub(super) cached_files: Option<u64>,
    /// Whether any `listen` has `reuseport`.
    pub(super) has_reuseport: bool,
    /// Whether a module with `echo` is loaded.
    pub(super) has_echo: bool,
    /// Whether `proxy_http_version 1.1` is set anywhere.
    pub(super) has_http11: bool,
}

impl<'a> Facts<'a> {
    /// Collects the facts.
    pub(super) fn of(directives: &[Directive], context: &'a LintContext) -> Self {
        let mut facts = Self {
            context,
            workers: None,
            worker_connections: None,
            rlimit_nofile: None,
            cached_files: None,
            has_reuseport: false,
            has_echo: false,
            has_http11: false,
        };
        facts.add(directives);
        facts
    }

    fn add(&mut self, directives: &[Directive]) {
        for directive in directives {
            let first = directive.arg(0);
            match directive.name.as_str() {
                "worker_processes" if first == "auto" => self.workers = self.context.cpus,
                "worker_processes" => self.workers = value::number(first),
                "worker_connections" => self.worker_connections = value::number(first),
                "worker_rlimit_nofile" => self.rlimit_nofile = value::number(first),
                "open_file_cache" => {
                    let most = directive.args.iter().find_map(|own| own.text.strip_prefix("max="));
                    self.cached_files = most.and_then(value::number);
                }
                "listen" => self.has_reuseport |= directive.args.iter().any(|own| own.text == "reuseport"),
                "load_module" => self.has_echo |= first.contains("echo"),
                "proxy_http_version" => self.has_http11 |= first == "1.1",
                _ => {}
            }
            self.add(directive.children());
        }
    }
}
