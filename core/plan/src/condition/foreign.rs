//! Conditions in the terms of other tools, as they are written here.

use super::Op;

/// What other tools call the time of a response.
const TIMES: [&str; 7] = [
    "latency",
    "response_time",
    "response time",
    "duration",
    "time",
    "http_req_duration",
    "http_req_waiting",
];

/// Returns the condition with this subject, operator and rest as it is written here; `None` if the
/// subject is not a term of another tool, or the value does not fit it.
pub(super) fn translated(subject: &str, op: Op, rest: &str) -> Option<String> {
    let (value, tail) = rest.split_once(' ').map_or((rest, String::new()), |(value, tail)| {
        // `1 %` and `5 ms` are one value.
        if matches!(tail, "%" | "ns" | "us" | "µs" | "ms" | "s" | "m" | "h") {
            (rest, String::new())
        } else {
            (value, format!(" {tail}"))
        }
    });
    let value = value.replace(' ', "");
    let name = subject.to_ascii_lowercase();
    // k6 names the metric first: `http_req_duration: p(95)<500`.
    let (metric, name) =
        name.split_once(':').map_or(("", name.as_str()), |(metric, name)| (metric, name.trim()));
    // `latency p99`, `p99 of response time`: the statistic is enough.
    let (metric, name) = match name.split_once(' ') {
        Some((first, last)) if TIMES.contains(&first) => (first, last),
        Some((first, rest)) if TIMES.contains(&rest.trim_start_matches("of ")) => (rest, first),
        _ => (metric, name),
    };
    if metric == "http_reqs" || metric == "iterations" {
        return Some(format!("done_rate {} {}{tail}", op.sign(), per_second(&value)?));
    }
    if metric == "checks" {
        return None;
    }
    let own = match name {
        "http_req_duration" | "http_req_waiting" | "iteration_duration" => ("p95", time(&value)?),
        "avg" | "average" => ("mean", time(&value)?),
        "med" | "median" => ("p50", time(&value)?),
        "http_req_failed" | "error rate" | "errors rate" | "error_rate" | "errors_rate" | "failure rate"
        | "failed rate" | "failure_rate" | "error" | "errors" | "fail" | "failures" => {
            ("failed", share(&value)?)
        }
        "rate" if matches!(op, Op::Less | Op::LessEqual) && share_of(&value).is_some() => {
            ("failed", share(&value)?)
        }
        "rate"
        | "rps"
        | "qps"
        | "tps"
        | "throughput"
        | "http_reqs"
        | "requests"
        | "req/s"
        | "requests_per_second"
        | "requests per second" => ("done_rate", per_second(&value)?),
        // Of all requests, those that did not fail.
        "success" | "success rate" | "success_rate" | "ok" => {
            let failed = match op {
                Op::Greater | Op::GreaterEqual => 100.0 - success_percent(&value)?,
                _ => return None,
            };
            let op = if op == Op::Greater { Op::Less } else { Op::LessEqual };
            return Some(format!("failed {} {}%{tail}", op.sign(), (failed * 1e6).round() / 1e6));
        }
        _ => {
            let percentile = name.strip_prefix("p(").and_then(|name| name.strip_suffix(')'));
            let percentile = percentile.or_else(|| name.strip_suffix('%'));
            let percentile = percentile.or_else(|| name.strip_prefix('p').filter(|_| !metric.is_empty()))?;
            let number = percentile.parse::<f64>().ok().filter(|number| (0.0..100.0).contains(number))?;
            return Some(format!("p{number} {} {}{tail}", op.sign(), time(&value)?));
        }
    };
    Some(format!("{} {} {}{tail}", own.0, op.sign(), own.1))
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(|number| number.is_finite() && number >= 0.0)
}

/// A bare number is in milliseconds.
fn time(value: &str) -> Option<String> {
    if is_number(value) {
        return Some(format!("{value}ms"));
    }
    wavetank_units::quantity::parse_duration(value).is_ok().then(|| value.to_owned())
}

/// A bare number up to one is a share.
fn share_of(value: &str) -> Option<f64> {
    value.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share))
}

fn share(value: &str) -> Option<String> {
    match share_of(value) {
        Some(share) => Some(format!("{}%", (share * 1e8).round() / 1e6)),
        None if is_number(value) || value.strip_suffix('%').is_some_and(is_number) => Some(value.to_owned()),
        None => None,
    }
}

/// A bare number up to one is a share.
fn success_percent(value: &str) -> Option<f64> {
    let percent = match share_of(value) {
        Some(share) => share * 100.0,
        None => value.strip_suffix('%')?.parse().ok()?,
    };
    (0.0..100.0).contains(&percent).then_some(percent)
}

fn per_second(value: &str) -> Option<String> {
    let bare = ["rps", "qps", "req/s", "/s", "/sec"].iter().find_map(|unit| value.strip_suffix(unit));
    let rate = format!("{}/s", bare.unwrap_or(value));
    wavetank_units::quantity::parse_rate(&rate).is_ok().then_some(rate)
}
