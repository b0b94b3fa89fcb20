//! [`StepForm`]: one form of a step.

use super::Key;

/// A step: its verbs, of which exactly one is given, and the keys that belong to them.
pub(crate) struct StepForm {
    /// Its heading on the page.
    pub(crate) title: &'static str,
    /// Its name in the schema.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) about: &'static str,
    pub(crate) verbs: &'static [Key],
    pub(crate) keys: &'static [Key],
}
