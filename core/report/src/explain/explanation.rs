//! [`Explanation`]: one code, explained.

use super::CodeGroup;
use crate::html::glossary;

/// One code of one group. A code can be in several groups: `late` is a term and a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Where users meet the code.
    pub group: CodeGroup,
    /// The code, as it is printed.
    pub code: &'static str,
    /// Synonyms, joined by `, `; most codes have none.
    pub also: &'static str,
    /// What it means.
    pub means: &'static str,
    /// Causes, the most likely one first; empty if none is needed.
    pub why: &'static str,
    /// What to do; empty if nothing can be done.
    pub act: &'static str,
    /// The page of the documentation with more about it.
    pub see: &'static str,
}

/// Every code, by group, in the order of the texts.
pub fn explanations() -> Vec<Explanation> {
    CodeGroup::ALL
        .into_iter()
        .flat_map(|group| group.text().split("\n\n").map(move |it| of(group, it)))
        .collect()
}

/// Parses one block: the code and its synonyms, then lines that start with `means`, `why`, `do` or
/// `see`. `means = Late` takes the sentence of the HTML report's glossary, so that no text is
/// stored twice.
fn of(group: CodeGroup, block: &'static str) -> Explanation {
    let mut lines = block.trim().lines();
    let head = lines.next().unwrap_or_default();
    let (code, also) = head.split_once(", ").unwrap_or((head, ""));
    let said = |what: &str| block.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(' '));
    let means = said("means").unwrap_or_default();
    Explanation {
        group,
        code,
        also,
        means: means.strip_prefix("= ").map_or(means, glossary),
        why: said("why").unwrap_or_default(),
        act: said("do").unwrap_or_default(),
        see: said("see").unwrap_or_else(|| group.see_also(code)),
    }
}
