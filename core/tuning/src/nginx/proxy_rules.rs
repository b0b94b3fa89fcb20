//! Rules on proxying and upstreams.

use super::facts::{Facts, SOURCE};
use super::{Directive, value};
use crate::finding::found;
use crate::{Finding, Judgement, Verdict};

/// The first version that keeps connections to upstreams by default.
const KEEPS: (u16, u16) = (1, 30);

/// Judges one directive; `None` if no rule is about it.
pub(super) fn judge(directive: &Directive, facts: &Facts<'_>) -> Option<Judgement> {
    let first = directive.arg(0);
    match directive.name.as_str() {
        "proxy_ignore_client_abort" if first == "on" => found(
            Verdict::Harmful,
            "servers go on working for clients that left, which amplifies overload",
            "remove the line",
        ),
        "proxy_connect_timeout" => {
            let time = value::seconds(first)?;
            if time > 75.0 {
                let sentence =
                    format!("{first} is {time} s, and nginx rarely waits for more than 75 s to connect");
                return found(Verdict::Harmful, sentence, "write 1s to 3s");
            }
            found(Verdict::Keep, "a server that is down delays requests for as long; 1s to 3s is enough", "")
        }
        "proxy_read_timeout" | "proxy_send_timeout" => found(
            Verdict::Keep,
            "it must be longer than the longest response; without a unit it counts seconds",
            "",
        ),
        "proxy_http_version" if first == "1.1" => {
            found(Verdict::Keep, "kept connections need it; 1.0 was the default before nginx 1.29.7", "")
        }
        "proxy_http_version" if first == "1.0" => {
            found(Verdict::Harmful, "HTTP/1.0 keeps no connection to servers", "write 1.1")
        }
        "proxy_set_header" if first.eq_ignore_ascii_case("connection") => connection_header(directive),
        "keepalive" if directive.block.is_none() => keepalive(first, facts),
        "proxy_bind" => found(Verdict::Keep, "more local addresses give more ports to each server", ""),
        _ => None,
    }
}

fn connection_header(directive: &Directive) -> Option<Judgement> {
    let sentence = match directive.arg(1).to_ascii_lowercase().as_str() {
        "keep-alive" => "servers of HTTP/1.1 keep connections without it, and nginx documents an empty value",
        "close" => "every request opens a new connection to a server",
        _ => return found(Verdict::Keep, "an empty value keeps connections to servers", ""),
    };
    found(Verdict::Conflict, sentence, "write proxy_set_header Connection \"\"")
}

fn keepalive(first: &str, facts: &Facts<'_>) -> Option<Judgement> {
    let idle = value::number(first)?;
    if !facts.has_http11 && facts.context.nginx.is_none_or(|version| version < KEEPS) {
        let sentence = "without proxy_http_version 1.1 no connection to a server is kept before nginx 1.29.7";
        return found(
            Verdict::Conflict,
            sentence,
            "write proxy_http_version 1.1 and proxy_set_header Connection \"\"",
        );
    }
    if idle > 512 {
        let sentence = match facts.workers {
            Some(workers) => format!(
                "it counts for each worker: {workers} workers may keep {} idle connections",
                workers.saturating_mul(idle)
            ),
            None => format!("it counts for each worker, so all may keep {idle} × workers idle connections"),
        };
        return found(
            Verdict::TooLarge,
            sentence,
            "write 1.2 × concurrent requests to the servers ÷ workers",
        );
    }
    found(Verdict::Keep, "it counts idle connections for each worker", "")
}

/// Upstreams without kept connections.
pub(super) fn lint_upstreams(directives: &[Directive], facts: &Facts<'_>, findings: &mut Vec<Finding>) {
    for directive in directives {
        if directive.name == "upstream" && directive.block.is_some() {
            let keeps = directive.children_called("keepalive").next().is_some();
            let by_default = facts.context.nginx.is_some_and(|version| version >= KEEPS);
            if !keeps && !by_default {
                let judged = Judgement::new(
                    Verdict::Harmful,
                    "every request opens a new connection to a server, as nginx before 1.29.7 keeps none",
                    "add keepalive 32; to the upstream, with proxy_http_version 1.1 and proxy_set_header Connection \"\"",
                );
                findings.push(judged.from(SOURCE).at(&directive.place, "upstream"));
            }
        } else if directive.name != "stream" {
            lint_upstreams(directive.children(), facts, findings);
        }
    }
}
