//! Which run or search a word calls.

use std::path::PathBuf;

use wavetank_plan::{UserError, sanitize};
use wavetank_record::{ForeignEntryDoc, ForeignEntryKind};

use crate::run_entry::timestamp;
use crate::search_folder::ANSWER;
use crate::{Listing, RunEntry, RunsDir};

/// Runs, and searches, named at most where a word fits several.
const NAMES_TOLD_MAX: usize = 8;

/// What a word can call: a run or a search.
struct Named<'a> {
    path: PathBuf,
    folder: &'a str,
    /// Empty if the folder's name has none.
    id: &'a str,
    is_search: bool,
}

impl RunsDir {
    /// What `word` calls: `latest`, the id or folder name of a run or a search or the beginning of one, or a path to a folder
    /// or to a packed run. `latest` is never a search or a packed run.
    ///
    /// # Errors
    /// A usage error if there is none, or more than one, or the directory cannot be read.
    pub fn find(&self, word: &str) -> Result<PathBuf, UserError> {
        let by_path = || Some(PathBuf::from(word)).filter(|path| !word.is_empty() && path.exists());
        let listing = match (self.list(), by_path()) {
            (Ok(listing), _) => listing,
            (Err(_), Some(path)) if word != "latest" => return Ok(path),
            (Err(error), _) => return Err(error),
        };
        let Listing { runs, beside } = &listing;
        if word == "latest" {
            let latest = runs.iter().rfind(|run| run.openable);
            return latest.map(|run| run.path.clone()).ok_or_else(|| self.none_yet(beside));
        }
        let all = self.all_named(&listing);
        let mut called = called(&all, word);
        if called.is_empty() && by_path().is_none() && !word.is_empty() {
            // A folder's name may have been changed by hand; what is stored in it has not.
            let stored = |run: &RunEntry| run.stored_id().is_some_and(|id| id.starts_with(word));
            let runs = all.iter().zip(runs);
            called = runs.filter(|(_, run)| stored(run)).map(|(named, _)| named).collect();
        }
        match (called.as_slice(), by_path()) {
            ([one], _) => Ok(one.path.clone()),
            ([], Some(path)) => Ok(path),
            ([], None) if runs.is_empty() => Err(self.none_yet(beside)),
            ([], None) => Err(UserError::usage(
                "run_unknown",
                format!("no run `{}` in `{}`", sanitize(word), self.display()),
                "name a run by its folder, the beginning of its id, or `latest`: wavetank runs lists them",
            )),
            (several, _) => Err(ambiguous(word, several, &all)),
        }
    }

    /// Runs first, in their order.
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
        let searches = listing.beside.iter().filter(|beside| beside.kind == ForeignEntryKind::Search);
        listing.runs.iter().map(run).chain(searches.map(search)).collect()
    }

    fn none_yet(&self, beside: &[ForeignEntryDoc]) -> UserError {
        let message = format!("no runs in `{}`", self.display());
        // By their names, which begin with the time, the last one is the newest.
        let searched = |one: &&ForeignEntryDoc| {
            one.kind == ForeignEntryKind::Search && self.path().join(&one.name).join(ANSWER).is_file()
        };
        let hint = match beside.iter().rfind(searched) {
            None => {
                "make one with `wavetank run URL`, or say where they are with `--runs-dir DIR`".to_owned()
            }
            Some(search) => {
                let folder = self.path().join(&search.name);
                format!("a search lies there: wavetank report {}", sanitize(&folder.to_string_lossy()))
            }
        };
        UserError::usage("run_unknown", message, hint)
    }
}

/// Those of `all` that `word` calls. A whole name is one thing's alone, whatever begins with it.
fn called<'n, 'a>(all: &'n [Named<'a>], word: &str) -> Vec<&'n Named<'a>> {
    let fits: [&dyn Fn(&Named<'_>) -> bool; 3] =
        [&|named| named.folder == word, &|named| named.id == word, &|named| {
            named.folder.starts_with(word) || named.id.starts_with(word)
        }];
    let of = |fits: &dyn Fn(&Named<'_>) -> bool| all.iter().filter(|named| fits(named)).collect::<Vec<_>>();
    let found = fits.iter().map(|fits| of(fits)).find(|found| !found.is_empty());
    found.filter(|_| !word.is_empty()).unwrap_or_default()
}

/// `word` fits `several` of `all`: what calls each of them alone.
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
    let told = runs.iter().take(NAMES_TOLD_MAX).chain(searches.iter().take(NAMES_TOLD_MAX));
    let names: Vec<_> = told.map(name).collect();
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
        "run_ambiguous",
        format!("`{}` fits {}", sanitize(word), counts.join(" and ")),
        format!("write more of the {what}: {}", names.join(", ")),
    )
}
