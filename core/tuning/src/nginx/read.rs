//! [`read`]: a configuration with everything that it includes.

use super::{Directive, parse};
use crate::{Finding, Judgement, Place, Verdict};

/// Deepest chain of includes.
const DEPTH_MAX: usize = 16;
/// Most files that one configuration includes.
const FILES_MAX: usize = 2_000;

/// A file that `include` names: its path, and its text or the reason why there is none.
pub type IncludedFile = (String, Result<String, String>);

/// Returns the files that a pattern of `include` names in a file. A pattern with `*` may name none.
pub type Includes<'f> = &'f dyn Fn(&str) -> Vec<IncludedFile>;

/// Reads `file` with what it includes. Loops and files that cannot be read are findings.
pub(crate) fn read(file: &str, text: &str, includes: Includes<'_>) -> (Vec<Directive>, Vec<Finding>) {
    let mut reader = Reader { includes, chain: vec![file.to_owned()], findings: Vec::new(), files: 0 };
    let directives = reader.file(file, text);
    (directives, reader.findings)
}

struct Reader<'f> {
    includes: Includes<'f>,
    /// The files from the first one to that being read.
    chain: Vec<String>,
    findings: Vec<Finding>,
    files: usize,
}

impl Reader<'_> {
    fn file(&mut self, file: &str, text: &str) -> Vec<Directive> {
        let (directives, error) = parse(file, text);
        self.findings.extend(error);
        self.expand(directives)
    }

    fn expand(&mut self, directives: Vec<Directive>) -> Vec<Directive> {
        let mut all = Vec::new();
        for mut directive in directives {
            if directive.name == "include" && directive.block.is_none() {
                self.include(&directive, &mut all);
                continue;
            }
            directive.block = directive.block.map(|own| self.expand(own));
            all.push(directive);
        }
        all
    }

    fn include(&mut self, directive: &Directive, all: &mut Vec<Directive>) {
        let pattern = directive.arg(0);
        for (path, text) in (self.includes)(pattern) {
            self.files += 1;
            let text = match text {
                Ok(text) => text,
                Err(reason) => {
                    let sentence = format!("`{path}` cannot be read: {reason}");
                    self.note(&directive.place, sentence, "name a file that can be read");
                    continue;
                }
            };
            if let Some(start) = self.chain.iter().position(|own| *own == path) {
                let sentence =
                    format!("the files include each other: {} → {path}", self.chain[start..].join(" → "));
                self.note(&directive.place, sentence, "remove one include of the loop");
                continue;
            }
            if self.chain.len() > DEPTH_MAX || self.files > FILES_MAX {
                let sentence = format!("`{path}` is not read: the configuration includes too many files");
                self.note(&directive.place, sentence, "lint the file on its own");
                continue;
            }
            self.chain.push(path.clone());
            let own = self.file(&path, &text);
            all.extend(own);
            self.chain.pop();
        }
    }

    fn note(&mut self, place: &Place, sentence: String, hint: &str) {
        self.findings.push(Judgement::new(Verdict::Syntax, sentence, hint).at(place, "include"));
    }
}
