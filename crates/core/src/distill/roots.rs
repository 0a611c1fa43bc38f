//! The folders that paths are seen from.

use super::History;

/// Where the work goes on, and where the session was.
///
/// A session that goes on elsewhere takes its files along: they are named as they are seen from its own project, and
/// found in the same place below the other one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    given: String,
    own: Option<String>,
}

impl Roots {
    /// The roots of a session that goes on in a folder; where none is known, in its own.
    pub fn from_history(history: &History, given: &str) -> Self {
        let bare = |root: &str| root.trim_end_matches(['/', '\\']).to_owned();
        let own = history.header.project.as_ref().map(|path| bare(&path.display().to_string()));
        let given = bare(given);
        if given.is_empty() {
            return Self { given: own.unwrap_or_default(), own: None };
        }
        // Where one holds the other, nothing was moved: every file is where it was.
        let is_moved = |own: &String| !own.is_empty() && !contains_folder(own, &given) && !contains_folder(&given, own);
        Self { own: own.filter(is_moved), given }
    }

    /// A path as seen from the project; one that lies outside stays as it is.
    pub fn relative_path<'p>(&self, path: &'p str) -> &'p str {
        let path = path.strip_prefix("./").unwrap_or(path);
        let mut roots = std::iter::once(&self.given).chain(&self.own);
        roots.find_map(|root| strip_root(path, root)).unwrap_or(path)
    }

    /// The name by which a file is told: one file is named in two ways where a tool and a shell of Windows name it.
    pub fn display_path(&self, path: &str) -> String {
        let path = self.relative_path(path);
        if path.contains('/') { path.to_owned() } else { path.replace('\\', "/") }
    }

    /// Whether a folder is one of them.
    pub(crate) fn is_root(&self, folder: &str) -> bool {
        folder == self.given || self.own.as_deref() == Some(folder)
    }
}

fn contains_folder(folder: &str, other: &str) -> bool {
    folder == other || strip_root(other, folder).is_some()
}

fn strip_root<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    if root.is_empty() {
        return None;
    }
    path.strip_prefix(root)?.strip_prefix(['/', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_roots(own: &str, given: &str) -> Roots {
        let mut history = History::default();
        history.header.project = Some(own.into());
        Roots::from_history(&history, given)
    }

    #[test]
    fn files_of_either_project_are_seen_from_it() {
        let roots = make_roots("/old/p/", "/new/p");
        for path in ["/old/p/src/a.rs", "/new/p/src/a.rs", "./src/a.rs", "src/a.rs"] {
            assert_eq!(roots.relative_path(path), "src/a.rs", "{path}");
        }
        for path in ["/old/p2/a.rs", "/old/p", "/etc/hosts"] {
            assert_eq!(roots.relative_path(path), path);
        }
        assert!(roots.is_root("/old/p") && roots.is_root("/new/p") && !roots.is_root("/old"));
    }

    #[test]
    fn a_folder_of_the_same_tree_moves_nothing() {
        assert_eq!(make_roots("/p/sub", "/p").relative_path("/p/sub/a.rs"), "sub/a.rs");
        assert_eq!(make_roots("/p", "/p/sub").relative_path("/p/sub/a.rs"), "a.rs");
        assert_eq!(make_roots("/p", "/p/sub").relative_path("/p/a.rs"), "/p/a.rs");
    }

    #[test]
    fn without_a_given_folder_the_own_one_counts() {
        assert_eq!(make_roots("C:\\p", "").relative_path("C:\\p\\a.rs"), "a.rs");
        assert_eq!(Roots::from_history(&History::default(), "").relative_path("/a.rs"), "/a.rs");
    }
}
