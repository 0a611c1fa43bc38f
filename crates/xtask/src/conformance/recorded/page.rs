//! `docs/conformance-capsules.md`: sessions that went on in another home.

use crate::conformance::walk_page::WalkPage;

pub(super) const PAGE: WalkPage = WalkPage {
    file_name: "conformance-capsules.md",
    noun: "sessions",
    introduction: "# Conformance of capsules

Written by `cargo xtask conformance --record --full`; do not edit. Each row is a session that a real client made in a project in
the middle of somebody's work: files that are staged, changed, deleted, new, executable and links. It was recorded, packed with
`carryover capsule export --raw`, and opened with `carryover import` in a home in which nothing was but the client's settings, into
a fresh clone of the repository. Then the client went on with it for three turns there, and for the same three turns where it was,
by the name that `import` told. All of what its client sent to its model in both homes was compared: system prompt, tools, every
message and every other field.

- **requests**: those of the three turns in each home
- **conversation**: texts, calls, outcomes and images in the last of them
- **files**: files, folders and links of the project, equal in content, mode and target after the import and after the turns, with
  what git says of them: what is staged, the status, the log
- **whole**: all of it was equal, the recording was exact, through the proxy the client asked the same as without it, and the
  capsule was [deterministic](capsules.md)

What must differ stands as a mark in both: the paths of the two homes and of the two projects, which are of one length, since clients
count; ids, times, durations and numbers of processes. Nothing else is left out. What a client says of itself in the second home must
not name the first; in what was said before, and what tools gave back, old paths stay. A row that is not whole is run again, three
times at most: some clients send things that depend on which of their own tasks is faster.

| client | requests | conversation | files | whole |
|---|---|---|---|---|
",
};
