//! [`OutputArgs`]: output formats, output files and the archive, for `run` and `search`.

use std::path::{Path, PathBuf};

use clap::Args;
use wavetank_report::Language;
use wavetank_units::{Code, UserError};

use super::choice::Choice;
use super::output_formats::{OutFile, OutputFormat};
#[cfg(target_os = "linux")]
use super::value_parsers::default_runs_dir;

/// `--lang`.
pub(super) const LANGUAGES: Choice<Language> =
    Choice::new(&[("en", Language::English), ("zh", Language::Chinese)]);

/// Output and archive.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(next_help_heading = "Result")]
pub(crate) struct OutputArgs {
    /// Output format on stdout [default: text]
    #[arg(long)]
    format: Option<OutputFormat>,
    /// Also write the result to a file, in the format of its suffix: .txt .json .xml .junit .html
    /// .md .csv .hgrm .hlog (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<OutFile>,
    /// html: language of the page [default: en]
    #[arg(long, value_parser = LANGUAGES)]
    lang: Option<Language>,
    /// Directory for the archive [default: `WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
    /// Store no archive of the run
    #[arg(long)]
    pub(crate) no_archive: bool,
    /// Print no progress or messages on stderr
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print progress as lines, also on a large terminal
    #[arg(long)]
    pub(crate) plain: bool,
}

impl OutputArgs {
    /// Returns the format on stdout.
    pub(crate) fn format(&self) -> OutputFormat {
        self.format.unwrap_or_default()
    }

    /// Returns the formats of stdout and of all files.
    pub(crate) fn formats(&self) -> Vec<OutputFormat> {
        all_formats(self.format(), &self.out)
    }

    /// Returns the language of an HTML page.
    #[cfg(target_os = "linux")]
    pub(crate) fn language(&self) -> Language {
        self.lang.unwrap_or_default()
    }

    /// Returns the directory of stored runs.
    #[cfg(target_os = "linux")]
    pub(crate) fn runs_dir(&self) -> PathBuf {
        self.runs_dir.clone().unwrap_or_else(default_runs_dir)
    }

    /// Returns the directory for the archive; `None`: no archive is kept.
    #[cfg(target_os = "linux")]
    pub(crate) fn archive_dir(&self) -> Option<PathBuf> {
        (!self.no_archive).then(|| self.runs_dir())
    }

    /// Refuses `--lang` without a page.
    pub(super) fn check_language(&self) -> Result<(), UserError> {
        check_language(self.lang, &self.formats())
    }

    /// Refuses options that exclude each other. The pairs of the load itself are in
    /// `wavetank_experiment::EXCLUSIVE`.
    pub(super) fn check_conflicts(&self, once: bool) -> Result<(), UserError> {
        let given = [
            ("--out", !self.out.is_empty()),
            ("--lang", self.lang.is_some()),
            ("--format", self.format() != OutputFormat::Text),
            ("--runs-dir", self.runs_dir.is_some()),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| once && *given) {
            let hint = "--once is not a run: it stores no archive and prints one response as text on stdout";
            return Err(UserError::usage(
                Code::Conflict,
                format!("--once and {name} exclude each other"),
                hint,
            ));
        }
        if self.no_archive && self.runs_dir.is_some() {
            let hint = "--runs-dir is the directory of the archive, and --no-archive stores none";
            return Err(UserError::usage(
                Code::Conflict,
                "--no-archive and --runs-dir exclude each other",
                hint,
            ));
        }
        Ok(())
    }

    /// Refuses `--no-archive` with formats that are made from the intervals of the archive.
    pub(super) fn check_archive(&self) -> Result<(), UserError> {
        let needing = self.out.iter().find(|out| out.format.needs_intervals());
        let word = match needing {
            _ if !self.no_archive => return Ok(()),
            Some(out) => format!("--out {}", out.path.display()),
            None if self.format().needs_intervals() => "this --format".to_owned(),
            None => return Ok(()),
        };
        let hint = "csv, hgrm and hlog are made from the archive's intervals: leave out --no-archive, or use .json or .md";
        Err(UserError::usage(Code::Conflict, format!("--no-archive and {word} exclude each other"), hint))
    }
}

/// Refuses `--lang` unless one of `formats` (of stdout or files) is HTML: only a page has a
/// language.
pub(super) fn check_language(language: Option<Language>, formats: &[OutputFormat]) -> Result<(), UserError> {
    if language.is_some() && !formats.contains(&OutputFormat::Html) {
        let hint = "use it with --format html or --out FILE.html";
        return Err(UserError::usage(Code::Conflict, "--lang applies only to html", hint));
    }
    Ok(())
}

/// Returns the formats of stdout and of all files.
pub(super) fn all_formats(format: OutputFormat, out: &[OutFile]) -> Vec<OutputFormat> {
    out.iter().map(|out| out.format).chain([format]).collect()
}

/// Refuses one file by two names.
pub(super) fn check_files(files: &[OutFile]) -> Result<(), UserError> {
    for (index, OutFile { path, .. }) in files.iter().enumerate() {
        if let Some(same) = files[..index].iter().find(|file| is_one_file(&file.path, path)) {
            let message = if same.path == *path {
                format!("--out {} is given twice", path.display())
            } else {
                format!("--out {} and --out {} are the same file", same.path.display(), path.display())
            };
            return Err(UserError::usage(Code::Conflict, message, "use a separate file for each"));
        }
    }
    Ok(())
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
        let files = |paths: [PathBuf; 2]| paths.map(|path| OutFile::new(path).expect("a known suffix"));
        let check = |a: &str, b: &str, code: Option<&str>| {
            let refused = check_files(&files([at(a), at(b)])).err();
            assert_eq!(refused.as_ref().map(|error| error.code.as_str()), code, "{a} {b}: {refused:?}");
        };
        check("a.json", "b.txt", Some("conflict"));
        check("a.json", "d.md", Some("conflict"));
        check("b.txt", "d.md", Some("conflict"));
        check("later.json", "c.txt", Some("conflict"));
        check("new.txt", "sub/../new.txt", Some("conflict"));
        check("a.json", "sub/a.json", None);
        check("a.json", "c.txt", None);
        check("nowhere/a.json", "nowhere/b.txt", None);
        let same = check_files(&files(["x.txt".into(), "./x.txt".into()])).expect_err("they are one");
        assert_eq!(same.message, "--out x.txt and --out ./x.txt are the same file");
    }
}
