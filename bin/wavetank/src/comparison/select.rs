//! [`load_all`]: loads the selected runs, single ones or all of a name or a label.

use std::io::{self, Write};

use wavetank_record::{RunLine, RunState};
use wavetank_store::RunsDir;
use wavetank_units::{Code, UserError, sanitize};

use super::{LoadedRun, load};
use crate::cli::RUNS_MAX;

/// What begins a word for all runs of a name.
const NAME: &str = "name:";
/// What begins a word for all runs with a label.
const TAG: &str = "tag:";

/// What a run must have to be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Selector {
    Name(String),
    Tag(String, String),
}

/// Reads the runs selected by `words`, in their order; those of a name or label, oldest first.
///
/// # Errors
/// A usage error if an argument selects no run, if there are too many, or if one cannot be
/// compared.
pub(crate) fn load_all(runs: &RunsDir, words: &[String]) -> Result<Vec<LoadedRun>, UserError> {
    let mut all = Vec::new();
    for word in words {
        match traits(word)? {
            None => all.push(load(runs, word)?),
            Some(traits) => {
                let found = chosen(runs, word, &traits, RUNS_MAX.saturating_sub(all.len()))?;
                for folder in found {
                    all.push(load(runs, &folder)?);
                }
            }
        }
    }
    Ok(all)
}

/// What `word` asks of runs; `None` if it names a single one.
fn traits(word: &str) -> Result<Option<Vec<Selector>>, UserError> {
    if !is_trait(word) {
        return Ok(None);
    }
    // A name or a value may hold a plus of its own.
    let mut parts: Vec<String> = Vec::new();
    for part in word.split('+') {
        match parts.last_mut() {
            Some(last) if !is_trait(part) => *last = format!("{last}+{part}"),
            _ => parts.push(part.to_owned()),
        }
    }
    parts.iter().map(|part| read(part)).collect::<Result<_, _>>().map(Some)
}

fn is_trait(part: &str) -> bool {
    part.starts_with(NAME) || part.starts_with(TAG)
}

fn read(part: &str) -> Result<Selector, UserError> {
    let unclear = || {
        let message = format!("`{}` names no runs", sanitize(part));
        let hint = "name:checkout for all runs of that name, tag:version=2 for all with that label";
        UserError::usage(Code::BadTag, message, hint)
    };
    let named = part.strip_prefix(NAME).filter(|name| !name.is_empty());
    let tagged =
        part.strip_prefix(TAG).and_then(|tag| tag.split_once('=')).filter(|(key, _)| !key.is_empty());
    match (named, tagged) {
        (Some(name), _) => Ok(Selector::Name(name.to_owned())),
        (_, Some((key, value))) => Ok(Selector::Tag(key.to_owned(), value.to_owned())),
        _ => Err(unclear()),
    }
}

fn has(run: &RunLine, asked: &Selector) -> bool {
    match asked {
        Selector::Name(name) => run.name == *name,
        Selector::Tag(key, value) => run.tags.get(key) == Some(value),
    }
}

/// Returns the folders of the finished runs with all of `traits`, oldest first. Unfinished ones are
/// reported.
fn chosen(runs: &RunsDir, word: &str, traits: &[Selector], most: usize) -> Result<Vec<String>, UserError> {
    let (mut found, mut unfinished) = (Vec::new(), 0);
    for entry in &runs.list()?.runs {
        let run = wavetank_store::summarize(entry);
        if !traits.iter().all(|asked| has(&run, asked)) {
            continue;
        }
        match run.state {
            RunState::Finished => found.push(entry.path.display().to_string()),
            _ => unfinished += 1,
        }
    }
    let dir = runs.path().to_string_lossy();
    let (word, shown) = (sanitize(word), sanitize(&dir));
    if unfinished > 0 {
        let runs = if unfinished == 1 { "run that has" } else { "runs that have" };
        // If stderr is closed, the warning is dropped.
        let _ = writeln!(io::stderr(), "warning: `{word}`: {unfinished} {runs} not finished left out");
    }
    if found.is_empty() {
        let message = format!("no finished run matches `{word}` in `{shown}`");
        let hint = "names and labels must match completely, with a comma as `\\,`: wavetank runs lists them, wavetank run … --tag \
                    version=2 sets one";
        return Err(UserError::usage(Code::RunUnknown, message, hint));
    }
    if found.len() > most {
        let message = format!("`{word}` matches {} runs, and a side has at most {RUNS_MAX}", found.len());
        return Err(UserError::usage(Code::Overflow, message, "add a label: name:checkout+tag:version=2"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_ask_for_names_and_labels() {
        let (name, tag) = (
            |text: &str| Selector::Name(text.to_owned()),
            |key: &str, value: &str| Selector::Tag(key.to_owned(), value.to_owned()),
        );
        let check =
            |word: &str, expected: Option<Vec<Selector>>| assert_eq!(traits(word), Ok(expected), "{word}");
        check("7f3a21", None);
        check("runs/20261121T190000Z-shop-7f3a21", None);
        check("name:shop", Some(vec![name("shop")]));
        check("tag:version=2", Some(vec![tag("version", "2")]));
        check("name:a+b", Some(vec![name("a+b")]));
        check("tag:x=", Some(vec![tag("x", "")]));
        check("name:a+b+tag:v=1+2", Some(vec![name("a+b"), tag("v", "1+2")]));
        for word in ["name:", "tag:", "tag:version", "tag:=2", "name:a+tag:"] {
            let error = traits(word).unwrap_err();
            assert_eq!(error.code, "bad_tag", "{word}");
        }
    }
}
