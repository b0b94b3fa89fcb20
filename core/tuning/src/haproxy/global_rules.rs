//! Rules on processes, threads and limits.

use super::HaproxyLine;
use super::facts::Facts;
use crate::finding::found;
use crate::{Judgement, Verdict};
use wavetank_units::quantity::format_grouped;

/// The default of `fd-hard-limit`, and of `fs.nr_open`.
const FILES: u64 = 1_048_576;
/// Threads of one group.
const GROUP_THREADS: u64 = 64;

/// Judges one line; `None` if no rule is about it.
pub(super) fn judge(line: &HaproxyLine, facts: &Facts<'_>) -> Option<Judgement> {
    match (line.term(0), line.term(1)) {
        ("nbproc", _) => found(
            Verdict::Obsolete,
            "HAProxy 2.5 removed nbproc and refuses to start",
            "write nbthread, or nothing: the default is a thread for each CPU",
        ),
        ("bind-process", _) | ("stats", "bind-process") => found(
            Verdict::Obsolete,
            "HAProxy 2.5 removed processes and refuses to start",
            "remove the line; a stats socket shows all threads",
        ),
        ("cpu-map", process) if process.chars().all(|letter| letter.is_ascii_digit()) => found(
            Verdict::Obsolete,
            "the first number is a group of threads now, not a process",
            "write cpu-map auto:1/1-N 0-M, or nothing: from 3.2 on cpu-policy does it",
        ),
        ("cpu-map", _) => found(Verdict::Keep, "it binds threads to CPUs; leave CPUs to interrupts", ""),
        ("nbthread", count) => nbthread(count, facts),
        ("maxconn", count) if line.section == "global" => maxconn(count, facts),
        ("maxconn", count) => {
            let count: u64 = count.parse().ok()?;
            match facts.maxconn.filter(|most| count > *most) {
                Some(most) => found(
                    Verdict::Capped,
                    format!("the global maxconn, {}, comes first", format_grouped(most)),
                    "raise the global maxconn, or lower this one",
                ),
                None => found(Verdict::Keep, "it bounds the connections of this proxy", ""),
            }
        }
        ("fd-hard-limit", _) => found(Verdict::Keep, "it needs 2.2 × maxconn", ""),
        ("ulimit-n", _) => found(
            Verdict::NoEffect,
            "HAProxy computes the number of files from maxconn by itself",
            "remove the line and set LimitNOFILE= of the unit",
        ),
        (name, _) if name.starts_with("tune.maxaccept") => found(
            Verdict::NoEffect,
            "the default, 4, is best since threads replaced processes",
            "remove the line",
        ),
        ("tune.bufsize", size) if size.parse::<u64>().is_ok_and(|size| size > 65_536) => found(
            Verdict::TooLarge,
            "each active stream takes two buffers of this size",
            "write 16384, or as much as the longest head needs",
        ),
        ("tune.ssl.default-dh-param", _) => found(Verdict::Keep, "it is about security, not about load", ""),
        ("log", _) => found(
            Verdict::Keep,
            "a socket of syslog drops lines when it is full; one line for each session is its load",
            "",
        ),
        ("chroot" | "user" | "group" | "daemon", _) => found(Verdict::Keep, "it has no part in load", ""),
        _ => None,
    }
}

fn maxconn(count: &str, facts: &Facts<'_>) -> Option<Judgement> {
    let count: u64 = count.parse().ok()?;
    let files = count.saturating_mul(2);
    let most = facts.fd_hard_limit.unwrap_or(FILES);
    if files > most {
        let sentence = format!(
            "{} connections need {} files, and fd-hard-limit stops at {}",
            format_grouped(count),
            format_grouped(files),
            format_grouped(most)
        );
        let hint =
            format!("write fd-hard-limit {}, and raise fs.nr_open and LimitNOFILE= to it", count * 22 / 10);
        return found(Verdict::Capped, sentence, hint);
    }
    found(Verdict::Keep, "1.1 × connections is right; each takes two files", "")
}

fn nbthread(count: &str, facts: &Facts<'_>) -> Option<Judgement> {
    let count: u64 = count.parse().ok()?;
    if count > GROUP_THREADS && !facts.has_thread_groups {
        let sentence = format!("a group has at most 64 threads, and {count} need more groups");
        return found(Verdict::Capped, sentence, format!("write thread-groups {}", count.div_ceil(64)));
    }
    match facts.context.cpus.filter(|cpus| count > *cpus) {
        Some(cpus) => {
            let sentence = format!("{count} threads share {cpus} CPUs");
            found(Verdict::TooLarge, sentence, "remove the line: the default is one for each CPU")
        }
        None => found(Verdict::Keep, "the default is one for each CPU", ""),
    }
}
