//! Files with a word each that nobody else says, wherever facts name one.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::{Env, Facts, FrontMatter, MemoryFile, MemoryPlace, Os};
use carryover_core::time::Timestamp;
use carryover_engine::memory::files::find_files;
use carryover_engine::memory::imports::find_imported;
use fs_err as fs;

/// Of two files of which one makes a client pass over the other, which are there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    /// Both.
    Hiding,
    /// Only those that would be passed over.
    Hidden,
}

/// Whether a client is told of a file, as carryover knows it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Always,
    Never,
    /// It depends on what is not set up here.
    Perhaps,
}

/// What was written where.
pub(super) struct MarkedFiles {
    words: BTreeMap<String, (PathBuf, Told)>,
}

impl MarkedFiles {
    /// Puts files into the folders, of which the client works in the last, and into the home.
    pub(super) fn write(
        facts: &'static Facts,
        home: &Path,
        folders: &[&Path],
        repository: &Path,
        round: Round,
    ) -> io::Result<Self> {
        let mut writer = Writer { paths: Vec::new() };
        let env = make_env(home);
        let hides = |path: &str| facts.memory.files.iter().any(|other| other.unless.contains(&path));
        for file in facts.memory.files.iter().filter(|file| round == Round::Hiding || !hides(file.path)) {
            let root = file.root(facts, &env, home);
            let roots: Vec<&Path> = match file.place {
                MemoryPlace::Project => folders.to_vec(),
                MemoryPlace::Home | MemoryPlace::Store => root.iter().map(PathBuf::as_path).collect(),
            };
            for root in roots {
                writer.write_kind(facts, file, root, repository)?;
            }
        }
        let project = folders.last().copied().unwrap_or(repository);
        Ok(Self { words: writer.judge(facts, &env, project) })
    }

    /// What a text says of them and should not, or should and does not; of a capture, only the latter counts where a file
    /// is read at times.
    pub(super) fn compare(&self, text: &str, name: &str, is_request: bool) -> Vec<String> {
        let mut findings = Vec::new();
        for (word, (path, told)) in &self.words {
            let (is_there, path) = (text.contains(word.as_str()), path.display());
            match told {
                Told::Always if !is_there => findings.push(format!("{name} lacks {path}")),
                Told::Never if is_there && is_request => findings.push(format!("{name} holds {path}")),
                _ => {}
            }
        }
        findings
    }
}

fn make_env(home: &Path) -> Env {
    Env {
        home: home.to_owned(),
        vars: BTreeMap::new(),
        os: Os::Linux,
        now: Timestamp::from_millis(0),
        zone: jiff::tz::TimeZone::UTC,
        stores: BTreeMap::new(),
        projects: Vec::new(),
    }
}

struct Writer {
    /// In the order of their words.
    paths: Vec<PathBuf>,
}

impl Writer {
    fn word(index: usize) -> String {
        format!("Marker{index:03}Word")
    }

    /// One file of a kind, or some: in folders as deep as they may be, with all that they may say about themselves.
    fn write_kind(&mut self, facts: &Facts, file: &MemoryFile, root: &Path, repository: &Path) -> io::Result<()> {
        let path = file.path_for(facts, repository);
        if file.is_single() {
            let imports = facts.memory.import.map(|prefix| format!("\n{prefix}taken-in.md\n"));
            self.write_file(&root.join(&path), "", imports.as_deref().unwrap_or_default())?;
            if imports.is_some() {
                let taken = root.join(&path).with_file_name("taken-in.md");
                self.write_file(&taken, "", "")?;
            }
            return Ok(());
        }
        for folders in ["", "deep/"] {
            for (name, head) in front_matters(file.front_matter) {
                let path = path.replace("**/", folders).replace('*', name);
                self.write_file(&root.join(path), head, "")?;
            }
        }
        Ok(())
    }

    fn write_file(&mut self, path: &Path, head: &str, end: &str) -> io::Result<()> {
        if self.paths.iter().any(|known| known == path) {
            return Ok(());
        }
        fs::create_dir_all(path.parent().unwrap_or(path))?;
        fs::write(path, format!("{head}# Rules\n\nThe word is {}.\n{end}", Self::word(self.paths.len())))?;
        self.paths.push(path.to_owned());
        Ok(())
    }

    /// What the client is told of, as carryover sees it.
    fn judge(self, facts: &'static Facts, env: &Env, project: &Path) -> BTreeMap<String, (PathBuf, Told)> {
        let found = find_files(env, facts, project);
        let imported = find_imported(env, facts, project);
        let told = |path: &Path| {
            if let Some(found) = found.iter().find(|found| found.path == path) {
                return match (&found.hidden_by, found.when, found.file.when) {
                    (None, None, _) => Told::Always,
                    (_, _, Some(_)) => Told::Perhaps,
                    _ => Told::Never,
                };
            }
            match imported.iter().find(|taken| taken.path == path) {
                Some(taken) if taken.when.is_some() => Told::Perhaps,
                Some(_) => Told::Always,
                None => Told::Never,
            }
        };
        let judged = self.paths.iter().enumerate();
        judged.map(|(index, path)| (Self::word(index), (path.clone(), told(path)))).collect()
    }
}

/// Names of rules, and what each says about itself.
fn front_matters(kind: Option<FrontMatter>) -> Vec<(&'static str, &'static str)> {
    match kind {
        None => vec![("plain", "")],
        Some(FrontMatter::AlwaysApply) => {
            vec![("always", "---\nalwaysApply: true\n---\n"), ("some", "---\nalwaysApply: false\nglobs: src/**\n---\n")]
        }
        Some(FrontMatter::Trigger) => {
            vec![("always", "---\ntrigger: always_on\n---\n"), ("some", "---\ntrigger: glob\nglobs: src/**\n---\n")]
        }
        Some(FrontMatter::Paths) => vec![("always", ""), ("some", "---\npaths: [\"src/**/*.rs\"]\n---\n")],
        Some(FrontMatter::ApplyTo | FrontMatter::ApplyToOrAlways) => {
            vec![("always", "---\napplyTo: \"**\"\n---\n"), ("some", "---\napplyTo: \"src/**/*.rs\"\n---\n")]
        }
    }
}
