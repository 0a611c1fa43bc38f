//! The branch that the client goes on from.
//!
//! Records name their parent, and a record of its own kind says where to go on. The client reads them in their order and
//! mends what does not fit: a parent that is not there, a branch from before the last reset, records put beside the
//! branch. This is the same walk, so that the same branch comes out.

use std::collections::{BTreeMap, BTreeSet};

use carryover_core::transcript::NodeId;

use super::wire::WireLink;
use crate::formats::ids;
use crate::formats::tree::wire::Name;

/// What a record says of its place.
#[derive(Debug, Clone, Default)]
pub(super) struct Link {
    kind: Kind,
    id: Option<NodeId>,
    parent: Place,
    target: Place,
    append_parent: Place,
    side: bool,
    kept: Option<NodeId>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    /// No part of the tree.
    #[default]
    Apart,
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
enum Place {
    #[default]
    Untold,
    Nowhere,
    At(NodeId),
}

impl From<&Name<'_>> for Place {
    fn from(name: &Name<'_>) -> Self {
        match name {
            Name::Told(name) if !name.trim().is_empty() => Self::At(NodeId::of(name)),
            Name::Untold | Name::Told(_) => Self::Untold,
            Name::Null => Self::Nowhere,
        }
    }
}

impl Place {
    fn node(self) -> Option<NodeId> {
        match self {
            Self::At(node) => Some(node),
            Self::Untold | Self::Nowhere => None,
        }
    }
}

/// The kinds of records that the client knows, besides its own controls.
pub(super) const KNOWN: &[&str] = &[
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

impl Link {
    /// The place of a record, and its name, if it has one.
    pub(super) fn of(wire: &WireLink<'_>) -> (Self, Option<String>) {
        let kind = match &*wire.kind {
            "session" => Kind::Apart,
            "leaf" => Kind::Control,
            "reset" => Kind::Reset,
            "compaction" => Kind::Compaction,
            kind if KNOWN.contains(&kind) => Kind::Known,
            _ => Kind::Unknown,
        };
        let name = wire.id.as_deref().filter(|id| !id.trim().is_empty());
        let link = Self {
            kind,
            id: name.map(NodeId::of),
            parent: Place::from(&wire.parent_id),
            target: Place::from(&wire.target_id),
            append_parent: Place::from(&wire.append_parent_id),
            side: wire.append_mode.as_deref() == Some("side"),
            kept: Place::from(&wire.first_kept_entry_id).node(),
        };
        (link, name.map(str::to_owned))
    }

    /// The name of a record of the oldest files, which have none: its number.
    pub(super) fn name_by(&mut self, number: i64) -> String {
        let name = format!("#{number}");
        if self.id.is_none() && self.is_known() {
            self.id = Some(NodeId::of(&name));
        }
        name
    }

    fn is_known(&self) -> bool {
        matches!(self.kind, Kind::Known | Kind::Reset | Kind::Compaction)
    }
}

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Fate {
    /// It is on the branch, under this name.
    pub node: Option<NodeId>,
    /// The record before it on the branch.
    pub before: Option<NodeId>,
    /// Of what stands before it, this and what follows stays.
    pub kept: Option<NodeId>,
}

impl Fate {
    /// Takes it into a digest: a record that is what it was may still mean something else.
    pub(super) fn digest_on(&self, digest: u64) -> u64 {
        [self.node, self.before, self.kept].into_iter().fold(digest, |digest, node| {
            let digest = ids::digest_on(digest, &[u8::from(node.is_some())]);
            node.map_or(digest, |node| ids::digest_on(digest, &node.to_bits().to_le_bytes()))
        })
    }
}

/// What became of every record.
pub(super) fn fates(links: &[&Link]) -> Vec<Fate> {
    let mut walk = Walk::default();
    for (index, link) in links.iter().enumerate() {
        walk.step(index, link);
    }
    let path = walk.path(links.len());
    let mut fates = vec![Fate::default(); links.len()];
    let mut before = None;
    for (place, (node, index)) in path.iter().enumerate() {
        let earlier = |kept: &NodeId| path[..place].iter().any(|(node, _)| node == kept);
        let begins = matches!(links[*index].kind, Kind::Reset | Kind::Compaction);
        let kept = if begins { links[*index].kept.filter(earlier) } else { None };
        fates[*index] = Fate { node: Some(*node), before, kept };
        before = Some(*node);
    }
    fates
}

/// Where a record was put in the tree.
struct Placed {
    index: usize,
    parent: Option<NodeId>,
    is_control: bool,
}

/// The tree in the making.
#[derive(Default)]
struct Walk {
    placed: BTreeMap<NodeId, Placed>,
    leaf: Option<NodeId>,
    append_parent: Option<NodeId>,
    /// Controls that name what is not there.
    invalid: BTreeSet<NodeId>,
    has_reset: bool,
    after_reset: BTreeSet<NodeId>,
}

impl Walk {
    fn step(&mut self, index: usize, link: &Link) {
        let Some(id) = link.id.filter(|_| link.kind != Kind::Apart) else { return };
        if link.kind == Kind::Control {
            return self.control(index, id, link);
        }
        if link.parent == Place::Untold && !link.is_known() {
            return;
        }
        let parent = match link.parent {
            Place::Untold => self.leaf,
            told => told.node(),
        };
        let parent = if link.is_known() { self.mended(parent, link) } else { parent };
        self.place(index, id, parent, false);
        if link.kind == Kind::Reset {
            self.has_reset = true;
            self.after_reset = BTreeSet::from([id]);
        }
        self.append_parent = Some(id);
        if link.is_known() && !link.side {
            self.leaf = Some(id);
        }
    }

    fn place(&mut self, index: usize, id: NodeId, parent: Option<NodeId>, is_control: bool) {
        self.placed.insert(id, Placed { index, parent, is_control });
        if self.has_reset && parent.is_some_and(|parent| self.after_reset.contains(&parent)) {
            self.after_reset.insert(id);
        }
    }

    fn control(&mut self, index: usize, id: NodeId, link: &Link) {
        if link.parent == Place::Untold || link.target == Place::Untold {
            return;
        }
        let mut target = link.target.node();
        let mut append = if link.append_parent == Place::Untold { target } else { link.append_parent.node() };
        let escapes = target.is_none_or(|target| !self.after_reset.contains(&target));
        if self.has_reset && self.leaf.is_some() && escapes {
            (target, append) = (self.leaf, self.leaf);
        }
        if !self.is_there(target) || !self.is_there(append) {
            self.invalid.insert(id);
            return self.place(index, id, link.parent.node(), true);
        }
        self.place(index, id, target, true);
        self.append_parent = append;
        self.leaf = target;
    }

    fn is_there(&self, place: Option<NodeId>) -> bool {
        place.is_none_or(|place| self.placed.contains_key(&place) && !self.invalid.contains(&place))
    }

    /// The parent as the client takes it.
    fn mended(&self, parent: Option<NodeId>, link: &Link) -> Option<NodeId> {
        let told = link.parent != Place::Untold;
        let before_reset = self.has_reset && parent.is_none_or(|parent| !self.after_reset.contains(&parent));
        let gone = told && parent.is_some_and(|parent| !self.placed.contains_key(&parent)) && self.leaf.is_some();
        let beside = told && parent == self.append_parent && self.leaf != self.append_parent;
        let parent = if !link.side && (before_reset || gone || beside) { self.leaf } else { parent };
        self.through_controls(parent)
    }

    fn through_controls(&self, mut place: Option<NodeId>) -> Option<NodeId> {
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
    fn path(&self, n_records: usize) -> Vec<(NodeId, usize)> {
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
    fn check(script: &str, expected: &str) {
        let words: Vec<&str> = script.split(' ').collect();
        let links: Vec<Link> = words.iter().map(|word| link(word)).collect();
        let fates = fates(&links.iter().collect::<Vec<_>>());
        let alive = words.iter().zip(fates).filter(|(_, fate)| fate.node.is_some());
        let alive: Vec<&str> = alive.map(|(word, _)| &word[..1]).collect();
        assert_eq!(alive.join(" "), expected, "{script}");
    }

    fn link(word: &str) -> Link {
        let at = |name: &str| if name == "-" { Place::Nowhere } else { Place::At(NodeId::of(name)) };
        if let Some(target) = word.strip_prefix('>') {
            let id = Some(NodeId::of(word));
            return Link { kind: Kind::Control, id, parent: Place::Nowhere, target: at(target), ..Link::default() };
        }
        let side = word.ends_with('!');
        let word = word.trim_end_matches('!');
        let (name, parent) = word.split_once('<').unwrap_or((word, ""));
        let parent = if parent.is_empty() { Place::Untold } else { at(parent) };
        let kind = if name == "R" { Kind::Reset } else { Kind::Known };
        Link { kind, id: Some(NodeId::of(name)), parent, side, ..Link::default() }
    }

    #[test]
    fn the_branch_is_the_one_that_the_client_goes_on_from() {
        check("a<- b<a c<b", "a b c");
        check("a b c", "a b c");
        check("a<- b<a c<a d<c", "a c d");
        check("a<- b<a c<b >a", "a");
        check("a<- b<a c<b >a d<a", "a d");
        check("a<- b<a >x c<b", "a b c");
        check("a<- b<a! c<b", "a c");
        check("a<- b<gone", "a b");
        check("a<- R<a b<R >a c<a", "a R b c");
        check("a<a", "a");
    }
}
