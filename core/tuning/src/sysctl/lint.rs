//! Judges the lines of files of sysctl.

use std::collections::BTreeMap;

use wavetank_units::did_you_mean;

use super::{SysctlLine, file_rules};
use crate::catalogue::{find_setting, settings};
use crate::typo::typo_of;
use crate::{Finding, Judgement, LintContext, Verdict};

const SOURCE: &str = "Linux: networking/ip-sysctl.rst, admin-guide/sysctl";
/// The first parts of keys.
const AREAS: [&str; 9] = ["abi", "crypto", "debug", "dev", "fs", "kernel", "net", "sunrpc", "vm"];
/// Other areas of real systems, which are never judged.
const OTHER_AREAS: [&str; 4] = ["user", "fscache", "xen", "lnet"];

/// Judges all lines.
pub(crate) fn lint(lines: &[SysctlLine], context: &LintContext) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        lines.iter().map(|line| judge(line, context).at(&line.place, &line.key)).collect();
    findings.extend(repeated(lines));
    findings.extend(untabled(lines));
    findings
}

fn judge(line: &SysctlLine, context: &LintContext) -> Judgement {
    if let Some(judged) = file_rules::judge(&line.key, &line.value) {
        return judged.from(SOURCE);
    }
    if let Some(setting) = find_setting(&line.key) {
        return setting.judge(&line.value, context);
    }
    let area = line.key.split('.').next().unwrap_or_default();
    let known = || settings().map(|setting| setting.key);
    if context.kernel_keys.contains(&line.key) || line.key.contains(['*', '?', '[']) {
        return Judgement::new(Verdict::Keep, "the kernel has this setting; no rule judges it", "");
    }
    if !AREAS.contains(&area) && !OTHER_AREAS.contains(&area) {
        let hint = near(&line.key, area).map_or_else(
            || "correct the name; sysctl -a lists all".to_owned(),
            |near| format!("did you mean {near}?"),
        );
        let sentence = format!("no kernel has `{}`: settings never start with `{area}`", line.key);
        return Judgement::new(Verdict::Misspelt, sentence, hint);
    }
    let keys = context.kernel_keys.iter().map(String::as_str);
    if let Some(near) = typo_of(&line.key, known().chain(keys)).filter(|_| !is_of_interface(&line.key)) {
        let sentence = format!("no setting is called `{}`", line.key);
        return Judgement::new(Verdict::Misspelt, sentence, format!("did you mean {near}?"));
    }
    Judgement::new(Verdict::Keep, "no rule judges this setting", "")
}

/// Whether the key has the name of an interface in it, which is no part of a spelling.
fn is_of_interface(key: &str) -> bool {
    [".conf.", ".neigh.", "dev.raid", "dev.cdrom"].iter().any(|part| key.contains(part))
}

/// Returns the key with another first part.
fn near(key: &str, area: &str) -> Option<String> {
    let near = did_you_mean(area, AREAS)?;
    Some(format!("{near}{}", &key[area.len()..]))
}

/// A key that is set twice: the last line wins.
fn repeated(lines: &[SysctlLine]) -> Vec<Finding> {
    let mut last: BTreeMap<&str, &SysctlLine> = BTreeMap::new();
    let mut findings = Vec::new();
    for line in lines {
        let same = match line.key.as_str() {
            "net.nf_conntrack_max" => "net.netfilter.nf_conntrack_max",
            key => key,
        };
        let Some(before) = last.insert(same, line) else { continue };
        if before.value == line.value {
            continue;
        }
        let sentence = format!(
            "{}:{} sets it again to `{}`, so this line has no effect",
            line.place.file, line.place.line, line.value
        );
        let judged = Judgement::new(Verdict::Repeated, sentence, "keep one of the two lines");
        findings.push(judged.at(&before.place, &before.key));
    }
    findings
}

/// More tracked connections without a larger table.
fn untabled(lines: &[SysctlLine]) -> Option<Finding> {
    let is_max = |line: &&SysctlLine| line.key.ends_with("nf_conntrack_max");
    let has_table = lines.iter().any(|line| line.key.ends_with("nf_conntrack_buckets"));
    let line = lines.iter().rfind(is_max).filter(|_| !has_table)?;
    let most: u64 = line.value.parse().ok().filter(|most| *most > 262_144)?;
    let sentence = format!("{most} tracked connections share a table of the default size, in long chains");
    let hint = format!(
        "set net.netfilter.nf_conntrack_buckets = {} as well, or do not track the ports under test (notrack)",
        most / 2
    );
    Some(Judgement::new(Verdict::Conflict, sentence, hint).at(&line.place, &line.key))
}
