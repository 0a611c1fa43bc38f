//! In which folders besides the one where an agent works files of a name count.

use std::path::{Path, PathBuf};

/// How far an agent looks for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Nowhere else.
    Here,
    /// At the root of the repository.
    RootAndHere,
    /// At the root of the repository, and not where it works, if that is another folder.
    Root,
    /// In all folders up to the root of the repository.
    Repository,
    /// The same, and in all folders above where there is no repository.
    RepositoryElseAll,
    /// In all folders above, up to the home, and not in that.
    BelowHome,
    /// In all folders above.
    All,
}

impl Reach {
    /// The folders that count, the outermost first; `root` is that of the repository.
    pub fn folders(self, project: &Path, root: Option<&Path>, home: &Path) -> Vec<PathBuf> {
        let up_to = |last: &Path| -> Vec<PathBuf> {
            let within = project.ancestors().take_while(|folder| folder.starts_with(last));
            within.map(Path::to_owned).collect()
        };
        let top = Path::new("");
        let mut folders = match (self, root) {
            (Self::Here, _) | (Self::RootAndHere | Self::Root | Self::Repository, None) => vec![project.to_owned()],
            (Self::Root, Some(root)) => vec![root.to_owned()],
            (Self::RootAndHere, Some(root)) if root == project => vec![project.to_owned()],
            (Self::RootAndHere, Some(root)) => vec![project.to_owned(), root.to_owned()],
            (Self::Repository | Self::RepositoryElseAll, Some(root)) => up_to(root),
            (Self::RepositoryElseAll, None) | (Self::All, _) => project.ancestors().map(Path::to_owned).collect(),
            (Self::BelowHome, _) => {
                let below = project.ancestors().take_while(|folder| *folder != home && *folder != top);
                below.map(Path::to_owned).collect()
            }
        };
        folders.reverse();
        folders
    }

    /// In words.
    pub(super) fn describe(self) -> Option<&'static str> {
        match self {
            Self::Here => None,
            Self::RootAndHere => Some("also at the repository's root"),
            Self::Root => Some("at the repository's root alone"),
            Self::Repository => Some("also in folders above, up to the repository's root"),
            Self::RepositoryElseAll => {
                Some("also in folders above, up to the repository's root; without a repository, in all")
            }
            Self::BelowHome => Some("also in all folders above, up to the home"),
            Self::All => Some("also in all folders above"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_told_from_the_outermost_on() {
        let folders = |reach: Reach, root: Option<&str>| {
            let found = reach.folders("/h/w/r/s".as_ref(), root.map(Path::new), "/h".as_ref());
            found.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        for (reach, in_repository, outside) in [
            (Reach::Here, "/h/w/r/s", "/h/w/r/s"),
            (Reach::Root, "/h/w", "/h/w/r/s"),
            (Reach::RootAndHere, "/h/w /h/w/r/s", "/h/w/r/s"),
            (Reach::Repository, "/h/w /h/w/r /h/w/r/s", "/h/w/r/s"),
            (Reach::RepositoryElseAll, "/h/w /h/w/r /h/w/r/s", "/ /h /h/w /h/w/r /h/w/r/s"),
            (Reach::BelowHome, "/h/w /h/w/r /h/w/r/s", "/h/w /h/w/r /h/w/r/s"),
            (Reach::All, "/ /h /h/w /h/w/r /h/w/r/s", "/ /h /h/w /h/w/r /h/w/r/s"),
        ] {
            assert_eq!(folders(reach, Some("/h/w")), in_repository, "{reach:?}");
            assert_eq!(folders(reach, None), outside, "{reach:?}");
        }
        assert_eq!(folders(Reach::RootAndHere, Some("/h/w/r/s")), "/h/w/r/s");
    }
}
