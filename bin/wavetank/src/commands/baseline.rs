//! [`Baseline`]: what a run is compared with as soon as it is over.

use std::path::Path;

use wavetank_plan::{ExitCode, UserError};
use wavetank_record::CompareDoc;
use wavetank_store::RunsDir;

use crate::cli::{BaselineArgs, CompareWishes};
use crate::comparing::{LoadedRun, compare_sides, load, load_all};
use crate::run::Talk;

/// Runs that were read before the new one began: what is wrong with them is told before anything is sent.
pub(super) struct Baseline {
    runs: Vec<LoadedRun>,
    wishes: CompareWishes,
}

impl Baseline {
    /// Read the runs called so in `runs_dir`.
    pub(super) fn load(args: &BaselineArgs, runs_dir: &Path) -> Result<Self, UserError> {
        let dir = RunsDir::new(runs_dir);
        Ok(Self { runs: load_all(&dir, &args.runs)?, wishes: args.wishes.clone() })
    }

    /// The run in `archive` compared with them.
    pub(super) fn compared(&self, archive: Option<&Path>) -> Result<CompareDoc, UserError> {
        let Some(folder) = archive else {
            let hint = "make room in the runs directory";
            return Err(UserError::usage("no_archive", "there is no archive to compare", hint));
        };
        let dir = RunsDir::new(folder.parent().unwrap_or(folder));
        let run = load(&dir, &folder.display().to_string())?;
        compare_sides(&self.runs, &[run], &self.wishes)
    }
}

/// The exit code of a run that ended with `exit` and was told: its own, and where it passed, the comparison's.
pub(super) fn exit_beside(
    compared: Option<Result<CompareDoc, UserError>>,
    exit: u8,
    talk: &mut Talk,
) -> Result<u8, UserError> {
    match compared {
        Some(Ok(doc)) if exit == ExitCode::Pass as u8 => Ok(doc.exit),
        None | Some(Ok(_)) => Ok(exit),
        // The run has been made and told; that it could not be compared must not hide that it did not pass.
        Some(Err(error)) if exit != ExitCode::Pass as u8 => {
            talk.warn(&error.to_string());
            Ok(exit)
        }
        Some(Err(error)) => Err(error),
    }
}
