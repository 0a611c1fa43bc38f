//! Pushing: pieces that are not there yet, then an object in the index. What was interrupted left pieces that need not be sent
//! again, and nothing that is listed.

use std::io::{self, Read};
use std::ops::ControlFlow;

use carryover_agents::formats::ordered_pool::map_ordered;

use super::catalog::Catalog;
use super::cutter::{Cutter, MIN_PIECE_BYTES};
use super::index::{Piece, PushedCapsule, SCHEMA};
use super::{Progress, Remote, RemoteError};
use crate::capsule::{Content, SealedCapsule};
use crate::context::Context;

/// What a push did.
#[derive(Debug)]
pub struct Pushed {
    pub capsule: PushedCapsule,
    /// False where that very capsule was there already; pieces that were sent all the same were missing.
    pub is_new: bool,
    /// How many pieces were not there, and how long they are.
    pub sent_pieces: usize,
    pub sent_bytes: u64,
}

/// A piece that is there now.
struct StoredPiece {
    piece: Piece,
    was_sent: bool,
}

impl Remote {
    /// Sends what is not there yet of a capsule, and lists it.
    pub fn push(
        &self,
        context: &Context,
        catalog: &Catalog,
        sealed: &SealedCapsule,
        progress: Progress<'_>,
    ) -> Result<Pushed, RemoteError> {
        // Also where it is listed: somebody may have taken away a piece that was damaged.
        let stored = self.put_pieces(sealed, progress)?;
        let sent = || stored.iter().filter(|stored| stored.was_sent);
        let (sent_pieces, sent_bytes) = (sent().count(), sent().map(|stored| stored.piece.bytes).sum());
        let pieces: Vec<Piece> = stored.into_iter().map(|stored| stored.piece).collect();
        let listed = catalog.find_capsule(&sealed.manifest.id).filter(|listed| listed.pieces == pieces);
        if let Some(listed) = listed {
            return Ok(Pushed { capsule: listed.clone(), is_new: false, sent_pieces, sent_bytes });
        }
        let capsule = describe_capsule(context, sealed, pieces);
        let index = serde_json::to_vec(&capsule).map_err(io::Error::from)?;
        // Only now is everything there that it names.
        self.objects.put(&capsule.object_key(&self.objects.compute_address(&index)), &index)?;
        Ok(Pushed { capsule, is_new: true, sent_pieces, sent_bytes })
    }

    fn put_pieces(&self, sealed: &SealedCapsule, progress: Progress<'_>) -> Result<Vec<StoredPiece>, RemoteError> {
        let total: u64 = sealed.contents().map(Content::len).sum();
        let mut runs = split_runs(sealed).into_iter();
        let mut cutter: Option<Cutter<'_, RunReader<'_>>> = None;
        let mut next = || loop {
            if cutter.is_none() {
                cutter = Some(Cutter::new(&self.objects.cuts, RunReader::new(runs.next()?)));
            }
            match cutter.as_mut()?.next_piece().transpose() {
                Some(piece) => return Some(piece),
                None => cutter = None,
            }
        };
        let mut stored = Vec::new();
        let (mut done, mut failed) = (0, None);
        map_ordered(
            &mut next,
            |piece: io::Result<Vec<u8>>| self.put_one(&piece?),
            |result: Result<StoredPiece, RemoteError>| match result {
                Ok(one) => {
                    done += one.piece.bytes;
                    progress(done, total);
                    stored.push(one);
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            },
        );
        if let Some(error) = failed {
            return Err(error);
        }
        if done != total {
            return Err(io::Error::other("what was packed changed while it was read").into());
        }
        Ok(stored)
    }

    fn put_one(&self, content: &[u8]) -> Result<StoredPiece, RemoteError> {
        let (address, was_sent) = self.objects.put_piece(content)?;
        Ok(StoredPiece { piece: Piece { address, bytes: content.len() as u64 }, was_sent })
    }
}

/// A member that is long enough begins a piece of its own, so that it is cut alike whatever stands before it; short ones go
/// together.
fn split_runs(sealed: &SealedCapsule) -> Vec<Vec<&Content>> {
    let mut runs: Vec<Vec<&Content>> = Vec::new();
    let mut was_long = true;
    for content in sealed.contents() {
        let is_long = content.len() >= MIN_PIECE_BYTES as u64;
        match runs.last_mut().filter(|_| !is_long && !was_long) {
            Some(run) => run.push(content),
            None => runs.push(vec![content]),
        }
        was_long = is_long;
    }
    runs
}

/// Reads contents one after another, each opened when it is its turn.
struct RunReader<'c> {
    waiting: std::vec::IntoIter<&'c Content>,
    open: Box<dyn Read + 'c>,
}

impl<'c> RunReader<'c> {
    fn new(run: Vec<&'c Content>) -> Self {
        Self { waiting: run.into_iter(), open: Box::new(io::empty()) }
    }
}

impl Read for RunReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.open.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            match self.waiting.next() {
                Some(content) => self.open = content.open()?,
                None => return Ok(0),
            }
        }
    }
}

fn describe_capsule(context: &Context, sealed: &SealedCapsule, pieces: Vec<Piece>) -> PushedCapsule {
    let (manifest, workspace) = (&sealed.manifest, &sealed.workspace);
    let source = manifest.source.clone();
    PushedCapsule {
        schema: SCHEMA.to_owned(),
        pushed_at: context.env.now.to_string(),
        capsule: manifest.id.clone(),
        agent: source.agent,
        session_id: source.session_id,
        title: source.title,
        project: manifest.project.as_deref().and_then(folder_name),
        folder: manifest.project.clone(),
        model: manifest.model.clone(),
        started_at: source.started_at,
        updated_at: source.updated_at,
        messages: source.messages,
        files_mode: manifest.files,
        files: workspace.files,
        file_bytes: workspace.bytes,
        redacted: manifest.redacted,
        raw: manifest.has_raw_records(),
        prompts: sealed.prompts.clone(),
        bytes: pieces.iter().map(|piece| piece.bytes).sum(),
        manifest_bytes: sealed.contents().next().map_or(0, Content::len),
        pieces,
    }
}

/// The last part of a path of any system.
pub(super) fn folder_name(path: &str) -> Option<String> {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).map(str::to_owned)
}
