//! What is taken out of a collected workspace before it is packed: what git would take for a repository, and names that are
//! secrets.

use carryover_core::redact::redact_text;

use super::super::member_path::{decode_path, encode_path};
use super::LeftOut;
use super::bare_layout::{BareLayouts, REASON};
use super::collect::Collected;

const NAME_HOLDS_SECRETS: &str = "has a name that holds secrets";

impl Collected<'_> {
    /// Leaves out folders that would be repositories where they are unpacked.
    pub(super) fn withhold_repositories(&mut self) {
        let mut layouts = BareLayouts::default();
        self.tree.iter().chain(self.staged.iter().map(|blob| &blob.path)).for_each(|path| layouts.note_all(path));
        for folder in &self.folders {
            layouts.note_all(&[folder, &b"/"[..]].concat());
        }
        let found = layouts.into_folders();
        if found.is_empty() {
            return;
        }
        let is_in = |path: &[u8], folder: &Vec<u8>| {
            let below = path.get(..folder.len()).is_some_and(|start| start.eq_ignore_ascii_case(folder));
            folder.is_empty() || (below && path.get(folder.len()).is_none_or(|byte| *byte == b'/'))
        };
        for folder in &found {
            let first = self.tree.iter().find(|path| is_in(path, folder));
            let shown = first.map_or(&folder[..], |path| &path[..folder.len()]).to_vec();
            self.leave_out(if shown.is_empty() { b"." } else { &shown }, REASON);
        }
        self.keep(|path| !found.iter().any(|folder| is_in(path, folder)));
    }

    /// Leaves out what cannot be named without telling a secret; a name is told with its secret masked.
    pub(super) fn withhold_secret_names(&mut self) {
        let is_secret = |name: &str| matches!(redact_text(name), std::borrow::Cow::Owned(_));
        let left_out = self.record.left_out.iter().map(|left| left.path.clone());
        let changed = self.record.changes.iter().map(|change| change.path.clone());
        let names = self.tree.iter().chain(&self.folders).map(|path| encode_path(path)).chain(changed).chain(left_out);
        // All at once first: nearly always there are none.
        let names: Vec<String> = names.collect();
        if !is_secret(&names.join("\n")) {
            return;
        }
        let mut secret: Vec<String> = names.into_iter().filter(|name| is_secret(name)).collect();
        secret.sort();
        secret.dedup();
        for left in &mut self.record.left_out {
            left.path = redact_text(&left.path).into_owned();
        }
        self.keep(|path| secret.binary_search(&encode_path(path)).is_err());
        for name in secret {
            self.record.left_out.push(LeftOut::new(&redact_text(&name), NAME_HOLDS_SECRETS));
        }
    }

    fn keep(&mut self, mut is_kept: impl FnMut(&[u8]) -> bool) {
        self.tree.retain(|path| is_kept(path));
        self.folders.retain(|path| is_kept(path));
        self.staged.retain(|blob| is_kept(&blob.path));
        self.record.changes.retain(|change| decode_path(&change.path).is_some_and(|path| is_kept(&path)));
    }
}
