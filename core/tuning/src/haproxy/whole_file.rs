//! Rules that compare lines of a whole configuration.

use std::collections::HashMap;

use super::HaproxyLine;
use crate::{Finding, Judgement, Verdict};

/// `HAProxy` needs more files than two for each connection: listeners, checks, logs.
const FILES_OVER: u64 = 50;

/// Compares lines.
pub(super) fn lint(lines: &[HaproxyLine]) -> Vec<Finding> {
    let mut findings = missing_backends(lines);
    findings.extend(same_names(lines));
    findings.extend(same_binds(lines));
    findings.extend(too_few_files(lines));
    findings.extend(queues_of_servers(lines));
    findings.extend(no_second_server(lines));
    findings
}

fn finding(line: &HaproxyLine, verdict: Verdict, sentence: String, hint: &str) -> Finding {
    Judgement::new(verdict, sentence, hint).at(&line.place, line.term(0))
}

/// Lines that send requests to a backend that the file does not have.
fn missing_backends(lines: &[HaproxyLine]) -> Vec<Finding> {
    let has = |name: &str| {
        lines.iter().any(|line| matches!(line.term(0), "backend" | "listen") && line.term(1) == name)
    };
    // Of a part of a configuration, the rest is unknown.
    if !lines.iter().any(|line| matches!(line.term(0), "backend" | "listen")) {
        return Vec::new();
    }
    let sends = |line: &&HaproxyLine| {
        let name = line.term(1);
        let is_plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.:".contains(letter));
        matches!(line.term(0), "default_backend" | "use_backend") && is_plain && !name.is_empty()
    };
    let wrong = lines.iter().filter(sends).filter(|line| !has(line.term(1)));
    let text =
        |line: &HaproxyLine| format!("no backend is called `{}`, and HAProxy refuses to start", line.term(1));
    wrong
        .map(|line| finding(line, Verdict::Rejected, text(line), "name a backend of the file, or add it"))
        .collect()
}

/// Two servers of one backend with one name.
fn same_names(lines: &[HaproxyLine]) -> Vec<Finding> {
    let mut known = HashMap::new();
    let mut findings = Vec::new();
    for line in lines.iter().filter(|line| line.term(0) == "server") {
        let key = (line.section_number, line.term(1));
        if let Some(first) = known.insert(key, line.place.line) {
            let sentence = format!(
                "line {first} has a server `{}` in this section, and HAProxy refuses to start",
                line.term(1)
            );
            findings.push(finding(line, Verdict::Rejected, sentence, "give each server a name of its own"));
        }
    }
    findings
}

/// Two sections that listen on one address.
fn same_binds(lines: &[HaproxyLine]) -> Vec<Finding> {
    let mut known: HashMap<&str, &HaproxyLine> = HashMap::new();
    let mut findings = Vec::new();
    for line in lines.iter().filter(|line| line.term(0) == "bind") {
        // A second socket in the same section is a second queue.
        let same = known.get(line.term(1)).filter(|first| first.section_number != line.section_number);
        if let Some(first) = same {
            let sentence = format!(
                "line {} of another section listens on {}, too: the kernel gives each of them a part of the connections",
                first.place.line,
                line.term(1)
            );
            findings.push(finding(line, Verdict::Conflict, sentence, "remove one of the lines"));
        } else {
            known.entry(line.term(1)).or_insert(line);
        }
    }
    findings
}

/// `ulimit-n` below what `maxconn` needs.
fn too_few_files(lines: &[HaproxyLine]) -> Option<Finding> {
    let global = |name: &str| lines.iter().find(|line| line.section == "global" && line.term(0) == name);
    let (files, most) = (global("ulimit-n")?, global("maxconn")?);
    let (has, count): (u64, u64) = (files.term(1).parse().ok()?, most.term(1).parse().ok()?);
    let needs = count.saturating_mul(2).saturating_add(FILES_OVER);
    (has < needs).then(|| {
        let sentence = format!("{count} connections need {needs} files, and ulimit-n allows {has}");
        finding(
            most,
            Verdict::Capped,
            sentence,
            "remove ulimit-n, and set LimitNOFILE= of the unit to 2.2 × maxconn",
        )
    })
}

/// Queues that are never used, or never wait.
fn queues_of_servers(lines: &[HaproxyLine]) -> Vec<Finding> {
    let number = |line: &HaproxyLine, name: &str| line.after(name)?.parse::<u64>().ok();
    let judge = |line: &HaproxyLine| {
        let most = number(line, "maxconn");
        let (least, queue) = (number(line, "minconn"), number(line, "maxqueue"));
        if let (Some(least), Some(most)) = (least, most)
            && least > most
        {
            let sentence =
                format!("minconn {least} is above maxconn {most}, so the limit never adapts to the load");
            return Some(finding(
                line,
                Verdict::Conflict,
                sentence,
                "write a minconn below maxconn, or only maxconn",
            ));
        }
        if least.is_some() && most.is_none() {
            let sentence = "without maxconn, minconn has no effect".to_owned();
            return Some(finding(line, Verdict::NoEffect, sentence, "add maxconn, or remove minconn"));
        }
        (queue.is_some() && most.is_none()).then(|| {
            let sentence =
                "without maxconn, no request waits in a queue, and maxqueue has no effect".to_owned();
            finding(line, Verdict::NoEffect, sentence, "add maxconn, or remove maxqueue")
        })
    };
    let servers = lines.iter().filter(|line| matches!(line.term(0), "server" | "default-server"));
    // Servers get what their default-server has.
    let has_defaults =
        lines.iter().any(|line| line.term(0) == "default-server" && line.after("maxconn").is_some());
    servers.filter(|_| !has_defaults).filter_map(judge).collect()
}

/// `retries 0`: a lost packet or a server that restarts fails requests.
fn no_second_server(lines: &[HaproxyLine]) -> Vec<Finding> {
    let none = lines.iter().filter(|line| line.term(0) == "retries" && line.term(1) == "0");
    let sentence = "one refused connection fails the request, although another server may answer";
    none.map(|line| {
        finding(line, Verdict::Lowers, sentence.to_owned(), "write retries 3 and option redispatch 1")
    })
    .collect()
}
