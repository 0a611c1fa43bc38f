//! Pulling: the pieces of a capsule, put together, verified, and laid on the shelf. Nothing is opened or started.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use carryover_agents::formats::ordered_pool::map_ordered;

use super::index::PushedCapsule;
use super::{Progress, Remote, RemoteError};
use crate::capsule::manifest::Manifest;
use crate::capsule::shelf::{ShelvedCapsule, find_on_shelf, shelve_members};
use crate::capsule::staging::StagingFolder;
use crate::context::Context;
use crate::own::private;

/// In our own folder: a capsule on its way here.
const FOLDER: &str = "pulling";

/// A capsule that is here.
#[derive(Debug)]
pub struct Pulled {
    pub path: PathBuf,
    /// False where it was on the shelf already.
    pub is_new: bool,
}

impl Remote {
    /// Fetches a capsule onto the shelf. Where anything is wrong with it, nothing of it is left here.
    pub fn pull(
        &self,
        context: &Context,
        capsule: &PushedCapsule,
        progress: Progress<'_>,
    ) -> Result<Pulled, RemoteError> {
        if let Some(there) = find_on_shelf(context, &capsule.capsule) {
            return Ok(Pulled { path: there.path, is_new: false });
        }
        let folder = StagingFolder::create(context, FOLDER)?;
        let path = folder.path().join("members");
        let mut file = private::open_file(&path)?;
        self.fetch_pieces(capsule, &mut file, progress)?;
        file.flush()?;
        drop(file);
        let is_as_listed = |manifest: &Manifest| capsule.is_of(manifest);
        let ShelvedCapsule { path, .. } =
            shelve_members(context, &path, is_as_listed, capsule.manifest_bytes, capsule.bytes)?;
        Ok(Pulled { path, is_new: true })
    }

    fn fetch_pieces(
        &self,
        capsule: &PushedCapsule,
        into: &mut dyn Write,
        progress: Progress<'_>,
    ) -> Result<(), RemoteError> {
        let mut pieces = capsule.pieces.iter();
        let mut done = 0;
        let mut result = Ok(());
        map_ordered(
            || pieces.next(),
            |piece| self.objects.get_piece_of(&capsule.capsule, &piece.address, piece.bytes),
            |fetched| {
                let written = fetched.and_then(|content| {
                    done += content.len() as u64;
                    Ok(into.write_all(&content)?)
                });
                progress(done, capsule.bytes);
                match written {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        result = Err(error);
                        ControlFlow::Break(())
                    }
                }
            },
        );
        result
    }
}
