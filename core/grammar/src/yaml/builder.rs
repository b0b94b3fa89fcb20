//! [`Builder`]: builds a tree from the parser's events, without recursion.

use std::collections::{BTreeMap, BTreeSet};
use wavetank_units::Code;

use serde_saphyr::granit_parser::{Event, ScalarStyle, Tag};

use super::{DEPTH_MAX, NODES_MAX, errors};
use crate::{Diagnostic, Entry, ErrorHints, Node, NodeKind, Scalar, Span};

/// The tree so far.
pub(super) struct Builder<'t> {
    text: &'t str,
    advice: &'t ErrorHints,
    open: Vec<Open>,
    root: Option<Node>,
    anchors: BTreeMap<usize, Node>,
    nodes: usize,
    documents: usize,
    diagnostics: Vec<Diagnostic>,
}

/// A map or list that is not closed yet.
struct Open {
    place: Span,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: BTreeSet<String>, key: Option<(String, Span)> },
}

impl<'t> Builder<'t> {
    pub(super) fn new(text: &'t str, advice: &'t ErrorHints) -> Self {
        Self {
            text,
            advice,
            open: Vec::new(),
            root: None,
            anchors: BTreeMap::new(),
            nodes: 0,
            documents: 0,
            diagnostics: Vec::new(),
        }
    }

    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    pub(super) fn finish(mut self) -> (Option<Node>, Vec<Diagnostic>) {
        if self.root.is_none() && self.diagnostics.is_empty() {
            let diagnostic =
                Diagnostic::without_span(Code::FileEmpty, "the file is empty", self.advice.empty);
            self.diagnostics.push(diagnostic);
        }
        (self.root, self.diagnostics)
    }

    /// Handles one event. Fails if reading cannot continue sensibly.
    pub(super) fn take(&mut self, event: Event<'_>, place: Span) -> Result<(), Diagnostic> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let message = "a second document begins here";
                    return Err(Diagnostic::error(
                        Code::YamlDocuments,
                        place,
                        message,
                        self.advice.documents,
                    ));
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place)?;
                let plain = style == ScalarStyle::Plain;
                let scalar = Scalar { text: text.into_owned(), plain };
                self.add(Node { kind: NodeKind::Scalar(scalar), place }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place)?;
                self.begin(Content::List(Vec::new()), place, anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place)?;
                let content = Content::Map { entries: Vec::new(), seen: BTreeSet::new(), key: None };
                self.begin(content, place, anchor)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(id) => {
                let Some(node) = self.anchors.get(&id) else {
                    let message = "the alias is inside the value that it repeats";
                    return Err(Diagnostic::error(Code::YamlAlias, place, message, self.advice.alias));
                };
                let mut node = node.clone();
                node.place = place;
                self.count(node.size(), place)?;
                if self.open.len() + node.depth() > DEPTH_MAX {
                    return Err(errors::too_deep(place, self.advice));
                }
                self.add(node, 0)
            }
            _ => Ok(()),
        }
    }

    fn refuse_tag(&self, tag: Option<&Tag>, place: Span) -> Result<(), Diagnostic> {
        let Some(tag) = tag else { return Ok(()) };
        Err(errors::tag_error(&tag.original(), self.text, place))
    }

    fn count(&mut self, nodes: usize, place: Span) -> Result<(), Diagnostic> {
        self.nodes += nodes;
        if self.nodes <= NODES_MAX {
            return Ok(());
        }
        let message = "the file has too many values, including those that aliases repeat";
        Err(Diagnostic::error(Code::FileTooLarge, place, message, self.advice.long))
    }

    fn begin(&mut self, content: Content, place: Span, anchor: usize) -> Result<(), Diagnostic> {
        self.count(1, place)?;
        if self.open.len() >= DEPTH_MAX {
            return Err(errors::too_deep(place, self.advice));
        }
        self.open.push(Open { place, anchor, content });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Diagnostic> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let (kind, first) = match open.content {
            Content::List(items) => {
                let first = items.first().map(|item| item.place);
                (NodeKind::List(items), first)
            }
            Content::Map { entries, .. } => {
                let first = entries.first().map(|entry| entry.place);
                (NodeKind::Map(entries), first)
            }
        };
        // An empty map or list has only its brackets.
        let place = first.unwrap_or(open.place);
        self.add(Node { kind, place }, open.anchor)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Diagnostic> {
        let cost = if matches!(node.kind, NodeKind::Scalar(_)) { node.size() } else { 1 };
        self.count(cost, node.place)?;
        if anchor > 0 {
            self.count(node.size(), node.place)?;
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut open.content {
            Content::List(items) => items.push(node),
            Content::Map { entries, seen, key } => match key.take() {
                None => *key = Some(key_of(node)?),
                Some((text, place)) if seen.contains(&text) => {
                    let first =
                        entries.iter().find(|entry| entry.key == text).map_or(0, |entry| entry.place.line);
                    let message = format!("`{text}` is given twice: first on line {first}");
                    let hint = "keep one of the two, or put both into one list";
                    self.diagnostics.push(Diagnostic::error(Code::KeyDuplicate, place, message, hint));
                }
                Some((text, place)) => {
                    seen.insert(text.clone());
                    entries.push(Entry { key: text, place, value: node });
                }
            },
        }
        Ok(())
    }
}

fn key_of(node: Node) -> Result<(String, Span), Diagnostic> {
    if let NodeKind::Scalar(scalar) = node.kind {
        return Ok((scalar.text, node.place));
    }
    let message = "a key must be text, not a map or a list";
    let hint = "in { } and [ ] write \"${name}\" in quotes; a key looks like name:";
    Err(Diagnostic::error(Code::KeyNotText, node.place, message, hint))
}
