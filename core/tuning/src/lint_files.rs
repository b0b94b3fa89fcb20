//! [`lint_files`]: judges files of several kinds, and what they say together.

use crate::nginx::Includes;
use crate::sysctl::SysctlLine;
use crate::{FileKind, Finding, Judgement, LintContext, Place, Verdict, haproxy, limits, nginx, script};
use crate::{sysctl, systemd};

/// One file to judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintFile {
    /// Its name, as the user gave it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its syntax.
    pub kind: FileKind,
}

/// Judges all files, in the order in which the host reads them. Findings are in the order of files
/// and lines. `includes` returns what a file of nginx includes: the file's name and the pattern.
pub fn lint_files(
    files: &[LintFile],
    context: &LintContext,
    includes: &dyn Fn(&str, &str) -> Vec<nginx::IncludedFile>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut settings: Vec<SysctlLine> = Vec::new();
    for file in files.iter().filter(|file| file.kind == FileKind::Sysctl) {
        let (lines, wrong) = sysctl::parse_sysctl(&file.name, &file.text);
        settings.extend(lines);
        findings.extend(wrong);
    }
    // What files set replaces what the host has now.
    let context = with_settings(context, &settings);
    findings.extend(sysctl::lint(&settings, &context));
    let mut ports: Vec<(u16, Place)> = Vec::new();
    for file in files {
        let (name, text) = (file.name.as_str(), file.text.as_str());
        match file.kind {
            FileKind::Sysctl => {}
            FileKind::Limits => {
                let (lines, wrong) = limits::parse_limits(name, text);
                findings.extend(wrong);
                findings.extend(limits::lint(&lines, &context));
            }
            FileKind::Systemd => {
                let (lines, wrong) = systemd::parse_unit(name, text);
                findings.extend(wrong);
                findings.extend(systemd::lint(&lines, &context));
            }
            FileKind::Haproxy => {
                let (lines, wrong) = haproxy::parse_haproxy(name, text);
                findings.extend(wrong);
                findings.extend(haproxy::lint(&lines, &context));
                ports.extend(haproxy::bind_ports(&lines));
            }
            FileKind::Nginx => {
                let included: Includes<'_> = &|pattern| includes(name, pattern);
                let (directives, wrong) = nginx::read(name, text, included);
                findings.extend(wrong);
                findings.extend(nginx::lint(&directives, &context));
                ports.extend(nginx::listen_ports(&directives));
            }
            FileKind::Script => findings.extend(script::lint(name, text, &context)),
        }
    }
    findings.extend(ports_in_range(&settings, &ports));
    let order = |finding: &Finding| {
        let file = files.iter().position(|file| file.name == finding.file).unwrap_or(files.len());
        (file, finding.file.clone(), finding.line, finding.column, finding.verdict)
    };
    findings.sort_by_cached_key(order);
    findings
}

fn with_settings(context: &LintContext, settings: &[SysctlLine]) -> LintContext {
    let value = |key: &str| {
        settings.iter().rfind(|line| line.key == key).and_then(|line| line.value.parse::<u64>().ok())
    };
    LintContext {
        somaxconn: value("net.core.somaxconn").or(context.somaxconn),
        nr_open: value("fs.nr_open").or(context.nr_open),
        rmem_max: value("net.core.rmem_max").or(context.rmem_max),
        ..context.clone()
    }
}

/// Ports of servers inside the range of outgoing connections, which may take them first.
fn ports_in_range(settings: &[SysctlLine], ports: &[(u16, Place)]) -> Vec<Finding> {
    let last = |key: &str| settings.iter().rfind(|line| line.key == key);
    let Some(range) = last("net.ipv4.ip_local_port_range") else { return Vec::new() };
    let numbers: Vec<u16> = range.value.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [first, end] = numbers[..] else { return Vec::new() };
    let reserved = last("net.ipv4.ip_local_reserved_ports").map_or("", |line| &line.value);
    let mut findings = Vec::new();
    let inside = |port: &u16| (first..=end).contains(port) && !is_reserved(reserved, *port);
    for (port, place) in ports.iter().filter(|(port, _)| inside(port)) {
        let sentence = format!(
            "an outgoing connection may hold port {port} when the server starts: {}:{} has the range {first} to {end}",
            range.place.file, range.place.line
        );
        let hint = format!("add {port} to net.ipv4.ip_local_reserved_ports");
        findings.push(Judgement::new(Verdict::Harmful, sentence, hint).at(place, &port.to_string()));
    }
    findings
}

/// Whether a list such as `8080,9000-9100` has `port`.
pub(crate) fn is_reserved(list: &str, port: u16) -> bool {
    list.split(',').any(|part| {
        let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        first.parse::<u16>().is_ok_and(|first| first <= port)
            && last.parse::<u16>().is_ok_and(|last| port <= last)
    })
}
