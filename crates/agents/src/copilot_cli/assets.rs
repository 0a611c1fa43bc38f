//! Images: in the line that shows them, or in an event of their own that lines refer to by its id.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use carryover_core::transcript::{Blob, BlobLocation, Body, Entry, Part};
use serde_json::value::RawValue;

use super::record;
use super::wire::{WireAsset, WireBytes};
use crate::formats::jsonl::{self, Line};
use crate::formats::text::Text;

/// The asset of a `session.binary_asset` event: its id, and where its bytes stand.
pub(super) struct Asset {
    id: String,
    location: BlobLocation,
}

/// A line and where it stands.
pub(super) struct LocatedLine<'a> {
    pub bytes: &'a [u8],
    pub file: u16,
    pub offset: u64,
}

impl LocatedLine<'_> {
    fn blob_location(&self, data: &Text<'_>) -> BlobLocation {
        data.blob_location(self.bytes, (self.file, self.offset))
    }

    /// Bytes for the model. Those that stand elsewhere are `Remote` until they are found.
    pub(super) fn read_blob(&self, bytes: &WireBytes<'_>, name: Option<String>) -> Option<Blob> {
        let place = match (&bytes.data, &bytes.asset_id) {
            (Some(data), _) => self.blob_location(data),
            (None, Some(id)) => BlobLocation::Remote(id.to_string()),
            (None, None) => return None,
        };
        let media_type = bytes.mime_type.as_deref().unwrap_or("image/png").to_owned();
        Some(Blob { media_type, name, location: place })
    }
}

pub(super) fn from_event(ground: &LocatedLine<'_>, data: &RawValue) -> Option<Asset> {
    let asset: WireAsset<'_> = serde_json::from_str(data.get()).ok()?;
    // The data was parsed out of the line, so the places are the line's.
    Some(Asset { id: asset.asset_id.to_string(), location: ground.blob_location(&asset.data) })
}

/// The assets of a session, as far as they have been met.
#[derive(Default)]
pub(super) struct Assets {
    locations: BTreeMap<String, BlobLocation>,
    /// How far the file has been looked through.
    seen: u64,
}

impl Assets {
    /// Those that stand before a place in the file are not known yet.
    pub(super) fn starting_at(start: u64) -> Self {
        Self { locations: BTreeMap::new(), seen: start }
    }

    pub(super) fn add_asset(&mut self, asset: Asset) {
        self.locations.insert(asset.id, asset.location);
    }

    /// Puts the places of assets into the entries that refer to them.
    pub(super) fn resolve_entries(&mut self, path: &Path, entries: &mut [Entry]) {
        for part in entries.iter_mut().flat_map(|entry| parts_mut(&mut entry.body)) {
            let Part::Blob(Blob { location: place, .. }) = part else { continue };
            let BlobLocation::Remote(id) = &*place else { continue };
            if let Some(found) = self.find_location(path, id) {
                *place = found;
            }
        }
    }

    fn find_location(&mut self, path: &Path, id: &str) -> Option<BlobLocation> {
        if !self.locations.contains_key(id) && self.seen > 0 {
            self.scan_earlier(path);
        }
        self.locations.get(id).cloned()
    }

    /// Looks through what was read in an earlier step, once. What cannot be read leaves the image where it was.
    fn scan_earlier(&mut self, path: &Path) {
        let end = std::mem::take(&mut self.seen);
        let finder = memchr::memmem::Finder::new(r#""session.binary_asset""#);
        let parse = |line: Line<'_>| {
            let past = line.offset >= end;
            let holds = !past && finder.find(&line.bytes[..line.bytes.len().min(64)]).is_some();
            let asset = holds.then(|| record::parse_record(line, 0).and_then(|parsed| parsed.more.asset)).flatten();
            Some((past, asset))
        };
        let looked = jsonl::scan_records(path, 0, parse, |(past, asset)| {
            if let Some(asset) = asset {
                self.locations.entry(asset.id).or_insert(asset.location);
            }
            if past { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        drop(looked);
    }
}

fn parts_mut(body: &mut Body) -> &mut [Part] {
    match body {
        Body::Prompt(parts) => parts,
        Body::Outcome(outcome) => &mut outcome.parts,
        _ => &mut [],
    }
}
