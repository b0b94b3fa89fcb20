//! Rules on frontends, backends and their defaults.

use super::HaproxyLine;
use super::facts::Facts;
use super::time::milliseconds;
use crate::finding::found;
use crate::{Judgement, Verdict};

/// Judges one line; `None` if no rule is about it.
pub(super) fn judge(line: &HaproxyLine, facts: &Facts<'_>) -> Option<Judgement> {
    match (line.term(0), line.term(1)) {
        ("timeout", name) => timeout(name, line.term(2)),
        ("stats", "timeout") => timeout("stats", line.term(2)),
        ("stats", "auth") => stats_auth(line.term(2)),
        ("stats", "socket") => {
            found(Verdict::Keep, "with level admin, any user that may write to it can stop servers", "")
        }
        ("stats", _) => found(Verdict::Keep, "the page of statistics is read during runs", ""),
        ("option", option) => judge_option(option, facts),
        ("balance", _) => {
            found(Verdict::Keep, "leastconn is better than roundrobin for long connections", "")
        }
        ("mode", _) => found(Verdict::Keep, "tcp takes less CPU than http", ""),
        ("bind", _) => {
            found(Verdict::Keep, "shards by-thread gives each thread its own queue; backlog N raises it", "")
        }
        ("source", _) => source(line),
        ("server" | "default-server", _) => server(line),
        ("reqadd" | "reqrep" | "reqdel" | "reqirep" | "rspadd" | "rsprep" | "rspdel" | "rspirep", _) => {
            found(
                Verdict::Obsolete,
                format!("HAProxy 2.1 removed {} and refuses to start", line.term(0)),
                "write http-request or http-response",
            )
        }
        _ => None,
    }
}

fn timeout(name: &str, value: &str) -> Option<Judgement> {
    let Some((time, has_unit)) = milliseconds(value) else {
        let sentence = format!("`{value}` is not a time");
        return found(Verdict::Rejected, sentence, "write 5s, 500ms or 1m");
    };
    if !has_unit && time < 500.0 && time > 0.0 {
        let sentence = format!("{value} without a unit is {value} ms, not {value} s");
        return found(
            Verdict::WrongUnit,
            sentence,
            format!("write {value}s, or {value}ms if that is intended"),
        );
    }
    if name == "connect" && time > 30_000.0 {
        let sentence = format!("requests wait for {} s for a server that is down", time / 1_000.0);
        return found(Verdict::TooLarge, sentence, "write 1s to 5s");
    }
    if matches!(name, "clitimeout" | "srvtimeout" | "contimeout") {
        return found(
            Verdict::Obsolete,
            format!("`timeout {name}` is no timeout"),
            "write timeout client or server",
        );
    }
    found(Verdict::Keep, "timeout server and client must be longer than 1.2 × the longest response", "")
}

fn stats_auth(pair: &str) -> Option<Judgement> {
    let (user, password) = pair.split_once(':').unwrap_or((pair, ""));
    let weak = ["", "admin", "password", "haproxy", "stats", "123456", "test"];
    if user == password || weak.contains(&password) {
        let sentence = "any client that guesses this password sees and may drain the servers";
        return found(Verdict::Harmful, sentence, "choose a password, or bind the page to 127.0.0.1");
    }
    found(Verdict::Keep, "the password is sent unencrypted unless the page uses TLS", "")
}

fn judge_option(option: &str, facts: &Facts<'_>) -> Option<Judgement> {
    match option {
        "httplog" | "tcplog" if facts.logs_errors_only => {
            found(Verdict::Keep, "only sessions with errors are logged", "")
        }
        "httplog" | "tcplog" => found(
            Verdict::Keep,
            "each session is one message to syslog; option dontlog-normal saves almost all of them",
            "",
        ),
        "dontlognull" => found(Verdict::Keep, "it drops lines of empty connections", ""),
        "httpclose" => {
            found(Verdict::Harmful, "every request opens a new connection on both sides", "remove the line")
        }
        "http-server-close" => found(
            Verdict::Conflict,
            "every request opens a new connection to a server",
            "remove the line: http-keep-alive is the default since 1.5",
        ),
        "forceclose" | "http-tunnel" => {
            found(Verdict::Obsolete, format!("HAProxy 2.1 removed option {option}"), "remove the line")
        }
        _ => None,
    }
}

fn source(line: &HaproxyLine) -> Option<Judgement> {
    if line.terms.iter().any(|term| term == "usesrc") {
        let sentence = "servers must route back through this host, and the kernel needs TPROXY";
        return found(Verdict::Keep, sentence, "");
    }
    found(Verdict::Keep, "an explicit range of ports gives 64 thousand for each server line", "")
}

fn server(line: &HaproxyLine) -> Option<Judgement> {
    if line.terms.iter().any(|term| term == "source") {
        return source(line);
    }
    found(
        Verdict::Keep,
        "one address and port takes as many connections as there are local ports; source IP:1024-65535 fixes them",
        "",
    )
}
