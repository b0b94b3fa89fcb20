//! [`Explanation`]: one code, explained.

use super::CodeGroup;
use crate::html::glossary;

/// One code of one group. A code can stand in several groups, as `late` is a word and a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Where it is met.
    pub group: CodeGroup,
    /// The code, as it is printed.
    pub code: &'static str,
    /// Other words for it, joined by `, `; most have none.
    pub also: &'static str,
    /// What it means.
    pub means: &'static str,
    /// Why it happens, the most likely cause first; empty for what needs no cause.
    pub why: &'static str,
    /// What to do; empty where there is nothing to be done.
    pub act: &'static str,
    /// The page of the documentation that has more.
    pub see: &'static str,
}

/// Every code, by group, in the order of the texts.
pub fn explanations() -> Vec<Explanation> {
    CodeGroup::ALL
        .into_iter()
        .flat_map(|group| group.text().split("\n\n").map(move |it| of(group, it)))
        .collect()
}

/// One block: the code and its other words, then lines that begin with `means`, `why`, `do` or `see`.
/// `means = Late` takes the sentence of the HTML report's glossary, so that nothing is said twice.
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
