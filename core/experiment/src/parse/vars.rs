//! [`Variables`]: the variables of the file, which are read before everything else.

use wavetank_grammar::{Diagnostic, Diagnostics, Entry, Grammar as _, Node, NodeKind, Scalar, Span};
use wavetank_units::{Code, did_you_mean};

use super::parser::ExpansionBudget;
use super::{Parser, TreeReader as _, Variables, is_identifier};
use crate::grammar::MapName;
use crate::parse_input::ParseInput;

/// Maximum nesting that results from variables.
const DEPTH_MAX: usize = 64;
/// Maximum number of variables of a file.
const VARS_MAX: usize = 10_000;

/// Names that are reserved in templates.
const TAKEN: [&str; 4] = ["user", "session", "count", "env"];

impl Variables {
    /// Reads the variables under `vars`, with the values of `--set`.
    pub(crate) fn read(root: &Node, input: &ParseInput<'_>, out: &mut Diagnostics) -> Self {
        let mut vars = Self::default();
        let entries = root.get("vars").and_then(Node::entries).unwrap_or_default();
        if entries.len() > VARS_MAX {
            let message = format!("{} variables; a file has at most {VARS_MAX}", entries.len());
            out.push(Diagnostic::error(
                Code::TooMany,
                entries[VARS_MAX].place,
                message,
                MapName::ADVICE.long,
            ));
            return vars;
        }
        let mut budget = ExpansionBudget::WHOLE;
        for entry in entries {
            if !name_allowed(entry, out) {
                continue;
            }
            let set = input.set.iter().rev().find(|(name, _)| *name == entry.key);
            let given =
                set.map(|(_, value)| Node { place: entry.value.place, ..Node::plain(value.as_str()) });
            let mut reader = Parser { budget, ..vars.reader(input) };
            let node = reader.substituted(given.as_ref().unwrap_or(&entry.value), 0);
            budget = reader.budget;
            for diagnostic in reader.out.sorted() {
                out.push(diagnostic.clone());
            }
            if let Some(node) = node {
                vars.index.insert(entry.key.clone(), vars.all.len());
                vars.all.push((entry.key.clone(), entry.place, node));
            }
        }
        for (name, _) in input.set {
            if !entries.iter().any(|entry| entry.key == *name) {
                let hint = match did_you_mean(name, entries.iter().map(|entry| entry.key.as_str())) {
                    Some(near) => format!("did you mean --set {near}=…?"),
                    None => format!("only variables of the file can be set: vars: {{{name}: DEFAULT}}"),
                };
                let message = format!("--set {name}: the file has no variable of that name");
                out.push(Diagnostic::without_span(Code::SetUnknown, message, hint));
            }
        }
        vars
    }

    pub(crate) fn reader<'a>(&'a self, input: &ParseInput<'a>) -> Parser<'a> {
        Parser {
            vars: self,
            env: input.env,
            has_secret: input.has_secret,
            out: Diagnostics::default(),
            budget: ExpansionBudget::WHOLE,
            open_call: None,
        }
    }
}

fn name_allowed(entry: &Entry, out: &mut Diagnostics) -> bool {
    let shaped = is_identifier(&entry.key)
        && !entry.key.contains('.')
        && !entry.key.starts_with(|c: char| c.is_ascii_digit());
    let (message, hint) = if TAKEN.contains(&entry.key.as_str()) {
        (format!("`{}` is reserved in ${{…}}", entry.key), format!("my_{}?", entry.key))
    } else if !shaped {
        (
            format!("`{}` is not a variable name", entry.key),
            "letters, digits and _: buyers, opens_in".to_owned(),
        )
    } else {
        return true;
    };
    out.push(Diagnostic::error(Code::BadName, entry.place, message, hint));
    false
}

impl<'a> Parser<'a> {
    /// Returns a variable's value with earlier variables filled in. Secrets remain names, because
    /// they are resolved when they are sent.
    fn substituted(&mut self, node: &Node, depth: usize) -> Option<Node> {
        if let Some(whole) = self.whole_tree(node) {
            return self.grafted(whole, node.place, depth);
        }
        let kind = match &node.kind {
            NodeKind::Scalar(scalar) if scalar.text.contains("${secret:") => {
                // Parsed only to report its errors.
                self.template_text(&scalar.text, node.place)?;
                return Some(node.clone());
            }
            NodeKind::Scalar(scalar) => {
                let text = self.fixed(&scalar.text, node.place)?;
                NodeKind::Scalar(Scalar { text, plain: scalar.plain })
            }
            NodeKind::List(items) => {
                let items: Option<Vec<Node>> =
                    items.iter().map(|item| self.substituted(item, depth + 1)).collect();
                NodeKind::List(items?)
            }
            NodeKind::Map(entries) => {
                let entries = entries.iter().map(|entry| {
                    let value = self.substituted(&entry.value, depth + 1)?;
                    Some(Entry { key: entry.key.clone(), place: entry.place, value })
                });
                NodeKind::Map(entries.collect::<Option<_>>()?)
            }
        };
        Some(Node { kind, place: node.place })
    }

    /// Returns the list or map of `${NAME}`, if it is the whole value.
    fn whole_tree(&self, node: &Node) -> Option<&'a Node> {
        let vars = self.vars;
        let name = node.scalar()?.text.strip_prefix("${")?.strip_suffix('}')?;
        vars.get(name.trim()).filter(|tree| tree.scalar().is_none())
    }

    fn grafted(&mut self, tree: &Node, place: Span, depth: usize) -> Option<Node> {
        self.spend_nodes(tree.size(), place)?;
        if depth + tree.depth() > DEPTH_MAX {
            let message = format!("variables are nested deeper than {DEPTH_MAX} levels");
            return self.fail(Code::TooDeep, place, message, "write out the values of the innermost ones");
        }
        Some(tree.clone())
    }

    /// Returns the whole file with lists and maps in place of their variables.
    pub(crate) fn expanded(&mut self, root: &Node) -> Option<Node> {
        self.expand(root, 0)
    }

    fn expand(&mut self, node: &Node, depth: usize) -> Option<Node> {
        if let Some(whole) = self.whole_tree(node) {
            return self.grafted(whole, node.place, depth);
        }
        let kind = match &node.kind {
            NodeKind::Scalar(_) => return Some(node.clone()),
            NodeKind::List(items) => {
                let items = items.iter().map(|item| self.expand(item, depth + 1));
                NodeKind::List(items.collect::<Option<_>>()?)
            }
            NodeKind::Map(entries) => {
                let entries = entries.iter().map(|entry| {
                    // Their own values are already filled in or reported.
                    let own = depth == 0 && entry.key == "vars";
                    let value = if own { entry.value.clone() } else { self.expand(&entry.value, depth + 1)? };
                    Some(Entry { key: entry.key.clone(), place: entry.place, value })
                });
                NodeKind::Map(entries.collect::<Option<_>>()?)
            }
        };
        Some(Node { kind, place: node.place })
    }
}
