//! [`Baseline`]: the runs that a finished run is compared with.

use std::path::Path;

use wavetank_plan::Plan;
use wavetank_record::CompareDoc;
use wavetank_store::RunsDir;
use wavetank_units::{Code, ExitCode, UserError};

use crate::cli::{BaselineArgs, CompareSettings};
use crate::comparison::{LoadedRun, check_comparable, check_distinct, compare_sides, load, load_all};
use crate::output::Console;
use wavetank_runner::RunConsole as _;

/// Runs that were read before the new one started, so that problems with them are reported before
/// anything is sent.
pub(super) struct Baseline {
    runs: Vec<LoadedRun>,
    wishes: CompareSettings,
}

impl Baseline {
    /// Reads the runs with these names in `runs_dir`.
    pub(super) fn load(args: &BaselineArgs, runs_dir: &Path) -> Result<Self, UserError> {
        let dir = RunsDir::new(runs_dir);
        let runs = load_all(&dir, &args.runs)?;
        check_distinct(&runs.iter().collect::<Vec<_>>())?;
        Ok(Self { runs, wishes: args.wishes.clone() })
    }

    /// Checks before anything is sent whether a run of `plan` can be compared with them as
    /// requested.
    pub(super) fn check_comparable(&self, plan: &Plan) -> Result<(), UserError> {
        check_comparable(&self.runs, plan, &self.wishes)
    }

    /// Compares the run in `archive` with them. A failure here is no error of the command, because
    /// the run is complete.
    pub(super) fn compared(&self, archive: Option<&Path>) -> ComparisonResult {
        self.doc(archive)
            .map_err(|error| ComparisonError { error, limited: self.wishes.max_regression.is_some() })
    }

    fn doc(&self, archive: Option<&Path>) -> Result<CompareDoc, UserError> {
        let Some(folder) = archive else {
            let hint = "make room in the runs directory";
            return Err(UserError::usage(Code::NoArchive, "there is no archive to compare", hint));
        };
        let dir = RunsDir::new(folder.parent().unwrap_or(folder));
        let run = load(&dir, &folder.display().to_string())?;
        compare_sides(&self.runs, &[run], &self.wishes)
    }
}

/// The comparison, or the reason why there is none.
pub(super) type ComparisonResult = Result<CompareDoc, ComparisonError>;

/// The finished run could not be compared.
pub(super) struct ComparisonError {
    error: UserError,
    /// Whether `--max-regression` was given.
    limited: bool,
}

/// Returns the exit code of a run that ended with `exit`: its own, or the comparison's if it
/// passed. A missing comparison is reported in addition to the run's result and never replaces it.
pub(super) fn combined_exit_code(compared: Option<ComparisonResult>, exit: u8, talk: &mut Console) -> u8 {
    let passed = exit == ExitCode::Pass as u8;
    match compared {
        Some(Ok(doc)) if passed => doc.exit,
        None | Some(Ok(_)) => exit,
        Some(Err(ComparisonError { error, limited })) => {
            talk.warn_of(&UserError { message: format!("not compared: {}", error.message), ..error });
            // A user who set a limit must not believe that it was checked.
            if passed && limited { ExitCode::Incomplete as u8 } else { exit }
        }
    }
}
