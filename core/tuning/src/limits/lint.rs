//! Judges the lines of `limits.conf`.

use super::{LimitLine, LimitType};
use crate::{Finding, Judgement, LintContext, Verdict};

/// The default of `fs.nr_open`.
const NR_OPEN: u64 = 1_048_576;
/// Users without sessions: distributions start their services by systemd.
const SERVICE_USERS: [&str; 15] = [
    "apache",
    "elasticsearch",
    "haproxy",
    "http",
    "memcache",
    "memcached",
    "mongod",
    "mongodb",
    "mysql",
    "nginx",
    "postgres",
    "redis",
    "tomcat",
    "varnish",
    "www-data",
];
const SOURCE: &str = "limits.conf(5), setrlimit(2)";

/// Judges all lines.
pub(crate) fn lint(lines: &[LimitLine], context: &LintContext) -> Vec<Finding> {
    let mut findings = Vec::new();
    for line in lines {
        let setting = format!("{} {}", line.domain, line.item);
        findings.push(judge(line, context).from(SOURCE).at(&line.place, &setting));
        if let Some(judged) = softer(line, lines) {
            findings.push(judged.from(SOURCE).at(&line.place, &setting));
        }
    }
    let star = lines.iter().find(|line| line.item == "nofile" && line.domain == "*");
    let root = lines.iter().any(|line| line.item == "nofile" && line.domain == "root");
    if let Some(line) = star.filter(|_| !root) {
        let judged = Judgement::new(
            Verdict::Keep,
            "`*` does not match root: sessions of root keep their limit",
            "add lines for root if root runs the load",
        );
        findings.push(judged.from(SOURCE).at(&line.place, "* nofile"));
    }
    findings
}

fn judge(line: &LimitLine, context: &LintContext) -> Judgement {
    let unlimited = matches!(line.value.as_str(), "unlimited" | "infinity" | "-1");
    if !unlimited && line.value.parse::<i64>().is_err() {
        let sentence = format!("`{}` is not a number, so PAM skips the line", line.value);
        return Judgement::new(Verdict::Rejected, sentence, "write a plain number, or unlimited");
    }
    if line.item != "nofile" {
        return Judgement::new(
            Verdict::Keep,
            "it applies to sessions of PAM, not to services of systemd",
            "",
        );
    }
    let most = context.nr_open.unwrap_or(NR_OPEN);
    let wanted = line.value.parse::<u64>().unwrap_or(u64::MAX);
    if wanted > most {
        let sentence = format!(
            "{} is above fs.nr_open ({most}), so setting it fails with EPERM and the session keeps its limit",
            line.value
        );
        let hint = "write at most fs.nr_open, or raise fs.nr_open first";
        return Judgement::new(Verdict::Rejected, sentence, hint);
    }
    if SERVICE_USERS.contains(&line.domain.as_str()) {
        let sentence = format!(
            "systemd starts the services of {} without a session of PAM, so their limit stays",
            line.domain
        );
        let hint = "set LimitNOFILE= in a drop-in of the unit and read /proc/PID/limits";
        return Judgement::new(Verdict::NoEffect, sentence, hint);
    }
    let sentence = "it applies to sessions of PAM only; services of systemd need LimitNOFILE=";
    Judgement::new(
        Verdict::Keep,
        sentence,
        "set LimitNOFILE= in a drop-in of the unit and read /proc/PID/limits",
    )
}

/// A soft limit above the hard one.
fn softer(line: &LimitLine, lines: &[LimitLine]) -> Option<Judgement> {
    let soft: u64 = line.value.parse().ok().filter(|_| line.kind == LimitType::Soft)?;
    let is_hard = |other: &&LimitLine| {
        other.kind == LimitType::Hard && other.domain == line.domain && other.item == line.item
    };
    let hard: u64 = lines.iter().rfind(is_hard)?.value.parse().ok()?;
    (soft > hard).then(|| {
        let sentence = format!("the soft limit {soft} is above the hard one, {hard}");
        Judgement::new(Verdict::Conflict, sentence, "raise the hard limit, or lower the soft one")
    })
}
