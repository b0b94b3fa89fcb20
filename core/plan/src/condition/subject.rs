//! The left-hand side of a condition.

use wavetank_units::{Code, UserError, did_you_mean, grpc_status_from_name};

use super::value_kind::ValueKind;
use super::{HostGauge, LatencyPart, RequestCounter, Subject};

/// Names of error classes (`docs/measuring.md` §2).
pub const ERROR_CLASSES: [&str; 17] = [
    "dns",
    "connect_refused",
    "connect_timeout",
    "connect_unreachable",
    "no_source_address",
    "no_files",
    "tls",
    "reset",
    "closed_early",
    "request_timeout",
    "protocol",
    "status",
    "login",
    "check",
    "body_limit",
    "data",
    "other",
];

const REQUESTS: [(&str, RequestCounter); 6] = [
    ("offered", RequestCounter::Offered),
    ("sent", RequestCounter::Sent),
    ("done", RequestCounter::Done),
    ("failed", RequestCounter::Failed),
    ("late", RequestCounter::Late),
    ("dropped", RequestCounter::Dropped),
];

const PARTS: [(&str, LatencyPart); 11] = [
    ("response", LatencyPart::Response),
    ("service", LatencyPart::Service),
    ("wait", LatencyPart::Wait),
    ("lag", LatencyPart::Lag),
    ("connect", LatencyPart::Connect),
    ("tls", LatencyPart::Tls),
    ("hello", LatencyPart::Hello),
    ("ping", LatencyPart::Ping),
    ("ttfb", LatencyPart::Ttfb),
    ("transfer", LatencyPart::Transfer),
    ("failed", LatencyPart::Failed),
];

/// The names of the latency parts. No step may have one of these names, because `p99(connect)`
/// would be ambiguous with `p99(STEP)`.
pub const PART_NAMES: [&str; 11] =
    ["response", "service", "wait", "lag", "connect", "tls", "hello", "ping", "ttfb", "transfer", "failed"];

/// Every name a condition may start with, for *did you mean*.
const NAMES: [&str; 42] = [
    "p50",
    "p90",
    "p95",
    "p99",
    "p99.9",
    "mean",
    "min",
    "max",
    "offered",
    "sent",
    "done",
    "failed",
    "late",
    "dropped",
    "offered_rate",
    "sent_rate",
    "done_rate",
    "failed_rate",
    "late_rate",
    "dropped_rate",
    "errors",
    "status",
    "opened",
    "connections failed",
    "users",
    "in_flight",
    "held",
    "lost",
    "messages_in",
    "messages_out",
    "pings_lost",
    "check",
    "count",
    "skew",
    "cpu",
    "hottest_core",
    "memory",
    "swap",
    "net_in",
    "net_out",
    "established",
    "queue",
];

/// Parses a subject and returns the kind of value it can be compared with.
pub(super) fn parse_subject(text: &str) -> Result<(Subject, ValueKind), UserError> {
    let (name, argument) = match text.split_once('(') {
        Some((name, rest)) => {
            let inside = rest.strip_suffix(')').ok_or_else(|| unclosed(text))?.trim();
            if inside.is_empty() {
                let hint = "name what it is about, or leave the parentheses out";
                return Err(UserError::usage(
                    Code::ConditionSubject,
                    format!("`{text}` has empty parentheses"),
                    hint,
                ));
            }
            (name.trim(), Some(inside))
        }
        None => (text, None),
    };
    if let Some(subject) = gauge(name) {
        return without_argument(text, argument, subject);
    }
    if let Some((count, rated)) = request_count(name) {
        let kind = match (rated, count) {
            (true, _) => ValueKind::Rate,
            (false, RequestCounter::Offered) => ValueKind::Count,
            (false, _) => ValueKind::CountOrShare,
        };
        return Ok((Subject::Requests(count, argument.map(str::to_owned)), kind));
    }
    match (name, argument) {
        ("errors", Some(class)) => return Ok((error_class(class)?, ValueKind::CountOrShare)),
        ("status", Some(code)) => return Ok((status(code)?, ValueKind::CountOrShare)),
        ("errors", None) => return Err(wants(text, "a class", "errors(reset), or failed for all of them")),
        ("status", None) => return Err(wants(text, "a code", "status(500)")),
        ("check", Some(check)) => return Ok((Subject::Check(check.to_owned()), ValueKind::CountOrShare)),
        ("count", Some(count)) => return Ok((Subject::Count(count.to_owned()), ValueKind::CountOrShare)),
        ("skew", Some(rendezvous)) => return Ok((Subject::Skew(rendezvous.to_owned()), ValueKind::Time)),
        ("check", None) => return Err(wants(text, "a check's name", "check(fresh)")),
        ("count", None) => return Err(wants(text, "a count's name", "count(sold)")),
        ("skew", None) => return Err(wants(text, "a rendezvous", "skew(doors)")),
        _ => {}
    }
    if let Some(gauge) = HostGauge::from_name(name) {
        let host = argument.ok_or_else(|| wants(text, "a host", &format!("{name}(lb1)")))?;
        return Ok((Subject::Host(gauge, host.to_owned()), gauge.kind()));
    }
    let (part, step) = part_and_step(argument)?;
    let subject = match name {
        "mean" => Subject::Mean(part, step),
        "min" => Subject::Min(part, step),
        "max" => Subject::Max(part, step),
        _ => Subject::Percentile(percentile(name)?, part, step),
    };
    Ok((subject, ValueKind::Time))
}

fn gauge(name: &str) -> Option<(Subject, ValueKind)> {
    Some(match name {
        "opened" => (Subject::Opened, ValueKind::Count),
        "connections failed" => (Subject::ConnectionsFailed, ValueKind::CountOrShare),
        "users" => (Subject::Users, ValueKind::Count),
        "in_flight" => (Subject::InFlight, ValueKind::Count),
        "held" => (Subject::Held, ValueKind::Count),
        "lost" => (Subject::Lost, ValueKind::CountOrShare),
        "messages_in" => (Subject::MessagesIn, ValueKind::Count),
        "messages_out" => (Subject::MessagesOut, ValueKind::Count),
        "pings_lost" => (Subject::PingsLost, ValueKind::Count),
        _ => return None,
    })
}

fn without_argument(
    text: &str,
    argument: Option<&str>,
    subject: (Subject, ValueKind),
) -> Result<(Subject, ValueKind), UserError> {
    if argument.is_some() {
        let message = format!("`{text}` applies to the whole run and takes no parentheses");
        let hint = format!("{}; a part of the run is `in PHASE`", text.split('(').next().unwrap_or(text));
        return Err(UserError::usage(Code::ConditionSubject, message, hint));
    }
    Ok(subject)
}

fn request_count(name: &str) -> Option<(RequestCounter, bool)> {
    let (bare, rated) = name.strip_suffix("_rate").map_or((name, false), |bare| (bare, true));
    REQUESTS.iter().find(|(known, _)| *known == bare).map(|(_, count)| (*count, rated))
}

/// `connect` is a part, `buy.service` a part of a step, anything else a step's response.
fn part_and_step(argument: Option<&str>) -> Result<(LatencyPart, Option<String>), UserError> {
    let Some(argument) = argument else { return Ok((LatencyPart::Response, None)) };
    let part_named = |word: &str| PARTS.iter().find(|(name, _)| *name == word).map(|(_, part)| *part);
    if let Some(part) = part_named(argument) {
        return Ok((part, None));
    }
    let Some((step, word)) = argument.rsplit_once('.').filter(|(step, _)| !step.is_empty()) else {
        return Ok((LatencyPart::Response, Some(argument.to_owned())));
    };
    match part_named(word) {
        Some(part @ (LatencyPart::Response | LatencyPart::Service)) => Ok((part, Some(step.to_owned()))),
        // A path may end in such a word; a step's name with a slash or a blank in it is one.
        Some(_) if !step.contains(['/', ' ']) => Err(UserError::usage(
            Code::ConditionSubject,
            format!("`{argument}`: {word} is not kept for each step"),
            format!(
                "a step has response and service: {step}, {step}.service; {word} for each phase: p99({word}) in PHASE"
            ),
        )),
        _ => Ok((LatencyPart::Response, Some(argument.to_owned()))),
    }
}

/// `p99.9` → 99.9.
fn percentile(name: &str) -> Result<f64, UserError> {
    let bad = |hint: String| {
        Err(UserError::usage(Code::ConditionSubject, format!("`{name}` is not a percentile"), hint))
    };
    let Some(digits) = name.strip_prefix(['p', 'P']).filter(|d| d.starts_with(|c: char| c.is_ascii_digit()))
    else {
        return Err(unknown(name));
    };
    if name.starts_with('P') {
        return bad(format!("in lower case: p{digits}"));
    }
    if digits.contains('_') {
        return bad(format!("with a point: p{}", digits.replacen('_', ".", 1)));
    }
    if !digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return bad("p50, p99, p99.9, p99.99".to_owned());
    }
    match digits.parse::<f64>() {
        Ok(100.0) => bad("the highest is max".to_owned()),
        Ok(0.0) => bad("the lowest is min".to_owned()),
        Ok(value) if value < 100.0 => Ok(value),
        Ok(_) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            bad(format!("with a point: p{}.{}", &digits[..2], &digits[2..]))
        }
        _ => bad("p50, p99, p99.9, p99.99".to_owned()),
    }
}

fn error_class(class: &str) -> Result<Subject, UserError> {
    if ERROR_CLASSES.contains(&class) {
        return Ok(Subject::Errors(class.to_owned()));
    }
    let hint = match (did_you_mean(class, ERROR_CLASSES), class) {
        (_, "timeout") => "did you mean request_timeout, or connect_timeout?".to_owned(),
        (Some(near), _) => format!("did you mean {near}?"),
        (None, _) => format!("there is: {}", ERROR_CLASSES.join(", ")),
    };
    Err(UserError::usage(Code::ConditionSubject, format!("no error class \"{class}\""), hint))
}

fn status(code: &str) -> Result<Subject, UserError> {
    if let Some(code) = grpc_status_from_name(code) {
        return Ok(Subject::Status(code));
    }
    let digits = code.len() == 3 && code.bytes().all(|b| b.is_ascii_digit());
    match code.parse::<u16>() {
        Ok(code) if digits && code >= 100 => Ok(Subject::Status(code)),
        _ => {
            let hint = "one code of three digits, or a name of gRPC: status(500), status(UNAVAILABLE)";
            Err(UserError::usage(Code::ConditionSubject, format!("`{code}` is not a status code"), hint))
        }
    }
}

fn wants(text: &str, what: &str, example: &str) -> UserError {
    UserError::usage(
        Code::ConditionSubject,
        format!("`{text}` needs {what} in parentheses"),
        format!("{example}?"),
    )
}

fn unclosed(text: &str) -> UserError {
    let hint = "a subject ends with its parenthesis: p99(connect)";
    UserError::usage(Code::ConditionSubject, format!("`{text}` has a misplaced parenthesis"), hint)
}

/// Suggests a subject for terms of other tools and of everyday language.
fn unknown(name: &str) -> UserError {
    let hint = match name.to_ascii_lowercase().as_str() {
        "median" => "p50".to_owned(),
        "avg" | "average" => "mean".to_owned(),
        "latency" | "time" | "response" | "response_time" | "duration" | "rt" => {
            "choose a statistic: p99, p50, mean or max".to_owned()
        }
        "rps" | "qps" | "throughput" | "requests" | "rate" | "requests_per_second" => {
            "done_rate > 1k/s".to_owned()
        }
        "error" | "fail" | "failures" | "error_rate" | "errors_rate" => "failed < 1%".to_owned(),
        "connections" => "held, opened, or connections failed".to_owned(),
        "success" | "ok" => "done".to_owned(),
        _ => match did_you_mean(name, NAMES) {
            Some(near) => format!("did you mean {near}?"),
            None => "times: p50 … p99.99, mean, min, max; requests: done, failed, done_rate, errors(CLASS), \
                     status(CODE); connections: held, lost, opened"
                .to_owned(),
        },
    };
    UserError::usage(Code::ConditionSubject, format!("unknown subject `{name}`"), hint)
}
