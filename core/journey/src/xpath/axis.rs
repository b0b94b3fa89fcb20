//! Traversal of an axis (XPath 1.0 §2.2).

use super::expr::{Axis, Test};
use super::tree::{NodeId, NodeKind, Tree};

/// Passes the nodes of an axis that match the test to `take`, nearest first, and returns the number
/// of nodes visited.
pub(super) fn walk(
    tree: &Tree,
    from: NodeId,
    axis: Axis,
    test: &Test,
    mut take: impl FnMut(NodeId),
) -> usize {
    let mut seen = 0;
    let mut see = |id: NodeId| {
        seen += 1;
        if passes(tree, id, axis, test) {
            take(id);
        }
    };
    let is_attribute = |id: NodeId| tree.kind(id) == NodeKind::Attribute;
    match axis {
        Axis::Itself => see(from),
        Axis::Parent => tree.parent(from).into_iter().for_each(see),
        Axis::Ancestor | Axis::AncestorOrSelf => {
            if axis == Axis::AncestorOrSelf {
                see(from);
            }
            let mut at = from;
            while let Some(parent) = tree.parent(at) {
                see(parent);
                at = parent;
            }
        }
        Axis::Attribute => (from + 1..tree.first_below(from)).for_each(see),
        Axis::Child => siblings(tree, tree.first_below(from), tree.end(from)).for_each(see),
        Axis::Descendant => (from + 1..tree.end(from)).filter(|id| !is_attribute(*id)).for_each(see),
        Axis::DescendantOrSelf => {
            see(from);
            (from + 1..tree.end(from)).filter(|id| !is_attribute(*id)).for_each(see);
        }
        Axis::Following => (tree.end(from)..tree.len()).filter(|id| !is_attribute(*id)).for_each(see),
        Axis::FollowingSibling | Axis::PrecedingSibling if is_attribute(from) => {}
        Axis::FollowingSibling => {
            if let Some(parent) = tree.parent(from) {
                siblings(tree, tree.end(from), tree.end(parent)).for_each(see);
            }
        }
        Axis::PrecedingSibling => {
            if let Some(parent) = tree.parent(from) {
                let before: Vec<_> = siblings(tree, tree.first_below(parent), from).collect();
                before.into_iter().rev().for_each(see);
            }
        }
        Axis::Preceding => {
            // The nodes before an attribute are those before its element. Ancestors are not before
            // a node but around it.
            let around = |id: NodeId| tree.end(id) > from;
            (0..from).rev().filter(|id| !is_attribute(*id) && !around(*id)).for_each(see);
        }
    }
    // The nodes that were skipped on the way count as work too.
    let attributes = |id: NodeId| (tree.first_below(id) - id) as usize;
    seen + match axis {
        Axis::Child => attributes(from),
        Axis::FollowingSibling | Axis::PrecedingSibling => tree.parent(from).map_or(1, attributes),
        Axis::Descendant | Axis::DescendantOrSelf => (tree.end(from) - from) as usize,
        Axis::Following | Axis::Preceding => tree.len() as usize,
        _ => 1,
    }
}

/// Returns `first` and its following siblings, skipping all nodes below them.
fn siblings(tree: &Tree, first: NodeId, end: NodeId) -> impl Iterator<Item = NodeId> {
    let mut next = first;
    std::iter::from_fn(move || {
        let id = next;
        (id < end).then(|| {
            next = tree.end(id);
            id
        })
    })
}

fn passes(tree: &Tree, id: NodeId, axis: Axis, test: &Test) -> bool {
    let kind = tree.kind(id);
    let principal = if axis == Axis::Attribute { NodeKind::Attribute } else { NodeKind::Element };
    match test {
        Test::Node => true,
        Test::Any => kind == principal,
        Test::Name(name) => kind == principal && tree.name(id) == &**name,
        Test::Prefix(prefix) => kind == principal && tree.name(id).starts_with(&**prefix),
        Test::Text => kind == NodeKind::Text,
        Test::Comment => kind == NodeKind::Comment,
        Test::Instruction(target) => {
            kind == NodeKind::Instruction && target.as_ref().is_none_or(|target| tree.name(id) == &**target)
        }
    }
}
