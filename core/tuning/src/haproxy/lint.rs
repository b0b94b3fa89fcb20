//! Judges a configuration of `HAProxy`.

use super::facts::Facts;
use super::{HaproxyLine, global_rules, names, proxy_rules, whole_file};
use crate::{Finding, Judgement, LintContext, Place, Verdict};

const SOURCE: &str = "HAProxy: doc/configuration.txt and CHANGELOG";

/// Judges all lines.
pub(crate) fn lint(lines: &[HaproxyLine], context: &LintContext) -> Vec<Finding> {
    let global = |name: &str| {
        let mut own = lines.iter().filter(|line| line.section == "global");
        own.find(|line| line.term(0) == name).and_then(|line| line.term(1).parse().ok())
    };
    let facts = Facts {
        context,
        maxconn: global("maxconn"),
        fd_hard_limit: global("fd-hard-limit"),
        has_thread_groups: lines.iter().any(|line| line.term(0) == "thread-groups"),
        logs_errors_only: lines
            .iter()
            .any(|line| line.term(0) == "option" && line.term(1).starts_with("dontlog-normal")),
    };
    let judged = lines.iter().filter_map(|line| {
        // A misspelt word is no setting of which more can be said.
        let judged = names::judge(line)
            .or_else(|| global_rules::judge(line, &facts))
            .or_else(|| proxy_rules::judge(line, &facts))?;
        Some(judged.from(SOURCE).at(&line.place, &setting(line)))
    });
    let mut findings: Vec<Finding> = judged.collect();
    findings.extend(without_timeouts(lines));
    findings.extend(whole_file::lint(lines).into_iter().map(|one| Finding { source: SOURCE, ..one }));
    findings
}

/// Names the setting: one term, or two if the first one is general.
fn setting(line: &HaproxyLine) -> String {
    match line.term(0) {
        "timeout" | "stats" | "option" | "no" => format!("{} {}", line.term(0), line.term(1)),
        first => first.to_owned(),
    }
}

/// Returns the ports of all `bind`, with their places.
pub(crate) fn bind_ports(lines: &[HaproxyLine]) -> Vec<(u16, Place)> {
    let binds = lines.iter().filter(|line| line.term(0) == "bind");
    binds
        .flat_map(|line| line.term(1).split(',').map(move |address| (address, line)))
        .filter_map(|(address, line)| {
            let port = address.rsplit_once(':')?.1.split('-').next()?;
            Some((port.parse().ok()?, line.place.clone()))
        })
        .collect()
}

/// A proxy without a timeout keeps dead connections forever.
fn without_timeouts(lines: &[HaproxyLine]) -> Vec<Finding> {
    let has = |name: &str, number: usize| {
        lines.iter().any(|line| {
            line.term(0) == "timeout"
                && line.term(1) == name
                && (line.section == "defaults" || line.section_number == number)
        })
    };
    let mut findings = Vec::new();
    for line in lines {
        let needed: &[&str] = match line.term(0) {
            "frontend" => &["client"],
            "backend" => &["connect", "server"],
            "listen" => &["client", "connect", "server"],
            _ => continue,
        };
        let Some(missing) = needed.iter().find(|name| !has(name, line.section_number)) else { continue };
        let sentence = format!("without timeout {missing}, dead connections stay forever");
        let hint = format!("add timeout {missing} 60s here or to defaults");
        let judged = Judgement::new(Verdict::Conflict, sentence, hint);
        findings.push(judged.from(SOURCE).at(&line.place, line.term(0)));
    }
    findings
}
