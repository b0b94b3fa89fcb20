//! [`AgentFiles`]: the interval files of a fleet's agents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::StoreProblem;
use crate::folder_name::file_stem;
use crate::line_digest::LineDigest;
use crate::line_file::LineFile;

/// One file per agent in a folder, each with the lines of its agent.
pub(crate) struct AgentFiles {
    dir: PathBuf,
    files: BTreeMap<String, AgentFile>,
    /// Names of files in use, in lower case: on some systems `A` is `a`.
    taken: BTreeSet<String>,
}

struct AgentFile {
    lines: LineFile,
    digest: LineDigest,
}

impl AgentFiles {
    /// Files in the folder `dir`, created with their first line.
    pub(crate) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), files: BTreeMap::new(), taken: BTreeSet::new() }
    }

    /// Appends a line, which has no newline, byte by byte.
    pub(crate) fn append(&mut self, agent: &str, line: &str) -> Result<(), StoreProblem> {
        if !self.files.contains_key(agent) {
            let name = format!("{}.jsonl", self.free_stem(agent));
            let path = self.dir.join(name);
            let file = AgentFile { lines: LineFile::new(&path), digest: LineDigest::default() };
            self.files.insert(agent.to_owned(), file);
        }
        let file = self.files.get_mut(agent).expect("it was just inserted");
        file.lines.append(line.to_owned())?;
        file.digest.add(line);
        Ok(())
    }

    /// Digest of the lines of `agent`.
    pub(crate) fn digest(&self, agent: &str) -> String {
        self.files.get(agent).map_or_else(|| LineDigest::default().hex(), |file| file.digest.hex())
    }

    pub(crate) fn sync(&mut self) -> Result<(), StoreProblem> {
        self.files.values_mut().try_for_each(|file| file.lines.sync())
    }

    /// Takes a file name for `agent` that no other agent has.
    fn free_stem(&mut self, agent: &str) -> String {
        let stem = file_stem(agent);
        let others = (2..).map(|number| format!("{stem}-{number}"));
        let mut names = std::iter::once(stem.clone()).chain(others);
        names.find(|name| self.taken.insert(name.to_ascii_lowercase())).expect("numbers do not end")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_agents_share_a_file() {
        let mut files = AgentFiles::new(Path::new("x"));
        let names = ["load-1", "a/b", "a-b", "A-b", "../a-b", "a-b-2", "", "run", "ü"];
        let stems = names.map(|name| files.free_stem(name));
        assert_eq!(stems, ["load-1", "a-b", "a-b-2", "A-b-3", "a-b-4", "a-b-2-2", "run", "run-2", "run-3"]);
    }
}
