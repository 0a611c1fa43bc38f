//! Which files a file of instructions takes in: words that begin with `@` and name a file that is there.

use std::path::{Path, PathBuf};

use crate::sessions::project::resolve_path;

/// The real files that a text names for import. What stands in code is no import.
pub(super) fn find_imports(text: &str, file: &Path) -> Vec<PathBuf> {
    let Some(folder) = file.parent() else { return Vec::new() };
    let mut is_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        let named = line.split_whitespace().filter_map(|word| word.strip_prefix('@')).filter(|name| !name.is_empty());
        found.extend(named.map(|name| folder.join(name)).filter(|path| path.is_file()).map(|path| resolve_path(&path)));
    }
    found
}

/// A file's path as another one names it, with slashes. Both are in one project.
pub(super) fn relative_path(project: &Path, from: &Path, to: &Path) -> String {
    let folder = from.parent().and_then(|folder| folder.strip_prefix(project).ok());
    let up = folder.map_or(0, |folder| folder.components().count());
    let name = to.strip_prefix(project).unwrap_or(to);
    let parts = std::iter::repeat_n("..".to_owned(), up)
        .chain(name.components().map(|part| part.as_os_str().to_string_lossy().into_owned()));
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    #[test]
    fn words_that_name_a_file_are_imports_but_not_in_code() {
        let folder = tempfile::tempdir().unwrap();
        let root = resolve_path(folder.path());
        for name in ["A.md", "B.md", "C.md"] {
            fs_err::write(root.join(name), "x").unwrap();
        }
        let text = "@A.md\nsee @./B.md for more\n```\n@C.md\n```\n`@C.md` and me@C.md and @nobody\n";
        assert_eq!(find_imports(text, &root.join("own.md")), [root.join("A.md"), root.join("B.md")]);
    }

    #[test]
    fn a_path_is_told_from_the_file_that_names_it() {
        let path = |from: &str, to: &str| relative_path("/p".as_ref(), from.as_ref(), to.as_ref());
        assert_eq!(path("/p/C.md", "/p/A.md"), "A.md");
        assert_eq!(path("/p/.c/C.md", "/p/A.md"), "../A.md");
        assert_eq!(path("/p/C.md", "/p/.g/i.md"), ".g/i.md");
    }
}
