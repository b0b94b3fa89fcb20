//! [`AgentFiles`]: the interval files of a fleet's agents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::StoreProblem;
use crate::folder_name::free_stem;
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
            let name = format!("{}.jsonl", free_stem(agent, &mut self.taken));
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
}
