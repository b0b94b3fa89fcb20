//! [`ScenarioScope`]: the names that are valid in one scenario.

use wavetank_grammar::Spanned;

use super::GlobalScope;
use super::shared::index;

/// Names of one scenario, in addition to the shared ones.
pub(super) struct ScenarioScope<'e> {
    pub(super) shared: &'e GlobalScope<'e>,
    /// Variables that its sessions set, or have from the run's `before`. All other variables of the
    /// file are filled in here.
    pub(super) variables: Vec<String>,
    /// Target of its requests that name no other.
    pub(super) target: Option<&'e Spanned<String>>,
}

impl ScenarioScope<'_> {
    /// Returns the number of a variable that sessions set.
    pub(super) fn slot(&self, name: &str) -> Option<u16> {
        index(&self.variables, name)
    }
}
