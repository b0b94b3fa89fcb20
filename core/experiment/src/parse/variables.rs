//! [`Variables`]: the values of the variables of a file.

use wavetank_grammar::{Node, Span};

use std::collections::BTreeMap;

/// The variables in the order of the file.
#[derive(Default)]
pub(crate) struct Variables {
    pub(crate) all: Vec<(String, Span, Node)>,
    pub(super) index: BTreeMap<String, usize>,
}

impl Variables {
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.index.get(name).map(|at| &self.all[*at].2)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.all.iter().map(|(name, ..)| name.as_str())
    }
}
