//! The branch that the client goes on from.
//!
//! Records name their parent, and a record of its own kind says where to go on. The client reads them in their order and
//! mends what does not fit: a parent that is not there, a branch from before the last reset, records put beside the
//! branch. This is the same walk, so that the same branch comes out.

use std::collections::{BTreeMap, BTreeSet};

use carryover_core::transcript::NodeId;

use super::wire::WireLink;
use crate::formats::ids;
use crate::formats::tree::wire::NullableName;

/// The place of a record in the tree, as the record itself states it.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordLink {
    kind: LinkKind,
    id: Option<NodeId>,
    parent: NodeRef,
    target: NodeRef,
    append_parent: NodeRef,
    side: bool,
    kept: Option<NodeId>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum LinkKind {
    /// No part of the tree.
    #[default]
    Outside,
    /// Says where to go on.
    Control,
    /// Begins the context anew.
    Reset,
    Compaction,
    /// A kind that the client knows.
    Known,
    /// Part of the tree, and no more.
    Unknown,
}

/// A record, none, or nothing that was told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum NodeRef {
    #[default]
    Missing,
    Null,
    Node(NodeId),
}

impl From<&NullableName<'_>> for NodeRef {
    fn from(name: &NullableName<'_>) -> Self {
        match name {
            NullableName::Given(name) if !name.trim().is_empty() => Self::Node(NodeId::from_name(name)),
            NullableName::Missing | NullableName::Given(_) => Self::Missing,
            NullableName::Null => Self::Null,
        }
    }
}

impl NodeRef {
    fn to_node(self) -> Option<NodeId> {
        match self {
            Self::Node(node) => Some(node),
            Self::Missing | Self::Null => None,
        }
    }
}

/// The kinds of records that the client knows, besides its own controls.
pub(super) const KNOWN_KINDS: &[&str] = &[
    "message",
    "thinking_level_change",
    "model_change",
    "compaction",
    "reset",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
];

impl RecordLink {
    /// The place of a record, and its name, if it has one.
    pub(super) fn from_wire(wire: &WireLink<'_>) -> (Self, Option<String>) {
        let kind = match &*wire.kind {
            "session" => LinkKind::Outside,
            "leaf" => LinkKind::Control,
            "reset" => LinkKind::Reset,
            "compaction" => LinkKind::Compaction,
            kind if KNOWN_KINDS.contains(&kind) => LinkKind::Known,
            _ => LinkKind::Unknown,
        };
        let name = wire.id.as_deref().filter(|id| !id.trim().is_empty());
        let link = Self {
            kind,
            id: name.map(NodeId::from_name),
            parent: NodeRef::from(&wire.parent_id),
            target: NodeRef::from(&wire.target_id),
            append_parent: NodeRef::from(&wire.append_parent_id),
            side: wire.append_mode.as_deref() == Some("side"),
            kept: NodeRef::from(&wire.first_kept_entry_id).to_node(),
        };
        (link, name.map(str::to_owned))
    }

    /// The name of a record of the oldest files, which have none: its number.
    pub(super) fn name_by_number(&mut self, number: i64) -> String {
        let name = format!("#{number}");
        if self.id.is_none() && self.is_known() {
            self.id = Some(NodeId::from_name(&name));
        }
        name
    }

    fn is_known(&self) -> bool {
        matches!(self.kind, LinkKind::Known | LinkKind::Reset | LinkKind::Compaction)
    }
}

/// The position of a record on the branch, if it is on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct BranchPosition {
    /// It is on the branch, under this name.
    pub node: Option<NodeId>,
    /// The record before it on the branch.
    pub before: Option<NodeId>,
    /// Of what stands before it, this and what follows stays.
    pub kept: Option<NodeId>,
}

impl BranchPosition {
    /// Takes it into a digest: a record that is what it was may still mean something else.
    pub(super) fn extend_digest(&self, digest: u64) -> u64 {
        [self.node, self.before, self.kept].into_iter().fold(digest, |digest, node| {
            let digest = ids::extend_digest(digest, &[u8::from(node.is_some())]);
            node.map_or(digest, |node| ids::extend_digest(digest, &node.to_bits().to_le_bytes()))
        })
    }
}

/// The position of every record.
pub(super) fn find_positions(links: &[&RecordLink]) -> Vec<BranchPosition> {
    let mut walk = BranchWalk::default();
    for (index, link) in links.iter().enumerate() {
        walk.add_record(index, link);
    }
    let path = walk.path_to_leaf(links.len());
    let mut fates = vec![BranchPosition::default(); links.len()];
    let mut before = None;
    for (place, (node, index)) in path.iter().enumerate() {
        let earlier = |kept: &NodeId| path[..place].iter().any(|(node, _)| node == kept);
        let begins = matches!(links[*index].kind, LinkKind::Reset | LinkKind::Compaction);
        let kept = if begins { links[*index].kept.filter(earlier) } else { None };
        fates[*index] = BranchPosition { node: Some(*node), before, kept };
        before = Some(*node);
    }
    fates
}

/// Where a record was put in the tree.
struct PlacedRecord {
    index: usize,
    parent: Option<NodeId>,
    is_control: bool,
}

/// The tree in the making.
#[derive(Default)]
struct BranchWalk {
    placed: BTreeMap<NodeId, PlacedRecord>,
    leaf: Option<NodeId>,
    append_parent: Option<NodeId>,
    /// Controls that name what is not there.
    invalid: BTreeSet<NodeId>,
    has_reset: bool,
    after_reset: BTreeSet<NodeId>,
}

impl BranchWalk {
    fn add_record(&mut self, index: usize, link: &RecordLink) {
        let Some(id) = link.id.filter(|_| link.kind != LinkKind::Outside) else { return };
        if link.kind == LinkKind::Control {
            return self.apply_control(index, id, link);
        }
        if link.parent == NodeRef::Missing && !link.is_known() {
            return;
        }
        let parent = match link.parent {
            NodeRef::Missing => self.leaf,
            told => told.to_node(),
        };
        let parent = if link.is_known() { self.repair_parent(parent, link) } else { parent };
        self.insert_record(index, id, parent, false);
        if link.kind == LinkKind::Reset {
            self.has_reset = true;
            self.after_reset = BTreeSet::from([id]);
        }
        self.append_parent = Some(id);
        if link.is_known() && !link.side {
            self.leaf = Some(id);
        }
    }

    fn insert_record(&mut self, index: usize, id: NodeId, parent: Option<NodeId>, is_control: bool) {
        self.placed.insert(id, PlacedRecord { index, parent, is_control });
        if self.has_reset && parent.is_some_and(|parent| self.after_reset.contains(&parent)) {
            self.after_reset.insert(id);
        }
    }

    fn apply_control(&mut self, index: usize, id: NodeId, link: &RecordLink) {
        if link.parent == NodeRef::Missing || link.target == NodeRef::Missing {
            return;
        }
        let mut target = link.target.to_node();
        let mut append = if link.append_parent == NodeRef::Missing { target } else { link.append_parent.to_node() };
        let escapes = target.is_none_or(|target| !self.after_reset.contains(&target));
        if self.has_reset && self.leaf.is_some() && escapes {
            (target, append) = (self.leaf, self.leaf);
        }
        if !self.is_valid_node(target) || !self.is_valid_node(append) {
            self.invalid.insert(id);
            return self.insert_record(index, id, link.parent.to_node(), true);
        }
        self.insert_record(index, id, target, true);
        self.append_parent = append;
        self.leaf = target;
    }

    fn is_valid_node(&self, place: Option<NodeId>) -> bool {
        place.is_none_or(|place| self.placed.contains_key(&place) && !self.invalid.contains(&place))
    }

    /// The parent as the client takes it.
    fn repair_parent(&self, parent: Option<NodeId>, link: &RecordLink) -> Option<NodeId> {
        let told = link.parent != NodeRef::Missing;
        let before_reset = self.has_reset && parent.is_none_or(|parent| !self.after_reset.contains(&parent));
        let gone = told && parent.is_some_and(|parent| !self.placed.contains_key(&parent)) && self.leaf.is_some();
        let beside = told && parent == self.append_parent && self.leaf != self.append_parent;
        let parent = if !link.side && (before_reset || gone || beside) { self.leaf } else { parent };
        self.skip_controls(parent)
    }

    fn skip_controls(&self, mut place: Option<NodeId>) -> Option<NodeId> {
        let mut seen = BTreeSet::new();
        while let Some(id) = place {
            match self.placed.get(&id) {
                Some(placed) if placed.is_control && seen.insert(id) => place = placed.parent,
                _ => return Some(id),
            }
        }
        None
    }

    /// The records from the root to the leaf. Cycles end it.
    fn path_to_leaf(&self, n_records: usize) -> Vec<(NodeId, usize)> {
        let mut path = Vec::new();
        let mut seen = vec![false; n_records];
        let mut next = self.leaf;
        while let Some(id) = next {
            let Some(placed) = self.placed.get(&id) else { break };
            if std::mem::replace(&mut seen[placed.index], true) {
                break;
            }
            if !placed.is_control {
                path.push((id, placed.index));
            }
            next = placed.parent;
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One record a word: `a`, `b<a` (its parent), `b<a!` (beside the branch), `>a` (go on from there), `R<a` (reset).
    fn check_branch(script: &str, expected: &str) {
        let words: Vec<&str> = script.split(' ').collect();
        let links: Vec<RecordLink> = words.iter().map(|word| make_link(word)).collect();
        let fates = find_positions(&links.iter().collect::<Vec<_>>());
        let alive = words.iter().zip(fates).filter(|(_, fate)| fate.node.is_some());
        let alive: Vec<&str> = alive.map(|(word, _)| &word[..1]).collect();
        assert_eq!(alive.join(" "), expected, "{script}");
    }

    fn make_link(word: &str) -> RecordLink {
        let at = |name: &str| if name == "-" { NodeRef::Null } else { NodeRef::Node(NodeId::from_name(name)) };
        if let Some(target) = word.strip_prefix('>') {
            let id = Some(NodeId::from_name(word));
            return RecordLink {
                kind: LinkKind::Control,
                id,
                parent: NodeRef::Null,
                target: at(target),
                ..RecordLink::default()
            };
        }
        let side = word.ends_with('!');
        let word = word.trim_end_matches('!');
        let (name, parent) = word.split_once('<').unwrap_or((word, ""));
        let parent = if parent.is_empty() { NodeRef::Missing } else { at(parent) };
        let kind = if name == "R" { LinkKind::Reset } else { LinkKind::Known };
        RecordLink { kind, id: Some(NodeId::from_name(name)), parent, side, ..RecordLink::default() }
    }

    #[test]
    fn the_branch_is_the_one_that_the_client_goes_on_from() {
        check_branch("a<- b<a c<b", "a b c");
        check_branch("a b c", "a b c");
        check_branch("a<- b<a c<a d<c", "a c d");
        check_branch("a<- b<a c<b >a", "a");
        check_branch("a<- b<a c<b >a d<a", "a d");
        check_branch("a<- b<a >x c<b", "a b c");
        check_branch("a<- b<a! c<b", "a c");
        check_branch("a<- b<gone", "a b");
        check_branch("a<- R<a b<R >a c<a", "a R b c");
        check_branch("a<a", "a");
    }
}
