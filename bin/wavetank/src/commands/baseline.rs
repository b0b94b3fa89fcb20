//! [`Baseline`]: what a run is compared with as soon as it is over.

use std::path::Path;

use wavetank_plan::{ExitCode, UserError};
use wavetank_report::comparison_text;
use wavetank_store::RunsDir;

use crate::cli::{BaselineArgs, CompareWishes};
use crate::comparing::{LoadedRun, compare_sides, load};
use crate::run::{Talk, output};

/// Runs that were read before the new one began: what is wrong with them is told before anything is sent.
pub(super) struct Baseline {
    runs: Vec<LoadedRun>,
    wishes: CompareWishes,
}

impl Baseline {
    /// Read the runs called so in `runs_dir`.
    pub(super) fn load(args: &BaselineArgs, runs_dir: &Path) -> Result<Self, UserError> {
        let dir = RunsDir::new(runs_dir);
        let runs = args.runs.iter().map(|word| load(&dir, word)).collect::<Result<_, _>>()?;
        Ok(Self { runs, wishes: args.wishes.clone() })
    }

    /// Compare the run in `archive` with them and print it. The exit code is the run's, which ended with `exit`; where that
    /// one passed, the comparison's.
    pub(super) fn told(&self, archive: Option<&Path>, exit: u8, talk: &mut Talk) -> Result<u8, UserError> {
        let compared = if let Some(folder) = archive {
            let dir = RunsDir::new(folder.parent().unwrap_or(folder));
            let run = load(&dir, &folder.display().to_string());
            run.and_then(|run| compare_sides(&self.runs, &[run], &self.wishes))
        } else {
            let hint = "make room in the runs directory";
            Err(UserError::usage("no_archive", "there is no archive to compare", hint))
        };
        match compared {
            Ok(doc) => {
                output::print(&format!("\n{}", comparison_text(&doc)))?;
                Ok(if exit == ExitCode::Pass as u8 { doc.exit } else { exit })
            }
            // The run has been made and told; that it could not be compared must not hide that it did not pass.
            Err(error) if exit != ExitCode::Pass as u8 => {
                talk.warn(&error.to_string());
                Ok(exit)
            }
            Err(error) => Err(error),
        }
    }
}
