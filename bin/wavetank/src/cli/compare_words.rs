//! Arguments of `compare`.

use std::path::PathBuf;

use clap::Args;
use wavetank_plan::quantity::parse_share;
use wavetank_plan::{UserError, did_you_mean, sanitize};

use super::args::OutputFormat;
use super::compare_args::{BaselineArgs, CompareArgs, CompareSettings, RUNS_MAX};
use super::output_args::{all_formats, format, language, out_files};
use super::run_options::default_runs_dir;
use super::run_options::seed;
use super::value_parsers::{parse_optional, with_flag};

/// Formats of a comparison.
const KNOWN: [OutputFormat; 5] =
    [OutputFormat::Text, OutputFormat::Json, OutputFormat::Junit, OutputFormat::Markdown, OutputFormat::Html];

/// Default seed of the draws.
const SEED: u64 = 1;

/// `wavetank compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
One run per side shows differences, but not whether they are chance. Use three or more runs per side.
For example: wavetank compare 7f3a latest
       wavetank compare 7f3a 81c0 92d4 --with a1b2 c3d4 e5f6
       wavetank compare 7f3a,81c0,92d4 a1b2,c3d4,e5f6 --max-regression 10%
       wavetank compare tag:version=1 tag:version=2
RUN is a folder, a name in the runs directory, the start of an id, or latest. name:NAME and tag:KEY=VALUE select all
finished runs with that name or label, name:NAME+tag:KEY=VALUE those with both. Write a comma inside them as \\,")]
pub(super) struct CompareWords {
    /// Runs to compare: A B, or A1,A2 B1,B2; with `--with`, all of these are A
    #[arg(value_name = "RUN,…", required = true)]
    pub(super) runs: Vec<String>,
    /// Runs of side B
    #[arg(long, value_name = "RUN", num_args = 1..)]
    pub(super) with: Vec<String>,
    /// Judge only this value, named as in conditions: p99, failed, 'p99(service)', 'p99(STEP)'
    /// (repeatable)
    #[arg(long, value_name = "VALUE")]
    pub(super) metric: Vec<String>,
    /// Exit 1 if a value is significantly worse by more than this share of A
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(super) max_regression: Option<String>,
    /// Seed of the resampling [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) seed: Option<String>,
    /// Output format on stdout
    #[arg(long, value_name = "text|json|junit|markdown|html", default_value = "text")]
    pub(super) format: String,
    /// html: language of the page, en or zh [default: en]
    #[arg(long, value_name = "LANG")]
    pub(super) lang: Option<String>,
    /// Also write the result to a file, in the format of its suffix: .txt .json .xml .junit .md
    /// .html (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(super) out: Vec<PathBuf>,
    /// Directory of stored runs [default: $`WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    pub(super) runs_dir: PathBuf,
}

/// `wavetank compare`.
pub(super) fn compare(words: CompareWords) -> Result<CompareArgs, UserError> {
    let (a, b) = sides(&words.runs, &words.with)?;
    let format = format(&words.format)?;
    let out = out_files(words.out)?;
    let formats = all_formats(format, &out);
    if formats.iter().any(|format| !KNOWN.contains(format)) {
        let hint = "use text, json, junit, markdown or html; for one run: wavetank report RUN --format csv";
        return Err(UserError::usage("value_unknown", "a comparison has no such format", hint));
    }
    let wishes = CompareSettings {
        metrics: metrics(words.metric)?,
        max_regression: parse_optional("--max-regression", words.max_regression.as_ref(), limit)?,
        seed: parse_optional("--seed", words.seed.as_ref(), seed)?.unwrap_or(SEED),
    };
    Ok(CompareArgs {
        a,
        b,
        wishes,
        format,
        language: language(words.lang.as_deref(), &formats)?.unwrap_or_default(),
        out,
        runs_dir: words.runs_dir,
    })
}

/// Parses `--max-regression`: a share above 0.
fn limit(text: &str) -> Result<f64, UserError> {
    let is_limit = |share: f64| share > 0.0 && share < 1.0;
    let read = parse_share(text);
    // If a unit alone would not correct the value, the error says so immediately.
    let meant = read.clone().or_else(|error| parse_share(&format!("{text}%")).map_err(|_| error))?;
    if !is_limit(meant) {
        let hint = "use a share between 0% and 100%, such as 10%; without it no difference fails";
        return Err(UserError::usage("out_of_range", format!("`{text}` is not a limit"), hint));
    }
    read
}

/// Parses `--metric`. A metric that no run has is reported once the runs are known; only impossible
/// ones are errors here.
fn metrics(words: Vec<String>) -> Result<Vec<String>, UserError> {
    const PLAIN: [&str; 7] = ["done_rate", "failed", "lost", "p50", "p90", "p99", "p99.9"];
    for word in &words {
        let bare = word.split('(').next().unwrap_or_default();
        let percentile = bare.strip_prefix('p').is_some_and(|q| q.parse::<f64>().is_ok());
        if percentile || PLAIN.contains(&bare) || word.contains('(') {
            continue;
        }
        let hint = match did_you_mean(bare, PLAIN) {
            Some(near) => format!("did you mean {near}?"),
            None => "p50 p90 p99 p99.9 done_rate failed lost 'p99(service)' 'p99(STEP)'".to_owned(),
        };
        return Err(UserError::usage(
            "metric_unknown",
            format!("--metric: `{word}` is not a known value"),
            hint,
        ));
    }
    Ok(words)
}

/// Decides which runs are A and which are B.
fn sides(runs: &[String], with: &[String]) -> Result<(Vec<String>, Vec<String>), UserError> {
    let (a, b) = match (runs, with) {
        ([a, b], []) => (split(std::slice::from_ref(a))?, split(std::slice::from_ref(b))?),
        ([_], []) => {
            let hint = "wavetank compare A B, or wavetank compare A1 A2 A3 --with B1 B2 B3";
            return Err(UserError::usage("one_side", "there is nothing to compare it with", hint));
        }
        (runs, []) => {
            let message = format!("{} runs, and it is not clear which are A and which are B", runs.len());
            let hint = "wavetank compare A1 A2 A3 --with B1 B2 B3, or A1,A2,A3 B1,B2,B3";
            return Err(UserError::usage("sides_unclear", message, hint));
        }
        (runs, with) => (split(runs)?, split(with)?),
    };
    for side in [&a, &b] {
        if side.is_empty() {
            let hint = "name a run by its folder, the start of its id, or latest; name:NAME and tag:KEY=VALUE select several";
            return Err(UserError::usage("one_side", "a side names no run", hint));
        }
        if side.len() > RUNS_MAX {
            let message = format!("{} runs on one side are more than {RUNS_MAX}", side.len());
            return Err(UserError::usage("overflow", message, "5 per side are usually enough"));
        }
    }
    Ok((a, b))
}

/// Options of the comparison after a run.
#[derive(Args, Debug)]
#[command(next_help_heading = "Comparison")]
pub(super) struct BaselineWords {
    /// Compare the finished run with this one (repeatable, or joined by commas; several runs give a
    /// more certain result)
    #[arg(long, value_name = "RUN,…")]
    pub(super) baseline: Vec<String>,
    /// With --baseline: exit 1 if a value is significantly worse by more than this share
    #[arg(long, value_name = "SHARE", requires = "baseline", allow_negative_numbers = true)]
    pub(super) max_regression: Option<String>,
    /// With --baseline: judge only this value: p99, failed, 'p99(STEP)' (repeatable)
    #[arg(long, value_name = "VALUE", requires = "baseline")]
    pub(super) metric: Vec<String>,
}

/// Converts `run … --baseline RUN`. `formats` are those of stdout and files; `kept` says whether
/// the run has an archive.
pub(super) fn baseline(
    words: BaselineWords,
    formats: &[OutputFormat],
    kept: bool,
) -> Result<Option<BaselineArgs>, UserError> {
    if words.baseline.is_empty() {
        return Ok(None);
    }
    let runs = with_flag("--baseline", split(&words.baseline))?;
    if runs.is_empty() {
        return with_flag("--baseline", Err(UserError::usage("one_side", "names no run", "--baseline 7f3a")));
    }
    if !kept {
        let hint = "leave out --no-archive or --once: the comparison reads the archive";
        return Err(UserError::usage("conflict", "--baseline needs the run's archive", hint));
    }
    let told = [OutputFormat::Text, OutputFormat::Json, OutputFormat::Junit, OutputFormat::Markdown];
    if formats.iter().any(|format| !told.contains(format)) {
        let hint = "use text, json, junit or markdown; afterwards: wavetank report latest --out FILE for the run, and wavetank \
                    compare RUN latest --out FILE.html for both";
        let message = "--baseline reports run and comparison together, which this format cannot hold";
        return Err(UserError::usage("conflict", message, hint));
    }
    let wishes = CompareSettings {
        metrics: metrics(words.metric)?,
        max_regression: parse_optional("--max-regression", words.max_regression.as_ref(), limit)?,
        seed: SEED,
    };
    Ok(Some(BaselineArgs { runs, wishes }))
}

/// Splits names of runs at commas; `None` if no run is named. A comma after a backslash belongs to
/// the name or label.
fn split(words: &[String]) -> Result<Vec<String>, UserError> {
    // A character that no argument can contain.
    const OWN: &str = "\0";
    let marked: Vec<String> = words.iter().map(|word| word.replace("\\,", OWN)).collect();
    let all = marked.iter().flat_map(|word| word.split(',')).map(|word| word.trim().replace(OWN, ","));
    let (named, empty): (Vec<_>, Vec<_>) = all.partition(|word| !word.is_empty());
    if empty.is_empty() || named.is_empty() {
        return Ok(named);
    }
    // Most likely an empty variable of a script.
    let message = format!("`{}` contains an empty name", sanitize(&words.join(" ")));
    let without: Vec<String> = named.iter().map(|word| word.replace(',', "\\,")).collect();
    Err(UserError::usage("no_run", message, format!("without it: {}", without.join(","))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(all: &[&str]) -> Vec<String> {
        all.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn sides_are_told_apart_or_asked_for() {
        let check = |runs: &[&str], with: &[&str], a: &[&str], b: &[&str]| {
            assert_eq!(sides(&words(runs), &words(with)), Ok((words(a), words(b))), "{runs:?} {with:?}");
        };
        check(&["x", "y"], &[], &["x"], &["y"]);
        check(&["x,u", "y,v,w"], &[], &["x", "u"], &["y", "v", "w"]);
        check(&["x", "u", "v"], &["y"], &["x", "u", "v"], &["y"]);
        check(&["x"], &["y,z"], &["x"], &["y", "z"]);
        check(&["tag:k=v\\,w,x", "y"], &[], &["tag:k=v,w", "x"], &["y"]);
        let refused = |runs: &[&str], with: &[&str], code: &str| {
            let error = sides(&words(runs), &words(with)).unwrap_err();
            assert_eq!(error.code, code, "{error}");
            assert!(!error.hint.is_empty());
        };
        refused(&["x"], &[], "one_side");
        refused(&["x", "y", "z"], &[], "sides_unclear");
        refused(&[",", "y"], &[], "one_side");
        for runs in [&["x,,", "y"], &["x", ",y"], &["x,,u", "y"]] {
            refused(runs, &[], "no_run");
        }
        refused(&["x", ""], &["y"], "no_run");
    }

    #[test]
    fn what_nobody_means_is_refused() {
        assert_eq!(limit("10%"), Ok(0.1));
        let refused = |word: &str| limit(word).map_err(|error| (error.code, error.hint)).unwrap_err();
        let told = |code, hint: &str| (code, hint.to_owned());
        assert_eq!(refused("10"), told("unit_missing", "10%?"));
        assert_eq!(refused("1e400"), told("unit_missing", "a share looks like 1% or 0.01%"));
        assert_eq!(refused("-5%").0, "negative");
        for word in ["0%", "100%", "0", "100"] {
            let (code, hint) = refused(word);
            assert!(
                code == "out_of_range" && hint.starts_with("use a share between"),
                "{word}: {code} {hint}"
            );
        }
        assert!(metrics(words(&["p99", "p99(login)", "failed", "p99.9"])).is_ok());
        assert_eq!(metrics(words(&["p9999x"])).unwrap_err().code, "metric_unknown");
        assert!(metrics(words(&["faild"])).unwrap_err().hint.contains("failed"));
    }
}
