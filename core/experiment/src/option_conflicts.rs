//! Options that contradict each other: no option is ever silently ignored.

use wavetank_plan::{HttpVersion, RunOptions, TargetUrl};
use wavetank_units::{Code, Nanos, UserError};

/// Two options that exclude each other, with a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exclusive {
    /// The one.
    pub left: &'static str,
    /// The other.
    pub right: &'static str,
    /// How to fix it.
    pub hint: &'static str,
}

/// Deepest pipeline; each place costs a slot on every connection.
const PIPELINE_MAX: u32 = 1_024;

const fn pair(left: &'static str, right: &'static str, hint: &'static str) -> Exclusive {
    Exclusive { left, right, hint }
}

const ONCE: &str = "--once sends one request and no load; leave one of the two out";

/// Every pair of `run`'s options that exclude each other, and options that require another one
/// (`without`).
pub const EXCLUSIVE: [Exclusive; 33] = [
    pair("--once", "-c", ONCE),
    pair("--once", "-r", ONCE),
    pair("--once", "-d", ONCE),
    pair("--once", "-n", ONCE),
    pair("--once", "--stage", ONCE),
    pair("--once", "--warmup", ONCE),
    pair("--once", "--arrivals", ONCE),
    pair("--once", "--drain", ONCE),
    pair("--once", "--max-open", ONCE),
    pair("--once", "--open-rate", ONCE),
    pair("--once", "--pipeline", ONCE),
    pair("--once", "--streams", ONCE),
    pair("--once", "--requests-per-connection", ONCE),
    pair("--once", "--threads", ONCE),
    pair("--once", "--threshold", ONCE),
    pair("--once", "--stop", ONCE),
    pair("--once", "--seed", ONCE),
    pair("--once", "--name", ONCE),
    pair("--once", "--tag", ONCE),
    pair("--once", "--tls-resume", ONCE),
    pair("--stage", "-r", "a stage has its own load: --stage 1m:500/s ramps to 500/s"),
    pair("--stage", "-d", "a stage has its own length: --stage 1m:500/s takes 1m"),
    pair("--stage", "-n", "stages end with their time: leave -n out"),
    pair("--stage", "--warmup", "use an experiment file: a phase with warmup: true before the others"),
    pair("--no-keepalive", "--requests-per-connection", "--requests-per-connection 1 has the same effect"),
    pair("--no-keepalive", "--pipeline", "pipelining needs connections that are kept"),
    pair("--no-keepalive", "--streams", "several streams need connections that are kept"),
    pair("--http 2", "--pipeline", "HTTP/2 and HTTP/3 have streams instead: --streams 8"),
    pair("--http 2", "--alpn", "HTTP/2 and HTTP/3 are offered alone: leave --alpn out"),
    pair("--http 1.0", "--pipeline", "pipelining is HTTP/1.1 (RFC 9112 §9.3.2): --http 1.1"),
    pair("-r", "--pipeline", "-r opens as many connections as it needs; pipelining goes with -c alone"),
    pair("--proxy", "--connect-to", "the proxy alone connects to the target: leave one of the two out"),
    pair("--basic", "-H Authorization", "both write the same header; keep one"),
];

/// Options that mean nothing without another.
pub const NEEDS: [Exclusive; 3] = [
    pair("--streams", "--http 2", "only HTTP/2 and HTTP/3 have streams: --http 2 --streams 8"),
    pair("--max-open", "-r", "in a closed run every user waits for its answer: -c bounds what is open"),
    pair("--arrivals", "-r", "only a rate has arrivals: -r 500/s --arrivals poisson"),
];

/// Whether the option is given. Names are those of the tables above.
fn given(options: &RunOptions, name: &str) -> bool {
    match name {
        "-c" => options.connections.is_some(),
        "-r" => options.rate.is_some(),
        "-d" => options.duration.is_some(),
        "-n" => options.requests.is_some(),
        "--stage" => !options.stages.is_empty(),
        "--warmup" => options.warmup.is_some(),
        "--arrivals" => options.arrivals.is_some(),
        "--drain" => options.drain.is_some(),
        "--max-open" => options.max_open.is_some(),
        "--open-rate" => options.open_rate.is_some(),
        "--pipeline" => options.pipeline.is_some_and(|depth| depth > 1),
        "--streams" => options.streams.is_some_and(|streams| streams > 1),
        // HTTP/3 has the same rules.
        "--http 2" => options.http.is_some_and(HttpVersion::has_streams),
        "--alpn" => options.tls.alpn.is_some(),
        "--requests-per-connection" => options.requests_per_connection.is_some(),
        "--threads" => options.threads.is_some(),
        "--threshold" => !options.thresholds.is_empty(),
        "--stop" => !options.stop.is_empty(),
        "--seed" => options.seed.is_some(),
        "--name" => options.name.is_some(),
        "--tag" => !options.tags.is_empty(),
        "--tls-resume" => options.tls.resume.is_some(),
        "--once" => options.once,
        "--no-keepalive" => options.no_keepalive,
        "--http 1.0" => options.http == Some(HttpVersion::Http10),
        "--proxy" => options.proxy.is_some(),
        "--connect-to" => !options.connect_to.is_empty(),
        "--basic" => options.basic.is_some(),
        "-H Authorization" => {
            options.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
        }
        other => unreachable!("`{other}` is in a table of this file"),
    }
}

/// Options that contradict each other whatever is loaded.
///
/// # Errors
/// The first contradiction.
pub fn check_conflicts(options: &RunOptions) -> Result<(), UserError> {
    exclusive(options)?;
    zeros(options)?;
    amounts(options)
}

fn exclusive(options: &RunOptions) -> Result<(), UserError> {
    for Exclusive { left, right, hint } in EXCLUSIVE {
        if given(options, left) && given(options, right) {
            return Err(UserError::usage(
                Code::Conflict,
                format!("{left} and {right} exclude each other"),
                hint,
            ));
        }
    }
    Ok(())
}

/// Fails on the first contradiction of a run of one URL.
pub(crate) fn check_url_conflicts(options: &RunOptions, url: &TargetUrl) -> Result<(), UserError> {
    exclusive(options)?;
    for Exclusive { left, right, hint } in NEEDS {
        if given(options, left) && !given(options, right) {
            return Err(UserError::usage(
                Code::Conflict,
                format!("{left} means nothing without {right}"),
                hint,
            ));
        }
    }
    if options.rate.is_some() && options.open_rate.is_some() && options.connections.is_none() {
        let hint = "-c opens a pool ahead of the load; without it connections open when an arrival needs one";
        return Err(UserError::usage(
            Code::Conflict,
            "--open-rate means nothing with -r and without -c",
            hint,
        ));
    }
    if options.proxy.as_ref().is_some_and(|proxy| proxy.url.credentials.is_some())
        && options.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("proxy-authorization"))
    {
        let hint = "keep one: a user and password in the URL of --proxy, or the header";
        let message = "--proxy with a user and -H Proxy-Authorization write the same header";
        return Err(UserError::usage(Code::Conflict, message, hint));
    }
    zeros(options)?;
    amounts(options)?;
    if options.proxy.is_some() && url.is_unix_socket() {
        return Err(UserError::usage(
            Code::Conflict,
            "--proxy has no effect on a Unix socket, to which this host connects itself",
            "leave --proxy out, or use an address of TCP",
        ));
    }
    options.connect_point(url).map(drop)
}

/// Zero where zero is senseless. `--warmup 0s` and `--drain 0s` mean what they say.
fn zeros(options: &RunOptions) -> Result<(), UserError> {
    let zero_rate = |rate: Option<wavetank_units::Rate>| rate.is_some_and(|rate| rate.count == 0);
    let short = |length: Option<Nanos>| length.is_some_and(|length| length <= Nanos::ZERO);
    let zeros = [
        ("-c", options.connections == Some(0), "at least 1"),
        ("-r", zero_rate(options.rate), "more than 0/s: 7/min is the way to be slow"),
        ("-d", short(options.duration), "for example 10s"),
        ("-n", options.requests == Some(0), "at least 1; leave it out for no limit"),
        ("--timeout", short(options.timeout), "for example 60s"),
        ("--connect-timeout", short(options.connect_timeout), "for example 5s"),
        ("--max-open", options.max_open == Some(0), "at least 1"),
        ("--open-rate", zero_rate(options.open_rate), "for example 5k/s"),
        ("--requests-per-connection", options.requests_per_connection == Some(0), "at least 1"),
        ("--pipeline", options.pipeline == Some(0), "at least 1, which means no pipelining"),
        ("--streams", options.streams == Some(0), "at least 1, which means one request at a time"),
        ("--threads", options.threads == Some(0), "at least 1; leave it out for one per CPU"),
    ];
    match zeros.iter().find(|(_, zero, _)| *zero) {
        Some((name, _, hint)) => {
            Err(UserError::usage(Code::Zero, format!("{name} of zero makes no sense"), *hint))
        }
        None => Ok(()),
    }
}

/// Pairs that are fine until their numbers contradict each other.
fn amounts(options: &RunOptions) -> Result<(), UserError> {
    let conflict = |message: String, hint: &str| Err(UserError::usage(Code::Conflict, message, hint));
    if let Some(depth) = options.pipeline.filter(|depth| *depth > PIPELINE_MAX) {
        let message = format!("--pipeline {depth} is out of range");
        return Err(UserError::usage(
            Code::Overflow,
            message,
            format!("up to {PIPELINE_MAX}; servers cope with far less"),
        ));
    }
    if let Some(streams) = options.streams.filter(|streams| *streams > PIPELINE_MAX) {
        let message = format!("--streams {streams} is out of range");
        let hint = format!("up to {PIPELINE_MAX}; servers allow 100 or 128");
        return Err(UserError::usage(Code::Overflow, message, hint));
    }
    if let (Some(connect), Some(timeout)) = (options.connect_timeout, options.timeout)
        && connect > timeout
    {
        let message =
            format!("--connect-timeout {connect} is longer than --timeout {timeout}, which covers it");
        return conflict(message, "lower the one or raise the other");
    }
    if let (Some(pipeline), Some(most)) = (options.pipeline, options.requests_per_connection)
        && u64::from(pipeline) > most
    {
        let message = format!("--pipeline {pipeline} never fits --requests-per-connection {most}");
        return conflict(message, "raise --requests-per-connection or lower --pipeline");
    }
    if let (Some(streams), Some(most)) = (options.streams, options.requests_per_connection)
        && u64::from(streams) > most
    {
        let message = format!("--streams {streams} never fits --requests-per-connection {most}");
        return conflict(message, "raise --requests-per-connection or lower --streams");
    }
    if let (Some(max_open), Some(connections)) = (options.max_open, options.connections)
        && connections > max_open
    {
        let message = format!("-c {connections} is never used up: --max-open {max_open} is smaller");
        return conflict(message, "raise --max-open or lower -c");
    }
    Ok(())
}
