//! Converts the arguments of `run` to [`RunArgs`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wavetank_plan::quantity::{
    parse_count_positive, parse_duration, parse_duration_positive, parse_rate_positive,
};
use wavetank_plan::{
    AllowTarget, Arrivals, Close, Condition, ConnectTo, DnsPolicy, HttpVersion, IpFamily, ProxyChoice,
    ProxyProtocol, ProxyUrl, RunOptions, Secret, SourcesPlan, StatusSet, UserError, parse_sources,
};

use super::args::{OutFile, OutputFormat, RunArgs};
use super::compare_words::baseline;
use super::files::InputFiles;
use super::load_source::parse_load_source;
use super::output_args::{all_formats, format, language, out_files};
use super::run_args::{
    ConnectionArgs, LoadArgs, OutputArgs, OverrideArgs, RequestArgs, RunWords, ThresholdArgs,
};
use super::tls_args::tls;
use super::value_parsers::{engine, parse_choice, parse_optional, parse_u32, with_flag};

/// Default directory of archives.
pub(crate) const RUNS_DIR: &str = "runs";

/// Converts all arguments; `command` is the redacted command line.
pub(super) fn run(words: RunWords, command: String) -> Result<RunArgs, UserError> {
    let goal = parse_load_source(&words.goal, words.variation, words.options.load.first_file_only_flag())?;
    let (options, source_auto) = options(words.options)?;
    let result = words.result;
    check_output_conflicts(&result, options.once)?;
    let format = result.format.as_deref().map(format).transpose()?.unwrap_or_default();
    let out = out_files(result.out)?;
    if result.no_archive {
        without_archive(format, &out)?;
    }
    let kept = !result.no_archive && !options.once;
    let formats = all_formats(format, &out);
    let language = language(result.lang.as_deref(), &formats)?.unwrap_or_default();
    let baseline = baseline(words.baseline, &formats, kept)?;
    Ok(RunArgs {
        goal,
        options,
        source_auto,
        format,
        out,
        language,
        runs_dir: result.runs_dir.unwrap_or_else(|| PathBuf::from(RUNS_DIR)),
        no_archive: result.no_archive,
        quiet: result.quiet,
        command,
        baseline,
    })
}

/// Converts the overrides. Also returns whether `--source auto` was given.
pub(super) fn options(words: OverrideArgs) -> Result<(RunOptions, bool), UserError> {
    let mut options = RunOptions::default();
    load(&words.load, &mut options)?;
    request(words.request, &mut options)?;
    connection(&words.connection, &mut options)?;
    options.tls = tls(&words.tls)?;
    judge(&words.judge, &mut options)?;
    options.name = words.naming.name;
    options.tags = tags(&words.naming.tag)?;
    Ok((options, is_auto(&words.connection.source)))
}

fn load(words: &LoadArgs, options: &mut RunOptions) -> Result<(), UserError> {
    options.connections = parse_optional("-c", words.connections.as_ref(), parse_count_positive)?;
    options.rate = parse_optional("-r", words.rate.as_ref(), parse_rate_positive)?;
    options.duration = match words.duration.as_deref().and_then(body_habit) {
        Some(error) => return Err(error),
        None => parse_optional("-d", words.duration.as_ref(), parse_duration_positive)?,
    };
    options.requests = parse_optional("-n", words.requests.as_ref(), parse_count_positive)?;
    options.warmup = parse_optional("--warmup", words.warmup.as_ref(), parse_duration)?;
    let arrivals = [("even", Arrivals::Even), ("poisson", Arrivals::Poisson)];
    options.arrivals =
        parse_optional("--arrivals", words.arrivals.as_ref(), |text| parse_choice(text, &arrivals, &[]))?;
    options.seed = parse_optional("--seed", words.seed.as_ref(), seed)?;
    options.timeout = parse_optional("--timeout", words.timeout.as_ref(), parse_duration_positive)?;
    options.connect_timeout =
        parse_optional("--connect-timeout", words.connect_timeout.as_ref(), parse_duration_positive)?;
    options.drain = parse_optional("--drain", words.drain.as_ref(), parse_duration)?;
    options.max_open = parse_optional("--max-open", words.max_open.as_ref(), parse_count_positive)?;
    options.open_rate = parse_optional("--open-rate", words.open_rate.as_ref(), parse_rate_positive)?;
    options.once = words.once;
    options.probe = probe(words)?;
    options.truth = truth(words)?;
    Ok(())
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

pub(super) fn request(words: RequestArgs, options: &mut RunOptions) -> Result<(), UserError> {
    let mut files = InputFiles::default();
    options.method = words.method;
    for word in &words.header {
        match word.strip_prefix('@') {
            Some(path) => {
                let text = files.text("-H", path)?;
                let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
                for (number, line) in lines {
                    options.headers.push(header(line, &format!("-H @{path}, line {number}"))?);
                }
            }
            None => options.headers.push(header(word, "-H")?),
        }
    }
    options.body = match (words.body, words.body_file) {
        (Some(_), Some(_)) => {
            let hint = "one of the two is the body";
            return Err(UserError::usage("conflict", "--body and --body-file exclude each other", hint));
        }
        (Some(text), None) => Some(inline_body(text)?),
        (None, Some(path)) => Some(files.body(&plain_path(&path))?),
        (None, None) => None,
    };
    options.basic = words.basic.map(|word| basic(&word, &mut files)).transpose()?;
    options.expect_status =
        parse_optional("--expect-status", words.expect_status.as_ref(), StatusSet::parse)?;
    Ok(())
}

/// curl reads `--data @file`; a body that really starts with `@` can come from a file.
fn inline_body(text: String) -> Result<Vec<u8>, UserError> {
    match text.strip_prefix('@') {
        Some(path) if !path.is_empty() => {
            let hint = format!("--body-file {path}; a body that begins with @ goes into a file too");
            Err(UserError::usage("bad_body", format!("--body `{text}` looks like a file"), hint))
        }
        _ => Ok(text.into_bytes()),
    }
}

/// curl users write `--body-file @x`; the @ is not needed.
fn plain_path(path: &Path) -> PathBuf {
    let habit = path.to_str().and_then(|text| text.strip_prefix('@'));
    habit.filter(|_| !path.exists()).map_or_else(|| path.to_owned(), PathBuf::from)
}

fn basic(word: &str, files: &mut InputFiles) -> Result<Secret, UserError> {
    match word.strip_prefix('@') {
        Some(path) => Ok(Secret::new(files.text("--basic", path)?.trim_end_matches(['\r', '\n']))),
        None => Ok(Secret::new(word)),
    }
}

/// Parses `Name: value`, which is at `place`. Errors leave the text out, because it may be a secret.
fn header(line: &str, place: &str) -> Result<(String, Secret), UserError> {
    if line.trim_start().starts_with('#') {
        let message = format!("{place}: a header begins with `#`, and comments are not supported");
        return Err(UserError::usage("bad_header", message, "remove the line"));
    }
    let (name, value) = line.split_once(':').ok_or_else(|| {
        let message = format!("{place}: a header has no colon");
        UserError::usage("bad_header", message, "-H 'Name: value', in quotes; in a file one on each line")
    })?;
    Ok((name.to_owned(), Secret::new(value.trim())))
}

fn connection(words: &ConnectionArgs, options: &mut RunOptions) -> Result<(), UserError> {
    let versions = [("1.1", HttpVersion::Http11), ("1.0", HttpVersion::Http10)];
    let later = ["2", "3", "2.0", "h2", "h2c", "h3"];
    options.http =
        parse_optional("--http", words.http.as_ref(), |text| parse_choice(text, &versions, &later))?;
    options.no_keepalive = words.no_keepalive;
    options.requests_per_connection = parse_optional(
        "--requests-per-connection",
        words.requests_per_connection.as_ref(),
        parse_count_positive,
    )?;
    let closes = [("fin", Close::Fin), ("rst", Close::Rst)];
    options.close = parse_optional("--close", words.close.as_ref(), |text| parse_choice(text, &closes, &[]))?;
    options.pipeline = parse_optional("--pipeline", words.pipeline.as_ref(), parse_u32)?;
    options.threads = parse_optional("--threads", words.threads.as_ref(), parse_u32)?;
    options.engine = parse_optional("--engine", words.engine.as_ref(), engine)?;
    if !words.source.is_empty() && !is_auto(&words.source) {
        let ranges = with_flag("--source", parse_sources(&words.source.join(",")))?;
        options.sources = SourcesPlan { ranges, ..SourcesPlan::default() };
    }
    options.connect_to =
        parse_optional("--connect-to", words.connect_to.as_ref(), ConnectTo::parse)?.into_iter().collect();
    options.proxy = words.proxy.as_deref().map(proxy).transpose()?;
    let versions = [("v1", ProxyProtocol::V1), ("v2", ProxyProtocol::V2)];
    options.proxy_protocol = parse_optional("--proxy-protocol", words.proxy_protocol.as_ref(), |text| {
        let text = if ["1", "2"].contains(&text) { format!("v{text}") } else { text.to_owned() };
        parse_choice(&text, &versions, &[])
    })?;
    options.dns = parse_optional("--dns", words.dns.as_ref(), DnsPolicy::parse)?;
    let families = [("4", IpFamily::V4), ("6", IpFamily::V6)];
    options.ip = parse_optional("--ip", words.ip.as_ref(), |text| parse_choice(text, &families, &[]))?;
    options.allow_target = words
        .allow_target
        .iter()
        .map(|word| with_flag("--allow-target", AllowTarget::parse(word)))
        .collect::<Result<_, _>>()?;
    Ok(())
}

/// Parses the URL, or the file that holds it.
fn proxy(word: &str) -> Result<ProxyChoice, UserError> {
    let text = match word.strip_prefix('@') {
        Some(path) => InputFiles::default().text("--proxy", path)?.trim().to_owned(),
        None => word.to_owned(),
    };
    let url = with_flag("--proxy", ProxyUrl::parse(&text))?;
    Ok(ProxyChoice { url, addresses: Vec::new() })
}

/// `--source auto`, alone.
fn is_auto(words: &[String]) -> bool {
    words == ["auto"]
}

fn judge(words: &ThresholdArgs, options: &mut RunOptions) -> Result<(), UserError> {
    let read = |option: &str, words: &[String]| {
        words.iter().map(|word| with_flag(option, Condition::parse(word))).collect::<Result<Vec<_>, _>>()
    };
    options.thresholds = read("--threshold", &words.threshold)?;
    options.stop = read("--stop", &words.stop)?;
    Ok(())
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
