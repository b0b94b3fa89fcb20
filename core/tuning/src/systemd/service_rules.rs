//! Rules on the lines of units that are no limits: misspelt keys, values that systemd ignores, and
//! services that cannot work as written.

use super::UnitLine;
use crate::finding::found;
use crate::typo::typo_of;
use crate::{Judgement, Verdict};

/// Frequent keys of `[Service]`. A key that is near one of these is taken for a misspelt one.
const KEYS: &[&str] = &[
    "AmbientCapabilities",
    "BusName",
    "CapabilityBoundingSet",
    "CPUAccounting",
    "CPUAffinity",
    "CPUSchedulingPolicy",
    "CPUSchedulingPriority",
    "CPUWeight",
    "Delegate",
    "DynamicUser",
    "Environment",
    "EnvironmentFile",
    "ExecReload",
    "ExecStart",
    "ExecStartPost",
    "ExecStartPre",
    "ExecStop",
    "ExecStopPost",
    "GuessMainPID",
    "IOAccounting",
    "IOSchedulingClass",
    "IOSchedulingPriority",
    "IOWeight",
    "KillMode",
    "KillSignal",
    "LockPersonality",
    "MemoryAccounting",
    "MemoryDenyWriteExecute",
    "MemoryHigh",
    "MemoryLow",
    "MemoryMax",
    "MemorySwapMax",
    "NoNewPrivileges",
    "NotifyAccess",
    "NUMAPolicy",
    "OOMPolicy",
    "OOMScoreAdjust",
    "PassEnvironment",
    "PIDFile",
    "PrivateDevices",
    "PrivateNetwork",
    "PrivateTmp",
    "ProtectHome",
    "ProtectSystem",
    "ReadWritePaths",
    "RemainAfterExit",
    "RestartSec",
    "RestrictAddressFamilies",
    "RuntimeDirectory",
    "RuntimeMaxSec",
    "StandardError",
    "StandardInput",
    "StandardOutput",
    "StateDirectory",
    "SuccessExitStatus",
    "SupplementaryGroups",
    "SyslogIdentifier",
    "SystemCallFilter",
    "TasksAccounting",
    "TasksMax",
    "TimeoutSec",
    "TimeoutStartSec",
    "TimeoutStopSec",
    "TimerSlackNSec",
    "WatchdogSec",
    "WorkingDirectory",
];
const TYPES: [&str; 8] = ["simple", "exec", "forking", "oneshot", "dbus", "notify", "notify-reload", "idle"];
const RESTARTS: [&str; 7] =
    ["no", "always", "on-success", "on-failure", "on-abnormal", "on-abort", "on-watchdog"];

/// Judges one line; `None` if no rule is about it.
pub(super) fn judge(line: &UnitLine) -> Option<Judgement> {
    if line.section != "Service" {
        return None;
    }
    let value = line.value.as_str();
    match line.key.as_str() {
        "Type" => one_of(value, &TYPES),
        "Restart" => one_of(value, &RESTARTS),
        "Nice" => within(value, (-20, 19)),
        "OOMScoreAdjust" => within(value, (-1_000, 1_000)),
        "PrivateNetwork" if is_true(value) => found(
            Verdict::Harmful,
            "the service has a loopback interface only, so no client reaches it",
            "remove the line, unless a socket unit passes connections to it",
        ),
        key if !KEYS.contains(&key) => {
            let near = typo_of(key, KEYS.iter().copied())?;
            let sentence = format!("systemd has no `{key}=` and ignores the line");
            found(Verdict::Misspelt, sentence, format!("did you mean {near}=?"))
        }
        _ => None,
    }
}

fn is_true(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "yes" | "true" | "on" | "1")
}

fn one_of(value: &str, known: &[&str]) -> Option<Judgement> {
    // An empty value removes what earlier files have set.
    if value.is_empty() || known.contains(&value) {
        return None;
    }
    let sentence = format!("`{value}` is no value of it, so systemd ignores the line");
    found(Verdict::Rejected, sentence, format!("write one of {}", known.join(", ")))
}

fn within(value: &str, (least, most): (i64, i64)) -> Option<Judgement> {
    let number: i64 = value.parse().ok()?;
    (!(least..=most).contains(&number)).then(|| {
        let sentence = format!("{number} is not within {least} to {most}, so systemd ignores the line");
        Judgement::new(Verdict::Rejected, sentence, format!("write {least} to {most}"))
    })
}

/// A program that stays in the foreground and a unit that waits for it to leave: the start times
/// out.
pub(super) fn waits_for_fork(lines: &[UnitLine]) -> Option<crate::Finding> {
    let line = lines.iter().find(|line| line.key == "Type" && line.value == "forking")?;
    let starts = lines.iter().find(|line| {
        let is_foreground = [" -db", "daemon off", "--nodaemon", "-DFOREGROUND"];
        line.key == "ExecStart" && is_foreground.iter().any(|part| line.value.contains(part))
    })?;
    let sentence = format!(
        "the program of line {} stays in the foreground, and systemd waits for it to fork until the start times out",
        starts.place.line
    );
    let judged = Judgement::new(Verdict::Conflict, sentence, "write Type=simple or Type=notify");
    Some(judged.at(&line.place, "Type"))
}
