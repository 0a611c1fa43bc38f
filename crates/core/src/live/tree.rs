//! Stores whose records name their parent: the past is the path from the leaf to the root.

use std::collections::{BTreeMap, BTreeSet};

use crate::transcript::{Body, Compaction, Entry, NodeId, Note, Origin};

/// The records of a branching store.
struct Forest<'a> {
    entries: &'a [Entry],
    /// The first entry of each record; entries of one record stand together.
    records: BTreeMap<NodeId, usize>,
    /// Records by their parent.
    children: BTreeMap<NodeId, Vec<usize>>,
}

/// The indices on the live branch, in the order in which the model sees them.
pub(super) fn context_order(entries: &[Entry]) -> Vec<usize> {
    let forest = Forest::from_entries(entries);
    let Some(leaf) = forest.find_leaf() else {
        return Vec::new();
    };
    let mut path = forest.path_to(leaf);
    let kept = forest.kept_segment(&path);
    forest.add_siblings(&mut path);
    let mut order: Vec<usize> = path.into_iter().flat_map(|record| forest.entries_of(record)).collect();
    if let Some((anchor, mut segment)) = kept {
        forest.add_siblings(&mut segment);
        let at = order.iter().rposition(|index| *index <= anchor).map_or(0, |at| at + 1);
        order.splice(at..at, segment.into_iter().flat_map(|record| forest.entries_of(record)));
    }
    forest.gather_groups(&order)
}

/// The indices on the branch in force, compactions notwithstanding, in the order in which they were written. A failure
/// that is no record of the tree counts where it stands.
pub(super) fn full_history(entries: &[Entry]) -> Vec<usize> {
    let forest = Forest::from_entries(entries);
    let mut is_told = vec![false; entries.len()];
    let mut next = forest.find_leaf();
    while let Some(leaf) = next {
        let mut path = forest.path_to(leaf);
        let root = path.first().copied().unwrap_or(leaf);
        forest.add_siblings(&mut path);
        path.into_iter().flat_map(|record| forest.entries_of(record)).for_each(|index| is_told[index] = true);
        // A compaction begins a tree of its own; what it took away is the branch that stands before it.
        let is_barrier = matches!(entries[root].body, Body::Compacted(_));
        next = if is_barrier { forest.record_before(root).filter(|before| !is_told[*before]) } else { None };
    }
    let is_loose = |index: usize| entries[index].node.is_none() && matches!(entries[index].body, Body::Failure(_));
    (0..entries.len()).filter(|index| is_told[*index] || is_loose(*index)).collect()
}

impl<'a> Forest<'a> {
    fn from_entries(entries: &'a [Entry]) -> Self {
        let mut forest = Self { entries, records: BTreeMap::new(), children: BTreeMap::new() };
        for (index, entry) in entries.iter().enumerate() {
            let Some(node) = entry.node else { continue };
            let begins = index == 0 || entries[index - 1].key.record() != entry.key.record();
            if entry.side || !begins {
                continue;
            }
            // A record that is written twice counts where it first stood.
            if forest.records.contains_key(&node.id) {
                continue;
            }
            forest.records.insert(node.id, index);
            if let Some(parent) = node.parent {
                forest.children.entry(parent).or_default().push(index);
            }
        }
        forest
    }

    /// The record from which the next turn goes on: the newest that descends from the one that the client last named,
    /// for it goes on writing after it has named one; without a name, the last one written.
    fn find_leaf(&self) -> Option<usize> {
        let named = self.entries.iter().rev().find_map(|entry| match entry.body {
            Body::Note(Note::Leaf(id)) => self.records.get(&id).copied(),
            _ => None,
        });
        match named {
            Some(named) => Some(self.newest_descendant(named)),
            None => self.records.values().copied().max(),
        }
    }

    fn newest_descendant(&self, ancestor: usize) -> usize {
        let mut family: BTreeSet<NodeId> = BTreeSet::new();
        let mut newest = ancestor;
        for (index, entry) in self.entries.iter().enumerate().skip(ancestor) {
            let Some(node) = entry.node.filter(|node| self.records.get(&node.id) == Some(&index)) else { continue };
            if index == ancestor || node.parent.is_some_and(|parent| family.contains(&parent)) {
                family.insert(node.id);
                newest = index;
            }
        }
        newest
    }

    /// The records from the root (or the last compaction) to a leaf, in file order. Cycles end it.
    fn path_to(&self, leaf: usize) -> BTreeSet<usize> {
        self.walk_up(leaf, |entry| matches!(entry.body, Body::Compacted(_)))
    }

    /// The records from the first that ends the walk to a leaf.
    fn walk_up(&self, leaf: usize, ends: impl Fn(&Entry) -> bool) -> BTreeSet<usize> {
        let mut path = BTreeSet::new();
        let mut next = Some(leaf);
        while let Some(index) = next {
            if !path.insert(index) {
                break;
            }
            let entry = &self.entries[index];
            let Some(node) = entry.node else { break };
            if ends(entry) {
                break;
            }
            next = node.parent.and_then(|parent| self.find_parent(parent, index));
        }
        path
    }

    /// The records from one to another. It may lie before an older compaction, of which nothing is kept; where it is
    /// not found at all, an older compaction is where the segment begins.
    fn segment_between(&self, head: NodeId, tail: usize) -> BTreeSet<usize> {
        let is_head = |entry: &Entry| entry.node.is_some_and(|node| node.id == head);
        let is_barrier = |entry: &Entry| matches!(entry.body, Body::Compacted(_));
        let mut segment = self.walk_up(tail, is_head);
        if !self.records.get(&head).is_some_and(|head| segment.contains(head)) {
            return self.walk_up(tail, |entry| is_head(entry) || is_barrier(entry));
        }
        segment.retain(|index| !is_barrier(&self.entries[*index]));
        segment
    }

    /// A parent that is not in the file is bridged to the record before.
    fn find_parent(&self, id: NodeId, child: usize) -> Option<usize> {
        self.records.get(&id).copied().or_else(|| self.record_before(child))
    }

    /// The record before.
    fn record_before(&self, record: usize) -> Option<usize> {
        (0..record).rev().find(|index| {
            let entry = &self.entries[*index];
            entry.node.is_some_and(|node| self.records.get(&node.id) == Some(index)) && !entry.side
        })
    }

    /// The segment that the branch's compaction kept, and the entry after which it belongs.
    fn kept_segment(&self, path: &BTreeSet<usize>) -> Option<(usize, BTreeSet<usize>)> {
        let (root, compacted) = path.iter().find_map(|index| match &self.entries[*index].body {
            Body::Compacted(compacted) => Some((*index, compacted)),
            _ => None,
        })?;
        let Compaction { kept: Some((head, tail)), anchor, .. } = **compacted else {
            return None;
        };
        let tail = *self.records.get(&tail)?;
        let segment = self.segment_between(head, tail);
        if segment.iter().any(|index| path.contains(index)) {
            return None;
        }
        let anchor = anchor.and_then(|anchor| self.records.get(&anchor).copied()).unwrap_or(root);
        Some((self.entries_of(anchor).last().unwrap_or(anchor), segment))
    }

    /// Adds what belongs to the path's messages but stands beside it: parallel calls hang their outcomes on
    /// themselves, so a walk through the parents meets only the last.
    ///
    /// Only what descends from the path: some clients write the end of a session a second time, under new names but
    /// as the same messages, and the first writing is no longer part of it.
    fn add_siblings(&self, path: &mut BTreeSet<usize>) {
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let members: Vec<usize> = path.iter().copied().filter(|index| self.group_of(*index).is_some()).collect();
        for member in members {
            self.add_rest_of_message(member, path, &mut seen);
        }
    }

    /// Adds the records below a member of a message that are of the same message, and what came beside its calls: their
    /// outcomes, and the words of hooks.
    ///
    /// A call may hang on what was written while an earlier one ran (its outcome, a hook's words, how far it got): all
    /// that is passed through, up to the next message or prompt.
    fn add_rest_of_message(&self, member: usize, path: &mut BTreeSet<usize>, seen: &mut BTreeSet<usize>) {
        let group = self.group_of(member);
        let mut waiting = vec![(member, false)];
        while let Some((record, beside_path)) = waiting.pop() {
            if !seen.insert(record) {
                continue;
            }
            let has_call = self.group_of(record) == group && self.entries_of(record).any(|part| self.is_call(part));
            for child in self.children_of(record) {
                let of = self.group_of(child);
                if self.begins_turn(child) || (of.is_some() && of != group) {
                    continue;
                }
                let is_new = (of == group || has_call || beside_path) && path.insert(child);
                waiting.push((child, of.is_none() && is_new));
            }
        }
    }

    /// Brings the parts of one message together: clients write an outcome between two calls of the same message when
    /// the first was quick, and send the calls first all the same.
    ///
    /// Never across a prompt: what names several messages alike would bring whole turns together.
    fn gather_groups(&self, order: &[usize]) -> Vec<usize> {
        let turns = order.chunk_by(|_, next| !self.is_user_prompt(*next));
        turns.flat_map(|turn| self.gather_turn_groups(turn)).collect()
    }

    fn gather_turn_groups(&self, order: &[usize]) -> Vec<usize> {
        let mut members: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for index in order {
            if let Some(group) = self.group_of(*index) {
                members.entry(group).or_default().push(*index);
            }
        }
        let mut gathered = Vec::with_capacity(order.len());
        for index in order {
            match self.group_of(*index) {
                Some(group) => gathered.extend(members.remove(&group).unwrap_or_default()),
                None => gathered.push(*index),
            }
        }
        self.put_outcomes_first(&gathered)
    }

    /// Puts what was said while calls ran behind their outcomes, where the client sends it: no API takes anything
    /// between a call and its outcome.
    fn put_outcomes_first(&self, order: &[usize]) -> Vec<usize> {
        let mut sorted = Vec::with_capacity(order.len());
        let mut waiting: Vec<usize> = Vec::new();
        let mut n_open = 0_usize;
        for index in order {
            if self.group_of(*index).is_some() {
                sorted.append(&mut waiting);
                n_open += usize::from(self.is_call(*index));
            } else if self.is_outcome(*index) {
                n_open = n_open.saturating_sub(1);
            } else if n_open > 0 {
                waiting.push(*index);
                continue;
            }
            sorted.push(*index);
            if n_open == 0 {
                sorted.append(&mut waiting);
            }
        }
        sorted.append(&mut waiting);
        sorted
    }

    /// The message that a record is part of.
    fn group_of(&self, index: usize) -> Option<NodeId> {
        self.entries[index].node.and_then(|node| node.group)
    }

    fn children_of(&self, index: usize) -> impl Iterator<Item = usize> {
        let node = self.entries[index].node;
        node.and_then(|node| self.children.get(&node.id)).into_iter().flatten().copied()
    }

    /// Whether nothing below a record can belong to a message above it.
    fn begins_turn(&self, record: usize) -> bool {
        self.entries_of(record).any(|part| {
            self.is_user_prompt(part) || matches!(self.entries[part].body, Body::Compacted(_) | Body::Summary(_))
        })
    }

    fn is_user_prompt(&self, index: usize) -> bool {
        self.entries[index].body.whole_kind() == "prompt" && self.entries[index].origin == Origin::User
    }

    fn is_call(&self, index: usize) -> bool {
        self.entries[index].body.whole_kind() == "call"
    }

    fn is_outcome(&self, index: usize) -> bool {
        self.entries[index].body.whole_kind() == "outcome"
    }

    /// The entries that a record made.
    fn entries_of(&self, record: usize) -> impl Iterator<Item = usize> + use<'a> {
        let entries = self.entries;
        let of = entries[record].key.record();
        (record..entries.len()).take_while(move |index| entries[*index].key.record() == of)
    }
}
