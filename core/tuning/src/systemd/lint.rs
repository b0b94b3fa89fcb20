//! Judges the lines of units.

use super::{UnitLine, service_rules};
use crate::{Finding, Judgement, LintContext, Verdict};

const NR_OPEN: u64 = 1_048_576;
const SOURCE: &str = "systemd.exec(5), systemd.resource-control(5)";
/// Limits of systemd.exec(5).
const LIMITS: [&str; 16] = [
    "LimitCPU",
    "LimitFSIZE",
    "LimitDATA",
    "LimitSTACK",
    "LimitCORE",
    "LimitRSS",
    "LimitNOFILE",
    "LimitAS",
    "LimitNPROC",
    "LimitMEMLOCK",
    "LimitLOCKS",
    "LimitSIGPENDING",
    "LimitMSGQUEUE",
    "LimitNICE",
    "LimitRTPRIO",
    "LimitRTTIME",
];

/// Judges all lines about limits and control groups; others are not judged.
pub(crate) fn lint(lines: &[UnitLine], context: &LintContext) -> Vec<Finding> {
    let judged = lines.iter().filter_map(|line| {
        let judged = judge(line, context)?;
        Some(judged.from(SOURCE).at(&line.place, &line.key))
    });
    judged.chain(service_rules::waits_for_fork(lines)).collect()
}

fn judge(line: &UnitLine, context: &LintContext) -> Option<Judgement> {
    if line.key.to_ascii_lowercase().starts_with("limit") {
        return Some(limit(line, context));
    }
    match line.key.as_str() {
        "TasksMax" => {
            let most: u64 = line.value.parse().ok()?;
            (most < 512).then(|| {
                let sentence = format!("the unit may have {most} threads and processes only");
                Judgement::new(Verdict::TooLarge, sentence, "write TasksMax=infinity for a server under test")
            })
        }
        "CPUQuota" if !line.value.ends_with('%') && !line.value.is_empty() => {
            let sentence = format!("`{}` is not a share of a CPU, so systemd ignores the line", line.value);
            Some(Judgement::new(
                Verdict::Rejected,
                sentence,
                "write a percentage: 50% is half a CPU, 200% two",
            ))
        }
        "CPUQuota" => {
            let sentence = format!("the kernel stops the unit when it has used {} of a CPU", line.value);
            Some(Judgement::new(Verdict::Conflict, sentence, "remove the line on hosts under test"))
        }
        "MemoryLimit" | "CPUShares" | "BlockIOWeight" => {
            let sentence = format!("{} is of control groups version 1", line.key);
            let hint = "write MemoryMax=, CPUWeight= or IOWeight=";
            Some(Judgement::new(Verdict::Obsolete, sentence, hint))
        }
        _ => service_rules::judge(line),
    }
}

fn limit(line: &UnitLine, context: &LintContext) -> Judgement {
    if !LIMITS.contains(&line.key.as_str()) {
        let near = wavetank_units::did_you_mean(&line.key, LIMITS);
        let near = near.or_else(|| LIMITS.into_iter().find(|own| own.eq_ignore_ascii_case(&line.key)));
        let hint =
            near.map_or_else(|| "see systemd.exec(5)".to_owned(), |near| format!("did you mean {near}=?"));
        let sentence = format!("systemd has no `{}=` and ignores the line", line.key);
        return Judgement::new(Verdict::Misspelt, sentence, hint);
    }
    if line.section != "Service" && !matches!(line.section.as_str(), "Socket" | "Mount" | "Swap") {
        let sentence =
            format!("{}= belongs to [Service]; in [{}] systemd ignores it", line.key, line.section);
        return Judgement::new(Verdict::Syntax, sentence, "move the line below [Service]");
    }
    if line.key == "LimitNPROC" && line.value.parse().is_ok_and(|most: u64| most < 512) {
        let sentence = format!("the user of the service may have {} processes and threads only", line.value);
        return Judgement::new(Verdict::Lowers, sentence, "remove the line, and limit the unit by TasksMax=");
    }
    if line.key != "LimitNOFILE" {
        return Judgement::new(Verdict::Keep, "the limit applies to the unit", "");
    }
    let most = context.nr_open.unwrap_or(NR_OPEN);
    let parts = line.value.split(':').map(|part| match part.trim() {
        "infinity" => Some(None),
        number => number.parse::<u64>().ok().map(Some),
    });
    let Some(parts) = parts.collect::<Option<Vec<Option<u64>>>>().filter(|parts| parts.len() <= 2) else {
        let sentence = format!("`{}` is not a number of files", line.value);
        return Judgement::new(Verdict::Rejected, sentence, "write a plain number, or SOFT:HARD");
    };
    if let Some(above) = parts.iter().flatten().find(|number| **number > most) {
        let sentence = format!("{above} is above fs.nr_open ({most}), which caps it");
        return Judgement::new(
            Verdict::Capped,
            sentence,
            "raise fs.nr_open first, or write at most its value",
        );
    }
    if let [Some(soft), Some(hard)] = parts.as_slice()
        && soft > hard
    {
        let sentence = format!("the soft limit {soft} is above the hard one, {hard}");
        return Judgement::new(
            Verdict::Rejected,
            sentence,
            "write SOFT:HARD with a soft limit up to the hard one",
        );
    }
    if parts.iter().any(Option::is_none) {
        let sentence = "infinity is fs.nr_open, which may be a billion: programs that size tables by it, or close \
                        every file, take its time and memory";
        return Judgement::new(Verdict::TooLarge, sentence, "write a number, such as 1048576");
    }
    let sentence = "it is the right way to raise the open files of a service";
    Judgement::new(
        Verdict::Keep,
        sentence,
        "run systemctl daemon-reload, restart the unit, read /proc/PID/limits",
    )
}
