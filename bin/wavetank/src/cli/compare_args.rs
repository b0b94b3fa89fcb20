//! [`CompareArgs`]: arguments of `wavetank compare`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::ValueParserFactory as _;
use wavetank_report::Language;
use wavetank_units::{Code, UserError};

use super::choice::Choice;
use super::compare_settings::{CompareSettings, RUNS_MAX, limit, metric, split};
use super::output_args::{LANGUAGES, all_formats, check_files, check_language};
use super::output_formats::{OutFile, OutputFormat};
use super::value_parsers::{SEED, default_runs_dir, parse_seed};

/// Formats of a comparison. The others have an error of their own.
const FORMATS: Choice<OutputFormat> =
    Choice::new(&KNOWN).or(|text| Some(OutputFormat::value_parser().parse(text)));

const KNOWN: [(&str, OutputFormat); 5] = [
    ("text", OutputFormat::Text),
    ("json", OutputFormat::Json),
    ("junit", OutputFormat::Junit),
    ("markdown", OutputFormat::Markdown),
    ("html", OutputFormat::Html),
];

/// `wavetank compare`.
#[derive(Args, Clone, Debug, PartialEq)]
#[command(after_help = "\
One run per side shows differences, but not whether they are chance. Use three or more runs per side.
For example: wavetank compare 7f3a latest
       wavetank compare 7f3a 81c0 92d4 --with a1b2 c3d4 e5f6
       wavetank compare 7f3a,81c0,92d4 a1b2,c3d4,e5f6 --max-regression 10%
       wavetank compare tag:version=1 tag:version=2
RUN is a folder, a name in the runs directory, the start of an id, or latest. name:NAME and tag:KEY=VALUE select all
finished runs with that name or label, name:NAME+tag:KEY=VALUE those with both. Write a comma inside them as \\,")]
pub(crate) struct CompareArgs {
    /// Runs to compare: A B, or A1,A2 B1,B2; with `--with`, all of these are A
    #[arg(value_name = "RUN,…", required = true)]
    runs: Vec<String>,
    /// Runs of side B
    #[arg(long, value_name = "RUN", num_args = 1..)]
    with: Vec<String>,
    /// Judge only this value, named as in conditions: p99, failed, 'p99(service)', 'p99(STEP)'
    /// (repeatable)
    #[arg(long, value_name = "VALUE", value_parser = metric)]
    metric: Vec<String>,
    /// Exit 1 if a value is significantly worse by more than this share of A
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, value_parser = limit)]
    max_regression: Option<f64>,
    /// Seed of the resampling [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_seed)]
    seed: Option<u64>,
    /// Output format on stdout
    #[arg(long, default_value = "text", value_parser = FORMATS)]
    pub(crate) format: OutputFormat,
    /// html: language of the page [default: en]
    #[arg(long = "lang", value_parser = LANGUAGES)]
    pub(crate) language: Option<Language>,
    /// Also write the result to a file, in the format of its suffix: .txt .json .xml .junit .md
    /// .html (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<OutFile>,
    /// Directory of stored runs [default: `WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    pub(crate) runs_dir: PathBuf,
}

impl CompareArgs {
    /// Checks the sides, and that the formats can hold a comparison.
    pub(super) fn check(&self) -> Result<(), UserError> {
        self.sides()?;
        check_files(&self.out)?;
        let formats = all_formats(self.format, &self.out);
        if formats.iter().any(|format| !KNOWN.iter().any(|(_, known)| known == format)) {
            let hint =
                "use text, json, junit, markdown or html; for one run: wavetank report RUN --format csv";
            return Err(UserError::usage(Code::ValueUnknown, "a comparison has no such format", hint));
        }
        check_language(self.language, &formats)
    }

    /// Returns the names of the runs of side A, the reference, and of side B.
    pub(crate) fn sides(&self) -> Result<(Vec<String>, Vec<String>), UserError> {
        sides(&self.runs, &self.with)
    }

    /// Returns the options of the comparison.
    pub(crate) fn settings(&self) -> CompareSettings {
        CompareSettings {
            metrics: self.metric.clone(),
            max_regression: self.max_regression,
            seed: self.seed.unwrap_or(SEED),
        }
    }
}

/// Decides which runs are A and which are B.
fn sides(runs: &[String], with: &[String]) -> Result<(Vec<String>, Vec<String>), UserError> {
    let (a, b) = match (runs, with) {
        ([a, b], []) => (split(std::slice::from_ref(a))?, split(std::slice::from_ref(b))?),
        ([_], []) => {
            let hint = "wavetank compare A B, or wavetank compare A1 A2 A3 --with B1 B2 B3";
            return Err(UserError::usage(Code::OneSide, "there is nothing to compare it with", hint));
        }
        (runs, []) => {
            let message = format!("{} runs, and it is not clear which are A and which are B", runs.len());
            let hint = "wavetank compare A1 A2 A3 --with B1 B2 B3, or A1,A2,A3 B1,B2,B3";
            return Err(UserError::usage(Code::SidesUnclear, message, hint));
        }
        (runs, with) => (split(runs)?, split(with)?),
    };
    for side in [&a, &b] {
        if side.is_empty() {
            let hint = "name a run by its folder, the start of its id, or latest; name:NAME and tag:KEY=VALUE select several";
            return Err(UserError::usage(Code::OneSide, "a side names no run", hint));
        }
        if side.len() > RUNS_MAX {
            let message = format!("{} runs on one side are more than {RUNS_MAX}", side.len());
            return Err(UserError::usage(Code::Overflow, message, "5 per side are usually enough"));
        }
    }
    Ok((a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(all: &[&str]) -> Vec<String> {
        all.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn unclear_sides_are_rejected() {
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
}
