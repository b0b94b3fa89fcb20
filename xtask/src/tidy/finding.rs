//! [`Finding`]: one breach of a rule.

use std::fmt;

/// One breach of a rule of the house.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Short name of the rule, as the allow-list writes it.
    pub(crate) rule: &'static str,
    /// What the allow-list would name: a path, or `path::function`.
    pub(crate) subject: String,
    /// Line, 0 where the whole file is meant.
    pub(crate) line: usize,
    /// The measured size for rules with a limit.
    pub(crate) size: Option<usize>,
    /// What is wrong and what to do instead.
    pub(crate) message: String,
}

impl Finding {
    /// A breach at a line of a file.
    pub(crate) fn at(rule: &'static str, path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { rule, subject: path.to_owned(), line, size: None, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, subject, line, message, .. } = self;
        if *line == 0 {
            write!(f, "{subject}: {rule}: {message}")
        } else {
            write!(f, "{subject}:{line}: {rule}: {message}")
        }
    }
}
