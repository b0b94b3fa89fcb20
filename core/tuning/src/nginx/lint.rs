//! Judges a configuration of nginx.

use super::names::{OF_DATA, OF_EVENTS, OF_MAIN, is_known, known};
use super::{Directive, http_rules, proxy_rules, value};
use crate::typo::typo_of;
use crate::{Finding, Judgement, LintContext, Place, Verdict};

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

/// Judges all directives.
pub(crate) fn lint(directives: &[Directive], context: &LintContext) -> Vec<Finding> {
    let facts = Facts::of(directives, context);
    let mut findings = Vec::new();
    // A file below conf.d is read inside `http {}`.
    let is_main = directives.iter().any(|own| OF_MAIN.contains(&own.name.as_str()));
    visit(directives, if is_main { "main" } else { "http" }, &facts, &mut findings);
    proxy_rules::lint_upstreams(directives, &facts, &mut findings);
    findings
}

/// Returns the ports of all `listen`, with their places.
pub(crate) fn listen_ports(directives: &[Directive]) -> Vec<(u16, Place)> {
    let mut ports = Vec::new();
    for directive in directives {
        if directive.name == "listen" {
            let address = directive.arg(0);
            let port = address.rsplit_once(':').map_or(address, |(_, port)| port).parse();
            ports.extend(port.ok().map(|port| (port, directive.place.clone())));
        }
        ports.extend(listen_ports(directive.children()));
    }
    ports
}

impl<'a> Facts<'a> {
    fn of(directives: &[Directive], context: &'a LintContext) -> Self {
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

fn visit(directives: &[Directive], context: &str, facts: &Facts<'_>, findings: &mut Vec<Finding>) {
    for directive in directives {
        if let Some(judged) = unended(directive).or_else(|| misplaced(directive, context)) {
            findings.push(judged.at(&directive.place, &directive.name));
        }
        let judged = http_rules::judge(directive, facts)
            .or_else(|| proxy_rules::judge(directive, facts))
            .or_else(|| misspelt(directive));
        findings.extend(judged.map(|judged| judged.from(SOURCE).at(&directive.place, &directive.name)));
        if !OF_DATA.contains(&directive.name.as_str()) {
            visit(directive.children(), &directive.name, facts, findings);
        }
    }
}

/// A directive that swallowed the next one, because its semicolon is missing.
fn unended(directive: &Directive) -> Option<Judgement> {
    let own_line = directive.place.line;
    let next = directive
        .args
        .iter()
        .find(|argument| argument.line > own_line && !argument.quoted && is_known(&argument.text))?;
    let data = ["log_format", "add_header", "if", "map", "valid_referers", "server_name", "try_files"];
    if data.contains(&directive.name.as_str()) {
        return None;
    }
    let sentence = format!("`;` is missing, so `{}` in line {} is read as an argument", next.text, next.line);
    Some(Judgement::new(Verdict::Syntax, sentence, "end the line with `;` and run nginx -t"))
}

fn misplaced(directive: &Directive, context: &str) -> Option<Judgement> {
    let name = directive.name.as_str();
    let (block, is_wrong) = if OF_EVENTS.contains(&name) {
        ("inside events {}", context != "events")
    } else if OF_MAIN.contains(&name) {
        ("at the top level", context != "main")
    } else if name.starts_with("open_file_cache") || name == "sendfile" || name == "tcp_nopush" {
        ("inside http {}", context == "main")
    } else if ["keepalive_timeout", "keepalive_requests", "send_timeout", "access_log", "gzip", "server"]
        .contains(&name)
    {
        ("inside http {}", context == "main")
    } else {
        return None;
    };
    is_wrong.then(|| {
        let sentence = format!("nginx refuses `{name}` here: the directive is not allowed in this block");
        Judgement::new(Verdict::Rejected, sentence, format!("move it {block} and run nginx -t"))
    })
}

fn misspelt(directive: &Directive) -> Option<Judgement> {
    if is_known(&directive.name) {
        return None;
    }
    let near = typo_of(&directive.name, known())?;
    let sentence = format!("`{}` is not a directive of nginx", directive.name);
    Some(Judgement::new(Verdict::Misspelt, sentence, format!("did you mean {near}?")))
}
