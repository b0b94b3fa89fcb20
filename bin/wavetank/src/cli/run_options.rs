//! Converts the arguments of `run` to [`RunArgs`].

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use wavetank_experiment::{UrlBody, has_template};
use wavetank_plan::quantity::{
    parse_count_positive, parse_duration, parse_duration_positive, parse_rate_positive,
};
use wavetank_plan::{
    AllowTarget, Arrivals, Close, Condition, ConnectTo, DnsPolicy, HttpVersion, IpFamily, ProxyChoice,
    ProxyProtocol, ProxyUrl, RunOptions, SourcesPlan, Stage, StatusSet, UserError, parse_sources,
};

use super::args::{OutFile, OutputFormat, RunArgs};
use super::compare_words::baseline;
use super::curl;
use super::errors::Errors;
use super::files::InputFiles;
use super::load_source::{RequestExtras, parse_load_source};
use super::output_args::{all_formats, format, language, out_files};
use super::request_options::{basic, form, headers, inline_body, json, one_body};
use super::run_args::{
    ConnectionArgs, LoadArgs, OutputArgs, OverrideArgs, RequestArgs, RunWords, ThresholdArgs,
};
use super::tls_args::tls;
use super::value_parsers::{engine, parse_choice, parse_optional, parse_u32, with_flag};

/// Returns the default directory of archives: that of the environment, or `runs` in the current
/// directory.
pub(crate) fn default_runs_dir() -> PathBuf {
    std::env::var_os("WAVETANK_RUNS").filter(|dir| !dir.is_empty()).unwrap_or_else(|| "runs".into()).into()
}

/// Converts all arguments; `command` is the redacted command line.
pub(super) fn run(mut words: RunWords, command: String) -> Result<RunArgs, UserError> {
    let word = goal(words.goal, &mut words.options)?;
    let mut errors = Errors::default();
    let file_only = words.options.load.first_file_only_flag();
    let ParsedOptions { mut options, source_auto, request } = options(words.options, &mut errors);
    let goal = parse_load_source(&word, words.variation, file_only, request, &mut options);
    let result = words.result;
    errors.keep(check_output_conflicts(&result, options.once));
    let format = errors.keep(result.format.as_deref().map(format).transpose()).unwrap_or_default();
    let out = errors.keep(out_files(result.out));
    if result.no_archive {
        errors.keep(without_archive(format, &out));
    }
    let kept = !result.no_archive && !options.once;
    let formats = all_formats(format, &out);
    let language = errors.keep(language(result.lang.as_deref(), &formats)).unwrap_or_default();
    let baseline = errors.keep(baseline(words.baseline, &formats, kept));
    Ok(RunArgs {
        goal: errors.finish(goal)?,
        options,
        source_auto,
        format,
        out,
        language,
        runs_dir: result.runs_dir.unwrap_or_else(default_runs_dir),
        no_archive: result.no_archive,
        quiet: result.quiet,
        command,
        baseline,
    })
}

/// Returns the URL or file to load: the argument, or the URL of the curl command, which is merged
/// into `words`.
pub(super) fn goal(word: Option<OsString>, words: &mut OverrideArgs) -> Result<OsString, UserError> {
    match (word, words.request.curl.take()) {
        (Some(_), Some(_)) => {
            let hint = "the curl command has the URL; leave the other one out";
            Err(UserError::usage("conflict", "--curl and a URL or file exclude each other", hint))
        }
        (Some(word), None) => Ok(word),
        (None, path) => Ok(curl::read(&path.unwrap_or_default(), words)?.into()),
    }
}

/// The options of a run.
pub(super) struct ParsedOptions {
    pub(super) options: RunOptions,
    /// `--source auto`: all addresses of the interface towards the target.
    pub(super) source_auto: bool,
    /// The request of a URL beyond `options`.
    pub(super) request: RequestExtras,
}

/// Converts the overrides.
pub(super) fn options(words: OverrideArgs, errors: &mut Errors) -> ParsedOptions {
    let mut options = RunOptions::default();
    load(&words.load, &mut options, errors);
    let request = request(words.request, &mut options, errors);
    connection(&words.connection, &mut options, errors);
    options.tls = errors.keep(tls(&words.tls));
    judge(&words.judge, &mut options, errors);
    options.name = words.naming.name;
    options.tags = errors.keep(tags(&words.naming.tag));
    ParsedOptions { options, source_auto: is_auto(&words.connection.source), request }
}

fn load(words: &LoadArgs, options: &mut RunOptions, errors: &mut Errors) {
    options.connections = errors.keep(parse_optional("-c", words.connections.as_ref(), parse_count_positive));
    options.rate = errors.keep(parse_optional("-r", words.rate.as_ref(), parse_rate_positive));
    options.duration = errors.keep(match words.duration.as_deref().and_then(body_habit) {
        Some(error) => Err(error),
        None => parse_optional("-d", words.duration.as_ref(), parse_duration_positive),
    });
    options.requests = errors.keep(parse_optional("-n", words.requests.as_ref(), parse_count_positive));
    for word in &words.stage {
        options.stages.extend(errors.keep(with_flag("--stage", Stage::parse(word)).map(Some)));
    }
    options.warmup = errors.keep(parse_optional("--warmup", words.warmup.as_ref(), parse_duration));
    let arrivals = [("even", Arrivals::Even), ("poisson", Arrivals::Poisson)];
    let spacing =
        parse_optional("--arrivals", words.arrivals.as_ref(), |text| parse_choice(text, &arrivals, &[]));
    options.arrivals = errors.keep(spacing);
    options.seed = errors.keep(parse_optional("--seed", words.seed.as_ref(), seed));
    let mut duration = |option, word: &Option<String>| {
        errors.keep(parse_optional(option, word.as_ref(), parse_duration_positive))
    };
    options.timeout = duration("--timeout", &words.timeout);
    options.connect_timeout = duration("--connect-timeout", &words.connect_timeout);
    options.drain = errors.keep(parse_optional("--drain", words.drain.as_ref(), parse_duration));
    options.max_open =
        errors.keep(parse_optional("--max-open", words.max_open.as_ref(), parse_count_positive));
    options.open_rate =
        errors.keep(parse_optional("--open-rate", words.open_rate.as_ref(), parse_rate_positive));
    options.once = words.once;
    options.probe = errors.keep(probe(words));
    options.truth = errors.keep(truth(words));
}

fn probe(words: &LoadArgs) -> Result<Option<bool>, UserError> {
    if words.probe && words.no_probe {
        let hint = "use one of the two; by default a URL is probed and a file is not";
        return Err(UserError::usage("conflict", "--probe and --no-probe exclude each other", hint));
    }
    Ok(words.probe.then_some(true).or(words.no_probe.then_some(false)))
}

fn truth(words: &LoadArgs) -> Result<Option<bool>, UserError> {
    if words.asked.truth && words.asked.no_truth {
        let hint = "use one of the two; by default a target on this host is polled";
        return Err(UserError::usage("conflict", "--truth and --no-truth exclude each other", hint));
    }
    Ok(words.asked.truth.then_some(true).or(words.asked.no_truth.then_some(false)))
}

/// curl's `-d` is a body: `-d '{"a":1}'`, `-d a=b`, `-d @file`.
fn body_habit(word: &str) -> Option<UserError> {
    let body = word.starts_with(['{', '[', '"', '@', '<']) || word.contains(['=', '&']);
    let hint = match word.strip_prefix('@') {
        Some(file) => {
            format!("a body from a file is --body-file {file} (curl's -d); -d is the duration: -d 10s")
        }
        None => "a body is --body TEXT (curl's -d); -d is the duration: -d 10s".to_owned(),
    };
    body.then(|| UserError::usage("not_a_number", format!("-d `{word}` is not a duration"), hint))
}

/// `--seed`.
pub(super) fn seed(text: &str) -> Result<u64, UserError> {
    text.parse().map_err(|_| {
        let hint = "a whole number from 0 to 18446744073709551615, for example --seed 7";
        if text.starts_with('-') {
            return UserError::usage("negative", format!("`{text}` is negative"), hint);
        }
        UserError::usage("not_a_number", format!("`{text}` is not a seed"), hint)
    })
}

pub(super) fn request(words: RequestArgs, options: &mut RunOptions, errors: &mut Errors) -> RequestExtras {
    errors.keep(one_body(&words));
    let mut files = InputFiles::default();
    options.method = words.method;
    for word in &words.header {
        options.headers.extend(errors.keep(headers(word, &mut files)));
    }
    let is_typed = words.body.is_some() || words.raw_body.is_some();
    let mut extras =
        RequestExtras { body_is_typed: is_typed, follow: words.follow, ..RequestExtras::default() };
    options.body = match (words.body, words.body_file) {
        (Some(text), _) => errors.keep(inline_body(text).map(Some)),
        (None, Some(path)) => errors.keep(files.body(&plain_path(&path)).map(Some)),
        (None, None) => words.raw_body,
    };
    if let Some(word) = words.json {
        extras.body = errors.keep(json(word, &mut files).map(|text| Some(UrlBody::Json(text))));
    } else if !words.form.is_empty() {
        let form = form(&words.form, words.multipart, &mut files, &mut extras.files);
        extras.body = errors.keep(form.map(Some));
    }
    extras.rows = words.rows;
    options.basic = errors.keep(words.basic.map(|word| basic(&word, &mut files)).transpose());
    options.expect_status =
        errors.keep(parse_optional("--expect-status", words.expect_status.as_ref(), StatusSet::parse));
    extras
}

/// curl users write `--body-file @x`; the @ is not needed.
fn plain_path(path: &Path) -> PathBuf {
    let habit = path.to_str().and_then(|text| text.strip_prefix('@'));
    habit.filter(|_| !path.exists()).map_or_else(|| path.to_owned(), PathBuf::from)
}

fn connection(words: &ConnectionArgs, options: &mut RunOptions, errors: &mut Errors) {
    let versions = [("1.1", HttpVersion::Http11), ("1.0", HttpVersion::Http10)];
    let later = ["2", "3", "2.0", "h2", "h2c", "h3"];
    let http = |text: &str| parse_choice(text, &versions, &later);
    options.http = errors.keep(parse_optional("--http", words.http.as_ref(), http));
    options.no_keepalive = words.no_keepalive;
    let most = words.requests_per_connection.as_ref();
    options.requests_per_connection =
        errors.keep(parse_optional("--requests-per-connection", most, parse_count_positive));
    let closes = [("fin", Close::Fin), ("rst", Close::Rst)];
    let close = |text: &str| parse_choice(text, &closes, &[]);
    options.close = errors.keep(parse_optional("--close", words.close.as_ref(), close));
    options.pipeline = errors.keep(parse_optional("--pipeline", words.pipeline.as_ref(), parse_u32));
    options.threads = errors.keep(parse_optional("--threads", words.threads.as_ref(), parse_u32));
    options.engine = errors.keep(parse_optional("--engine", words.engine.as_ref(), engine));
    if !words.source.is_empty() && !is_auto(&words.source) {
        let ranges = errors.keep(with_flag("--source", parse_sources(&words.source.join(","))));
        options.sources = SourcesPlan { ranges, ..SourcesPlan::default() };
    }
    let connect_to = errors.keep(parse_optional("--connect-to", words.connect_to.as_ref(), ConnectTo::parse));
    options.connect_to = connect_to.into_iter().collect();
    options.proxy = errors.keep(words.proxy.as_deref().map(proxy).transpose());
    let versions = [("v1", ProxyProtocol::V1), ("v2", ProxyProtocol::V2)];
    let version = parse_optional("--proxy-protocol", words.proxy_protocol.as_ref(), |text| {
        let text = if ["1", "2"].contains(&text) { format!("v{text}") } else { text.to_owned() };
        parse_choice(&text, &versions, &[])
    });
    options.proxy_protocol = errors.keep(version);
    options.dns = errors.keep(parse_optional("--dns", words.dns.as_ref(), DnsPolicy::parse));
    let families = [("4", IpFamily::V4), ("6", IpFamily::V6)];
    let family = |text: &str| parse_choice(text, &families, &[]);
    options.ip = errors.keep(parse_optional("--ip", words.ip.as_ref(), family));
    for word in &words.allow_target {
        options
            .allow_target
            .extend(errors.keep(with_flag("--allow-target", AllowTarget::parse(word)).map(Some)));
    }
}

/// Parses the URL, or the file that holds it.
fn proxy(word: &str) -> Result<ProxyChoice, UserError> {
    let text = match word.strip_prefix('@') {
        Some(path) => InputFiles::default().text("--proxy", path)?.trim().to_owned(),
        None if has_template(word) => {
            let hint = "--proxy @FILE with the URL in it, which is used as it is";
            return Err(UserError::usage("template_not_fixed", "--proxy takes no templates", hint));
        }
        None => word.to_owned(),
    };
    let url = with_flag("--proxy", ProxyUrl::parse(&text))?;
    Ok(ProxyChoice { url, addresses: Vec::new() })
}

/// `--source auto`, alone.
fn is_auto(words: &[String]) -> bool {
    words == ["auto"]
}

fn judge(words: &ThresholdArgs, options: &mut RunOptions, errors: &mut Errors) {
    let mut read = |option: &str, words: &[String]| {
        let read = words.iter().map(|word| with_flag(option, Condition::parse(word)).map(Some));
        read.filter_map(|condition| errors.keep(condition)).collect()
    };
    options.thresholds = read("--threshold", &words.threshold);
    options.stop = read("--stop", &words.stop);
}

fn tags(words: &[String]) -> Result<BTreeMap<String, String>, UserError> {
    let mut tags = BTreeMap::new();
    for word in words {
        let Some((key, value)) = word.split_once('=').filter(|(key, _)| !key.trim().is_empty()) else {
            let message = format!("--tag `{word}` has no key and value");
            return Err(UserError::usage("bad_tag", message, "--tag build=1234"));
        };
        if tags.insert(key.trim().to_owned(), value.to_owned()).is_some() {
            let message = format!("--tag `{key}` is given twice");
            return Err(UserError::usage("conflict", message, "one value for each key"));
        }
    }
    Ok(tags)
}

/// Checks output options that exclude each other. The pairs of the load itself are in
/// `wavetank_plan::resolve::EXCLUSIVE`.
pub(super) fn check_output_conflicts(words: &OutputArgs, once: bool) -> Result<(), UserError> {
    let given = [
        ("--out", !words.out.is_empty()),
        ("--lang", words.lang.is_some()),
        ("--format", words.format.as_deref().is_some_and(|format| format != "text")),
        ("--runs-dir", words.runs_dir.is_some()),
    ];
    if let Some((name, _)) = given.iter().find(|(_, given)| once && *given) {
        let hint = "--once is not a run: it stores no archive and prints one response as text on stdout";
        return Err(UserError::usage("conflict", format!("--once and {name} exclude each other"), hint));
    }
    if words.no_archive && words.runs_dir.is_some() {
        let hint = "--runs-dir is the directory of the archive, and --no-archive stores none";
        return Err(UserError::usage("conflict", "--no-archive and --runs-dir exclude each other", hint));
    }
    Ok(())
}

/// Some formats are made from the intervals of the archive.
fn without_archive(format: OutputFormat, out: &[OutFile]) -> Result<(), UserError> {
    let needing = out.iter().find(|out| out.format.needs_intervals());
    let word = match needing {
        Some(out) => format!("--out {}", out.path.display()),
        None if format.needs_intervals() => "this --format".to_owned(),
        None => return Ok(()),
    };
    let hint = "csv, hgrm and hlog are made from the archive's intervals: leave out --no-archive, or use .json or .md";
    Err(UserError::usage("conflict", format!("--no-archive and {word} exclude each other"), hint))
}
