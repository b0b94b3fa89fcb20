//! Judges a configuration of nginx.

use super::facts::{Facts, SOURCE};
use super::names::{OF_DATA, OF_EVENTS, OF_MAIN, is_known, known};
use super::{Directive, http_rules, proxy_rules, value_rules};
use crate::typo::typo_of;
use crate::{Finding, Judgement, LintContext, Place, Verdict};

/// Judges all directives.
pub(crate) fn lint(directives: &[Directive], context: &LintContext) -> Vec<Finding> {
    let facts = Facts::of(directives, context);
    let mut findings = Vec::new();
    // A file below conf.d is read inside `http {}`.
    let is_main = directives.iter().any(|own| OF_MAIN.contains(&own.name.as_str()));
    visit(directives, if is_main { "main" } else { "http" }, &facts, &mut findings);
    proxy_rules::lint_upstreams(directives, &facts, &mut findings);
    let compared = value_rules::compare(directives).into_iter();
    findings.extend(compared.map(|(one, judged)| judged.from(SOURCE).at(&one.place, &one.name)));
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

fn visit(directives: &[Directive], context: &str, facts: &Facts<'_>, findings: &mut Vec<Finding>) {
    for directive in directives {
        if let Some(judged) = unended(directive).or_else(|| misplaced(directive, context)) {
            findings.push(judged.at(&directive.place, &directive.name));
        }
        let judged = value_rules::judge(directive)
            .or_else(|| http_rules::judge(directive, facts))
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

/// Frequent directives that belong into `http {}`.
const OF_HTTP: [&str; 8] = [
    "sendfile",
    "tcp_nopush",
    "keepalive_timeout",
    "keepalive_requests",
    "send_timeout",
    "access_log",
    "gzip",
    "server",
];

fn misplaced(directive: &Directive, context: &str) -> Option<Judgement> {
    let name = directive.name.as_str();
    let (block, is_wrong) = if OF_EVENTS.contains(&name) {
        ("inside events {}", context != "events")
    } else if OF_MAIN.contains(&name) {
        ("at the top level", context != "main")
    } else if name.starts_with("open_file_cache") || OF_HTTP.contains(&name) {
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
