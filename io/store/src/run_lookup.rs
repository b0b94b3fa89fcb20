//! Finds the run or search that the user names.

use std::path::PathBuf;

use wavetank_record::{ForeignEntryDoc, ForeignEntryKind};
use wavetank_units::{Code, UserError, sanitize};

use crate::folder_name::timestamp;
use crate::search_marker::ANSWER;
use crate::{Listing, RunEntry, RunsDir};

/// Maximum number of runs, and of searches, listed for an ambiguous name.
const NAMES_SHOWN_MAX: usize = 8;

/// A run or search that can be named.
struct Named<'a> {
    path: PathBuf,
    folder: &'a str,
    /// Empty if the folder's name has none.
    id: &'a str,
    is_search: bool,
}

impl RunsDir {
    /// Returns the path of the run or search that `word` names. `word` is `latest`, or the id or
    /// folder name of a run or search, or the start of one. It can also be a path to a folder or to
    /// a packed run. `latest` is never a search or a packed run.
    ///
    /// # Errors
    /// A usage error if nothing or more than one entry matches, or if the directory cannot be read.
    pub fn find(&self, word: &str) -> Result<PathBuf, UserError> {
        let by_path = || Some(PathBuf::from(word)).filter(|path| !word.is_empty() && path.exists());
        let listing = match (self.list(), by_path()) {
            (Ok(listing), _) => listing,
            (Err(_), Some(path)) if word != "latest" => return Ok(path),
            (Err(error), _) => return Err(error),
        };
        let Listing { runs, foreign } = &listing;
        if word == "latest" {
            let latest = runs.iter().rfind(|run| run.openable);
            return latest.map(|run| run.path.clone()).ok_or_else(|| self.none_yet(foreign));
        }
        let all = self.all_named(&listing);
        let mut called = called(&all, word);
        if called.is_empty() && by_path().is_none() && !word.is_empty() {
            // The folder may have been renamed by hand, but the stored id has not changed.
            let stored = |run: &RunEntry| run.stored_id().is_some_and(|id| id.starts_with(word));
            let runs = all.iter().zip(runs);
            called = runs.filter(|(_, run)| stored(run)).map(|(named, _)| named).collect();
        }
        match (called.as_slice(), by_path()) {
            ([one], _) => Ok(one.path.clone()),
            ([], Some(path)) => Ok(path),
            ([], None) if runs.is_empty() => Err(self.none_yet(foreign)),
            ([], None) => Err(UserError::usage(
                Code::RunUnknown,
                format!("no run `{}` in `{}`", sanitize(word), self.display()),
                "name a run by its folder, the start of its id, or `latest`: wavetank runs lists them",
            )),
            (several, _) => Err(ambiguous(word, several, &all)),
        }
    }

    /// Returns runs and searches, runs first, in their order.
    fn all_named<'a>(&self, listing: &'a Listing) -> Vec<Named<'a>> {
        let run = |run: &'a RunEntry| Named {
            path: run.path.clone(),
            folder: &run.folder,
            id: &run.id,
            is_search: false,
        };
        let search = |search: &'a ForeignEntryDoc| Named {
            path: self.path().join(&search.name),
            folder: &search.name,
            id: timestamp(&search.name).and_then(|_| search.name.rsplit('-').next()).unwrap_or_default(),
            is_search: true,
        };
        let is_result = |kind| matches!(kind, ForeignEntryKind::Search | ForeignEntryKind::Net);
        let searches = listing.foreign.iter().filter(|foreign| is_result(foreign.kind));
        listing.runs.iter().map(run).chain(searches.map(search)).collect()
    }

    fn none_yet(&self, foreign: &[ForeignEntryDoc]) -> UserError {
        let message = format!("no runs in `{}`", self.display());
        // Names start with the time, so the last one is the newest.
        let searched = |one: &&ForeignEntryDoc| {
            one.kind == ForeignEntryKind::Search && self.path().join(&one.name).join(ANSWER).is_file()
        };
        let hint = match foreign.iter().rfind(searched) {
            None => "make one with `wavetank run URL`, or name another runs directory with `--runs-dir DIR`"
                .to_owned(),
            Some(search) => {
                let folder = self.path().join(&search.name);
                format!("show the search there: wavetank report {}", sanitize(&folder.to_string_lossy()))
            }
        };
        UserError::usage(Code::RunUnknown, message, hint)
    }
}

/// Returns those of `all` that `word` names. A complete name takes precedence over names that start
/// with it.
fn called<'n, 'a>(all: &'n [Named<'a>], word: &str) -> Vec<&'n Named<'a>> {
    let fits: [&dyn Fn(&Named<'_>) -> bool; 3] =
        [&|named| named.folder == word, &|named| named.id == word, &|named| {
            named.folder.starts_with(word) || named.id.starts_with(word)
        }];
    let of = |fits: &dyn Fn(&Named<'_>) -> bool| all.iter().filter(|named| fits(named)).collect::<Vec<_>>();
    let found = fits.iter().map(|fits| of(fits)).find(|found| !found.is_empty());
    found.filter(|_| !word.is_empty()).unwrap_or_default()
}

/// The error for a `word` that matches `several` of `all`, with names that are unique.
fn ambiguous(word: &str, several: &[&Named<'_>], all: &[Named<'_>]) -> UserError {
    let (searches, runs): (Vec<&Named<'_>>, Vec<_>) =
        several.iter().copied().partition(|named| named.is_search);
    let by_id = |named: &Named<'_>| {
        !named.id.is_empty() && all.iter().filter(|other| other.id == named.id).count() == 1
    };
    let mixed = !runs.is_empty() && !searches.is_empty();
    let name = |named: &&Named<'_>| {
        let kind = if named.is_search { "search " } else { "run " };
        let name = if by_id(named) { named.id } else { named.folder };
        format!("{}`{}`", if mixed { kind } else { "" }, sanitize(name))
    };
    let reported = runs.iter().take(NAMES_SHOWN_MAX).chain(searches.iter().take(NAMES_SHOWN_MAX));
    let names: Vec<_> = reported.map(name).collect();
    let what = match (runs.iter().all(|named| by_id(named)), searches.iter().all(|named| by_id(named))) {
        (true, true) => "id",
        _ => "folder's name",
    };
    let count = |of: &[&Named<'_>], one: &str, more: &str| {
        (!of.is_empty()).then(|| format!("{} {}", of.len(), if of.len() == 1 { one } else { more }))
    };
    let counts = [count(&runs, "run", "runs"), count(&searches, "search", "searches")];
    let counts: Vec<_> = counts.into_iter().flatten().collect();
    UserError::usage(
        Code::RunAmbiguous,
        format!("`{}` matches {}", sanitize(word), counts.join(" and ")),
        format!("write more of the {what}: {}", names.join(", ")),
    )
}
