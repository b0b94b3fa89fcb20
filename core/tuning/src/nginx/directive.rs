//! [`Directive`]: one directive with its block.

use crate::Place;

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its text, without quotes.
    pub text: String,
    /// The line, from 1.
    pub line: usize,
    /// Whether it was in quotes.
    pub quoted: bool,
}

/// One directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub place: Place,
    /// Its arguments.
    pub args: Vec<Argument>,
    /// What is between its braces; `None` if it ends with a semicolon.
    pub block: Option<Vec<Self>>,
}

impl Directive {
    /// Returns the text of argument `index`, or an empty text.
    pub fn arg(&self, index: usize) -> &str {
        self.args.get(index).map_or("", |argument| &argument.text)
    }

    /// Returns the directives of the block.
    pub fn children(&self) -> &[Self] {
        self.block.as_deref().unwrap_or_default()
    }

    /// Finds directives of its block by name.
    pub fn children_called<'d>(&'d self, name: &'d str) -> impl Iterator<Item = &'d Self> {
        self.children().iter().filter(move |own| own.name == name)
    }
}
