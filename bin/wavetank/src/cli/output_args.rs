//! Arguments of `report`, and output formats and files of all commands.

use std::path::{Path, PathBuf};

use wavetank_plan::UserError;
use wavetank_report::{Language, LatencySeries};

use super::args::{OutFile, OutputFormat, ReportArgs, RunRef};
use super::parser::ReportWords;
use super::report_options::ReportOptions;
use super::value_parsers::{parse_choice, with_flag};

/// All formats by name. Of several names for one format, messages use the first.
const FORMATS: [(&str, OutputFormat); 9] = [
    ("text", OutputFormat::Text),
    ("json", OutputFormat::Json),
    ("junit", OutputFormat::Junit),
    ("csv", OutputFormat::Csv),
    ("markdown", OutputFormat::Markdown),
    ("hgrm", OutputFormat::Hgrm),
    ("hlog", OutputFormat::Hlog),
    ("html", OutputFormat::Html),
    ("oneline", OutputFormat::Oneline),
];

/// `--lang`.
const LANGUAGES: [(&str, Language); 2] = [("en", Language::English), ("zh", Language::Chinese)];

/// Parses `--lang`, if it is given. Only a page has a language, so one of `formats` (of stdout or
/// files) must be HTML.
pub(super) fn language(word: Option<&str>, formats: &[OutputFormat]) -> Result<Option<Language>, UserError> {
    let Some(word) = word else { return Ok(None) };
    let language = with_flag("--lang", parse_choice(word, &LANGUAGES, &[]))?;
    if !formats.contains(&OutputFormat::Html) {
        let hint = "use it with --format html or --out FILE.html";
        return Err(UserError::usage("conflict", "--lang applies only to html", hint));
    }
    Ok(Some(language))
}

/// Returns the formats of stdout and of all files.
pub(super) fn all_formats(format: OutputFormat, out: &[OutFile]) -> Vec<OutputFormat> {
    out.iter().map(|out| out.format).chain([format]).collect()
}

/// Parses `--format`.
pub(super) fn format(text: &str) -> Result<OutputFormat, UserError> {
    match text {
        "md" => Ok(OutputFormat::Markdown),
        _ => with_flag("--format", parse_choice(text, &FORMATS, &[])),
    }
}

/// Parses `--out FILE`; the suffix decides the format.
pub(super) fn out_files(paths: Vec<PathBuf>) -> Result<Vec<OutFile>, UserError> {
    let mut files: Vec<OutFile> = Vec::new();
    for path in paths {
        let format = format_of(&path)?;
        if let Some(same) = files.iter().find(|file| is_one_file(&file.path, &path)) {
            let message = if same.path == path {
                format!("--out {} is given twice", path.display())
            } else {
                format!("--out {} and --out {} are the same file", same.path.display(), path.display())
            };
            return Err(UserError::usage("conflict", message, "use a separate file for each"));
        }
        files.push(OutFile { path, format });
    }
    Ok(files)
}

/// Whether both paths name the same file, through links or another spelling.
fn is_one_file(a: &Path, b: &Path) -> bool {
    a == b || place(a).is_some_and(|place_a| place(b) == Some(place_a)) || have_one_inode(a, b)
}

/// Returns the resolved path of a file that may not exist yet.
fn place(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        // Writing to a dangling link creates the file that it points to.
        let led = path.read_link().ok().map(|to| path.with_file_name("").join(to));
        let path = led.as_deref().unwrap_or(path);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or_else(|| Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    })
}

/// Whether two names are links to one regular file. Devices may be named twice, because they do not
/// keep what is written.
#[cfg(unix)]
fn have_one_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let inode = |path: &Path| {
        let known = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((known.dev(), known.ino()))
    };
    inode(a).is_some_and(|inode_a| inode(b) == Some(inode_a))
}

#[cfg(not(unix))]
const fn have_one_inode(_: &Path, _: &Path) -> bool {
    false
}

/// Returns those of `paths` with a suffix that names a format, for a command line with an error
/// elsewhere.
pub(super) fn outputs_with_known_suffix(paths: &[PathBuf]) -> Vec<OutFile> {
    let known = |path: &PathBuf| Some(OutFile { path: path.clone(), format: format_of(path).ok()? });
    paths.iter().filter_map(known).collect()
}

fn format_of(path: &Path) -> Result<OutputFormat, UserError> {
    let suffix = path.extension().map(|suffix| suffix.to_string_lossy().to_ascii_lowercase());
    match suffix.as_deref() {
        Some("txt") => Ok(OutputFormat::Text),
        Some("json") => Ok(OutputFormat::Json),
        Some("xml" | "junit") => Ok(OutputFormat::Junit),
        Some("csv") => Ok(OutputFormat::Csv),
        Some("md" | "markdown") => Ok(OutputFormat::Markdown),
        Some("hgrm") => Ok(OutputFormat::Hgrm),
        Some("hlog") => Ok(OutputFormat::Hlog),
        Some("html" | "htm") => Ok(OutputFormat::Html),
        _ => {
            let message = format!("--out {}: the suffix is not a known format", path.display());
            let hint = ".txt is text, .json is json, .xml and .junit are junit, .md is markdown; .html, .csv, .hgrm and \
                        .hlog are the formats of these names: --out result.json";
            Err(UserError::usage("out_suffix", message, hint))
        }
    }
}

/// Converts the arguments of `wavetank report`.
pub(super) fn report(words: ReportWords) -> Result<ReportArgs, UserError> {
    if words.run.is_empty() {
        return Err(UserError::usage("no_run", "the run's name is empty", "wavetank report latest"));
    }
    let run = if words.run == "latest" { RunRef::Latest } else { RunRef::Named(words.run) };
    let of = words
        .of
        .as_deref()
        .map(|of| with_flag("--of", parse_choice(of, &LatencySeries::ALL, &[])))
        .transpose()?;
    let (format, out) = (format(&words.format)?, out_files(words.out)?);
    let language = language(words.lang.as_deref(), &all_formats(format, &out))?;
    let wants = ReportOptions {
        times: of,
        step: words.step,
        by_step: words.by_step,
        by_host: words.by_host,
        language,
    };
    let args = ReportArgs { run, format, out, wants, runs_dir: words.runs_dir };
    unheard(&args)?;
    Ok(args)
}

/// Refuses options of formats that are not requested, and steps of times that have none.
fn unheard(args: &ReportArgs) -> Result<(), UserError> {
    let ReportOptions { times: of, step, by_step, by_host, language: _ } = &args.wants;
    let is = |formats: &[OutputFormat]| {
        formats.contains(&args.format) || args.out.iter().any(|out| formats.contains(&out.format))
    };
    let conflict = |message: &str, hint: &str| Err(UserError::usage("conflict", message, hint));
    let histograms = [OutputFormat::Hgrm, OutputFormat::Hlog];
    if of.is_some() && !is(&histograms) {
        return conflict(
            "--of applies only to histograms",
            "use it with --format hgrm or hlog, or --out FILE.hgrm or .hlog",
        );
    }
    if step.is_some() && !is(&histograms) {
        return conflict(
            "--step applies only to histograms",
            "use it with --format hgrm or hlog; csv lists all steps with --by-step",
        );
    }
    if *by_step && !is(&[OutputFormat::Csv, OutputFormat::Hlog]) {
        return conflict(
            "--by-step applies only to csv and hlog",
            "use it with --format csv or hlog, or --out FILE.csv or .hlog",
        );
    }
    if *by_host && (*by_step || !is(&[OutputFormat::Csv])) {
        return conflict(
            "--by-host applies only to csv without --by-step",
            "use it with --format csv or --out FILE.csv: one row per host and second",
        );
    }
    let of = of.unwrap_or_default();
    if (step.is_some() || *by_step && is(&[OutputFormat::Hlog])) && !of.is_per_step() {
        let message = format!("{} times are not stored per step", of.name());
        return conflict(&message, "--of response and --of service are; the others are stored per phase");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn one_file_by_several_names_is_one() {
        use std::os::unix::fs::symlink;
        let temp = tempfile::tempdir().expect("a folder for the test");
        let at = |name: &str| temp.path().join(name);
        std::fs::write(at("a.json"), "").expect("the folder is writable");
        symlink("a.json", at("b.txt")).expect("the folder is writable");
        symlink("later.json", at("c.txt")).expect("the folder is writable");
        std::fs::hard_link(at("a.json"), at("d.md")).expect("the folder is writable");
        std::fs::create_dir(at("sub")).expect("the folder is writable");
        let check = |a: &str, b: &str, code: Option<&str>| {
            let refused = out_files(vec![at(a), at(b)]).err();
            assert_eq!(refused.as_ref().map(|error| error.code), code, "{a} {b}: {refused:?}");
        };
        check("a.json", "b.txt", Some("conflict"));
        check("a.json", "d.md", Some("conflict"));
        check("b.txt", "d.md", Some("conflict"));
        check("later.json", "c.txt", Some("conflict"));
        check("new.txt", "sub/../new.txt", Some("conflict"));
        check("a.json", "sub/a.json", None);
        check("a.json", "c.txt", None);
        check("nowhere/a.json", "nowhere/b.txt", None);
        let told = out_files(vec!["x.txt".into(), "./x.txt".into()]).expect_err("they are one");
        assert_eq!(told.message, "--out x.txt and --out ./x.txt are the same file");
    }
}
