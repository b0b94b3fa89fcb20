//! [`Node`]: the file as a tree, every key and value with its place.

use crate::Span;

/// When copies are counted, this many bytes of text count as one value.
const BYTES_A_VALUE: usize = 64;

/// A value of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its kind.
    pub kind: NodeKind,
    /// Its place in the file; for a map or list, the place of its first entry.
    pub place: Span,
}

/// The kinds of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A single value, as written. Its type is not guessed, because `8/s` and `1k` are text to YAML
    /// and numbers here.
    Scalar(Scalar),
    /// `[a, b]` or lines with dashes.
    List(Vec<Node>),
    /// `{a: b}` or lines with keys; keys are unique.
    Map(Vec<Entry>),
}

/// A single value's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its text, quotes and escapes undone.
    pub text: String,
    /// Whether it was written without quotes, so that `true`, `null` and `12` are not text.
    pub plain: bool,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key's text.
    pub key: String,
    /// The place of the key.
    pub place: Span,
    /// The value.
    pub value: Node,
}

impl Node {
    /// Makes a single value that does not come from the file, e.g. from `--set`.
    pub fn plain(text: impl Into<String>) -> Self {
        let scalar = Scalar { text: text.into(), plain: true };
        Self { kind: NodeKind::Scalar(scalar), place: Span::default() }
    }

    /// The single value, if it is one.
    pub const fn scalar(&self) -> Option<&Scalar> {
        match &self.kind {
            NodeKind::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// Whether nothing was written: an empty value, `~` or `null`.
    pub fn is_null(&self) -> bool {
        self.scalar().is_some_and(|scalar| scalar.plain && matches!(scalar.text.as_str(), "" | "~" | "null"))
    }

    /// The entries, if it is a map.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.kind {
            NodeKind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn items(&self) -> Option<&[Self]> {
        match &self.kind {
            NodeKind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The value of `key`, if it is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries()?.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// Returns the items of a list, or a single value as a list of one.
    pub fn as_list(&self) -> &[Self] {
        self.items().unwrap_or(std::slice::from_ref(self))
    }

    /// What it is, for messages.
    pub fn what(&self) -> &'static str {
        match &self.kind {
            _ if self.is_null() => "nothing",
            NodeKind::Scalar(_) => "a single value",
            NodeKind::List(_) => "a list",
            NodeKind::Map(_) => "a map of keys",
        }
    }

    /// Returns the number of values in the tree, itself included; a long text counts as several. It
    /// measures the cost of a copy. The depth of trees is bounded, and therefore also the
    /// recursion.
    pub fn size(&self) -> usize {
        match &self.kind {
            NodeKind::Scalar(scalar) => 1 + scalar.text.len() / BYTES_A_VALUE,
            NodeKind::List(items) => 1 + items.iter().map(Self::size).sum::<usize>(),
            NodeKind::Map(entries) => {
                let of_entry = |entry: &Entry| entry.key.len() / BYTES_A_VALUE + entry.value.size();
                1 + entries.iter().map(of_entry).sum::<usize>()
            }
        }
    }

    /// Levels of maps and lists.
    pub fn depth(&self) -> usize {
        match &self.kind {
            NodeKind::Scalar(_) => 0,
            NodeKind::List(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            NodeKind::Map(entries) => 1 + entries.iter().map(|entry| entry.value.depth()).max().unwrap_or(0),
        }
    }
}
