//! [`Tree`]: a document as a flat list of nodes.

use std::ops::Range;

/// Maximum number of nodes of a document.
pub(super) const NODES_MAX: usize = 2_000_000;
/// Maximum nesting depth of elements.
pub(super) const DEPTH_MAX: usize = 10_000;

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Root,
    Element,
    Attribute,
    Text,
    Comment,
    Instruction,
}

/// A node's index in the list, which is in document order.
pub(super) type NodeId = u32;

#[derive(Clone, Debug)]
struct Node {
    kind: NodeKind,
    parent: NodeId,
    /// The index after the last node below this one.
    end: NodeId,
    name: Range<u32>,
    value: Range<u32>,
}

/// A parsed document: nodes in document order, the attributes of an element directly after it, all
/// text in one buffer. Traversal needs no recursion, however deep the document is.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    text: String,
}

impl Tree {
    pub(super) const ROOT: NodeId = 0;

    pub(super) fn len(&self) -> NodeId {
        self.nodes.len() as NodeId
    }

    pub(super) fn kind(&self, id: NodeId) -> NodeKind {
        self.nodes[id as usize].kind
    }

    pub(super) fn name(&self, id: NodeId) -> &str {
        let Range { start, end } = self.nodes[id as usize].name;
        &self.text[start as usize..end as usize]
    }

    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        (id != Self::ROOT).then(|| self.nodes[id as usize].parent)
    }

    /// Returns the index after the last node below `id`.
    pub(super) fn end(&self, id: NodeId) -> NodeId {
        self.nodes[id as usize].end
    }

    /// Returns the first node after the attributes of `id`.
    pub(super) fn first_below(&self, id: NodeId) -> NodeId {
        let mut next = id + 1;
        while next < self.end(id) && self.kind(next) == NodeKind::Attribute {
            next += 1;
        }
        next
    }

    /// Appends the string-value of a node (XPath 1.0 §5) and returns the number of nodes visited.
    pub(super) fn push_string_value(&self, id: NodeId, out: &mut String) -> usize {
        let value = |id: NodeId| {
            let Range { start, end } = self.nodes[id as usize].value;
            &self.text[start as usize..end as usize]
        };
        if !matches!(self.kind(id), NodeKind::Root | NodeKind::Element) {
            out.push_str(value(id));
            return 1;
        }
        for below in id + 1..self.end(id) {
            if self.kind(below) == NodeKind::Text {
                out.push_str(value(below));
            }
        }
        (self.end(id) - id) as usize
    }
}

/// Builds a tree from events in document order. Every addition returns `None` beyond a limit.
#[derive(Debug)]
pub(super) struct TreeBuilder {
    tree: Tree,
    open: Vec<NodeId>,
}

impl TreeBuilder {
    pub(super) fn new() -> Self {
        let root = Node { kind: NodeKind::Root, parent: 0, end: 0, name: 0..0, value: 0..0 };
        Self { tree: Tree { nodes: vec![root], text: String::new() }, open: vec![Tree::ROOT] }
    }

    /// Returns the number of open elements.
    pub(super) fn depth(&self) -> usize {
        self.open.len() - 1
    }

    pub(super) fn open(&mut self, name: &str) -> Option<()> {
        let id = self.add(NodeKind::Element, name, "")?;
        self.open.push(id);
        (self.open.len() <= DEPTH_MAX).then_some(())
    }

    pub(super) fn attribute(&mut self, name: &str, value: &str) -> Option<()> {
        self.add(NodeKind::Attribute, name, value).map(drop)
    }

    pub(super) fn leaf(&mut self, kind: NodeKind, name: &str, value: &str) -> Option<()> {
        // Text that arrives in pieces, such as around an entity, is one node (XPath 1.0 §5.7).
        let parent = *self.open.last()?;
        let joins = kind == NodeKind::Text
            && self.tree.nodes.last().is_some_and(|last| last.kind == kind && last.parent == parent);
        if joins {
            self.tree.text.push_str(value);
            let end = u32::try_from(self.tree.text.len()).ok()?;
            self.tree.nodes.last_mut()?.value.end = end;
            return Some(());
        }
        if kind == NodeKind::Text && (value.is_empty() || parent == Tree::ROOT) {
            return Some(());
        }
        self.add(kind, name, value).map(drop)
    }

    pub(super) fn close(&mut self) -> Option<()> {
        let id = self.open.pop().filter(|id| *id != Tree::ROOT)?;
        self.tree.nodes[id as usize].end = self.tree.len();
        Some(())
    }

    pub(super) fn finish(mut self) -> Tree {
        let end = self.tree.len();
        for id in self.open {
            self.tree.nodes[id as usize].end = end;
        }
        self.tree
    }

    fn add(&mut self, kind: NodeKind, name: &str, value: &str) -> Option<NodeId> {
        let id = self.tree.len();
        let mut store = |text: &str| {
            let start = u32::try_from(self.tree.text.len()).ok()?;
            self.tree.text.push_str(text);
            Some(start..u32::try_from(self.tree.text.len()).ok()?)
        };
        let (name, value) = (store(name)?, store(value)?);
        self.tree.nodes.push(Node { kind, parent: *self.open.last()?, end: id + 1, name, value });
        (self.tree.nodes.len() <= NODES_MAX).then_some(id)
    }
}
