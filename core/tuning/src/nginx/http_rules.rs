//! Rules on directives of workers, connections, files and logs.

use super::facts::Facts;
use super::{Directive, value};
use crate::finding::found;
use crate::{Judgement, Verdict};
use wavetank_units::quantity::{format_grouped, show_size};

/// Memory that one of `worker_connections` takes in each worker, measured with nginx 1.22.
const CONNECTION_BYTES: u64 = 425;
const NR_OPEN: u64 = 1_048_576;

#[expect(clippy::unnecessary_wraps, reason = "arms of a match have one type")]
fn keep(sentence: &str) -> Option<Judgement> {
    Some(Judgement::new(Verdict::Keep, sentence, ""))
}

/// Judges one directive; `None` if no rule is about it.
pub(super) fn judge(directive: &Directive, facts: &Facts<'_>) -> Option<Judgement> {
    let first = directive.arg(0);
    match directive.name.as_str() {
        "worker_processes" => worker_processes(first, facts),
        "worker_connections" => worker_connections(first, facts),
        "worker_rlimit_nofile" => rlimit_nofile(first, facts),
        "use" if first == "epoll" => found(Verdict::Default, "nginx chooses epoll on Linux by itself", ""),
        "use" => {
            found(Verdict::Lowers, format!("`{first}` is slower than epoll on Linux"), "remove the line")
        }
        "multi_accept" if first == "on" && !facts.has_reuseport => found(
            Verdict::Conflict,
            "without reuseport, one worker takes all waiting connections and the others stay idle",
            "add reuseport to listen, or remove the line",
        ),
        "multi_accept" => keep("with reuseport each worker empties its own queue"),
        "accept_mutex" if first == "off" => {
            found(Verdict::Default, "off has been the default since nginx 1.11.3; reuseport is better", "")
        }
        "accept_mutex" => found(
            Verdict::Conflict,
            "workers take turns in accepting, which delays connections",
            "remove the line and add reuseport to listen",
        ),
        "listen" => listen(directive, facts),
        "access_log" => access_log(directive),
        "gzip" if first == "on" => {
            keep("it costs CPU for each response; off or gzip_static measures the server alone")
        }
        "gzip_comp_level" if value::number(first).is_some_and(|level| level > 6) => found(
            Verdict::TooLarge,
            format!("level {first} takes several times the CPU of level 4 for a few percent less data"),
            "write 1 to 5",
        ),
        name if name.starts_with("gzip") => keep("it matters only with gzip on"),
        "ssl" if directive.block.is_none() => ssl(facts),
        "open_file_cache" if first != "off" => {
            keep("it saves open, fstat and close for each hit; max is the number of hot files")
        }
        "open_file_cache_valid" => keep("a changed file is served in its old form for as long"),
        name if name.starts_with("open_file_cache") => keep("it is part of the cache of open files"),
        "sendfile" => {
            keep("it copies files inside the kernel; for bodies of a few bytes it is an extra call")
        }
        "tcp_nopush" => keep("it sends the head with the first bytes of the file"),
        "tcp_nodelay" => keep("on is the default for kept connections"),
        "echo_sleep" | "echo" if !facts.has_echo => found(
            Verdict::Rejected,
            format!("nginx has no `{}`: it belongs to the echo module of OpenResty", directive.name),
            "delay in the server under test instead: wavetank serve has /delay",
        ),
        "error_log" => keep("it has no part in load unless the level is debug"),
        _ => timeouts(directive),
    }
}

fn worker_processes(first: &str, facts: &Facts<'_>) -> Option<Judgement> {
    if first == "auto" {
        return keep("auto is one worker for each CPU");
    }
    let count = value::number(first)?;
    match facts.context.cpus {
        Some(cpus) if count > cpus => found(
            Verdict::TooLarge,
            format!("{count} workers share {cpus} CPUs"),
            "write auto, or fewer to leave CPUs to interrupts",
        ),
        _ => keep("workers should not outnumber the CPUs; auto is one for each"),
    }
}

fn worker_connections(first: &str, facts: &Facts<'_>) -> Option<Judgement> {
    let count = value::number(first)?;
    let each = count.saturating_mul(CONNECTION_BYTES);
    let nofile = facts.rlimit_nofile.or(facts.context.nr_open).unwrap_or(NR_OPEN);
    if count > nofile {
        let sentence = format!(
            "a worker may open {} files only, so {} connections are never reached",
            format_grouped(nofile),
            format_grouped(count)
        );
        return found(Verdict::Capped, sentence, "raise worker_rlimit_nofile, or lower worker_connections");
    }
    if count > 65_536 {
        let sentence = match facts.workers {
            Some(workers) => format!(
                "each worker takes {} before the first connection, {workers} workers {}",
                show_size(each),
                show_size(each.saturating_mul(workers))
            ),
            None => format!("each worker takes {} before the first connection", show_size(each)),
        };
        return found(Verdict::TooLarge, sentence, "write 1.2 × 2 × connections ÷ workers");
    }
    keep("it counts connections of clients and to upstreams in each worker: 1.2 × 2 × connections ÷ workers")
}

fn rlimit_nofile(first: &str, facts: &Facts<'_>) -> Option<Judgement> {
    let files = value::number(first)?;
    let most = facts.context.nr_open.unwrap_or(NR_OPEN);
    if files > most {
        let sentence = format!("it is above fs.nr_open ({most}), so setting it fails and the limit stays");
        return found(Verdict::Capped, sentence, "raise fs.nr_open first");
    }
    let connections = facts.worker_connections.unwrap_or(512);
    let needed = connections.saturating_add(facts.cached_files.unwrap_or(0)).saturating_add(64);
    if files < needed {
        let sentence = format!(
            "a worker may need {} files: worker_connections, open_file_cache max and 64 others",
            format_grouped(needed)
        );
        return found(Verdict::Conflict, sentence, format!("write {needed} or more"));
    }
    keep("it raises the open files of workers without LimitNOFILE=")
}

fn listen(directive: &Directive, facts: &Facts<'_>) -> Option<Judgement> {
    let backlog = directive.args.iter().find_map(|own| own.text.strip_prefix("backlog="));
    let Some(backlog) = backlog.and_then(value::number) else {
        return keep(
            "the backlog is 511 unless backlog= is given; reuseport gives each worker its own queue",
        );
    };
    let most = facts.context.somaxconn.unwrap_or(65_535).min(65_535);
    if backlog > most {
        let sentence = format!("the kernel cuts a backlog of {backlog} to {most} (net.core.somaxconn)");
        return found(
            Verdict::Capped,
            sentence,
            format!("write backlog={most}, or raise net.core.somaxconn"),
        );
    }
    keep("the kernel takes this backlog; check Send-Q of ss -ltn")
}

fn access_log(directive: &Directive) -> Option<Judgement> {
    let path = directive.arg(0);
    let has = |start: &str| directive.args.iter().any(|own| own.text.starts_with(start));
    if path == "off" {
        return keep("off is right for capacity runs");
    }
    if path.contains('$') && has("buffer=") {
        return found(
            Verdict::Rejected,
            "nginx refuses a buffer for a log with variables in its path",
            "remove buffer=, or the variables",
        );
    }
    if has("buffer=") || has("if=") || path.starts_with("syslog:") {
        return keep("the log is buffered or sampled");
    }
    keep("each request is one write; buffer=64k flush=1s saves most of them")
}

fn ssl(facts: &Facts<'_>) -> Option<Judgement> {
    let is_gone = facts.context.nginx.is_none_or(|version| version >= (1, 25));
    let sentence = if is_gone {
        "nginx 1.25.1 removed the directive, and refuses it"
    } else {
        "it is obsolete since nginx 1.15.0, and nginx 1.25.1 removed it"
    };
    found(Verdict::Obsolete, sentence, "write listen 443 ssl")
}

fn timeouts(directive: &Directive) -> Option<Judgement> {
    let first = directive.arg(0);
    let time = value::seconds(first);
    match (directive.name.as_str(), time) {
        ("keepalive_timeout", Some(time)) if time <= 0.0 => found(
            Verdict::Harmful,
            "every request opens a connection of its own",
            "write more than the think time of clients",
        ),
        ("keepalive_timeout", Some(_)) => {
            keep("it must be longer than the think time of clients; 75 s is the default")
        }
        ("keepalive_requests", _) if value::number(first).is_some_and(|most| most > 1_000_000) => found(
            Verdict::TooLarge,
            "memory of a connection is freed only when it closes",
            "write 100000 for tests; 1000 is the default",
        ),
        ("keepalive_requests", _) => {
            keep("requests per connection; 1000 is the default, 100 before nginx 1.19.10")
        }
        ("send_timeout" | "client_body_timeout" | "client_header_timeout", Some(time)) if time < 10.0 => {
            found(
                Verdict::Harmful,
                format!(
                    "nginx drops a client that pauses for {first}, and a stalled generator shows as errors"
                ),
                "write 10s to 60s; 60s is the default",
            )
        }
        ("send_timeout" | "client_body_timeout" | "client_header_timeout", Some(_)) => {
            keep("clients that pause for longer are dropped")
        }
        ("reset_timedout_connection", _) => {
            keep("clients see a reset in place of a close when a timeout ends a connection")
        }
        _ => None,
    }
}
