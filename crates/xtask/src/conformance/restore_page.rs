//! `docs/conformance-restore.md`: what came back of sessions that were deleted.

use super::walk_page::WalkPage;

pub(super) const PAGE: WalkPage = WalkPage {
    file_name: "conformance-restore.md",
    noun: "sessions",
    introduction: "# Conformance of `restore`

Written by `cargo xtask conformance --restore --full`; do not edit. Each row is a session that a real client wrote. The ledger
took it in, it was deleted as said, `carryover restore` brought it back, and the client resumed it: the request that it then
sends to its model is compared with the one before the deletion.

- **restored**: the same files with the same bytes, or a new session in the client's own format, where sessions share a
  database or a file
- **live**, **ghosts**, **images**, **structure**: as in [the matrix](conformance.md)
- **calls**: all calls have the names and ids that they had
- **whole**: all of this holds

| client | session | deleted | restored | live | ghosts | images | structure | calls | whole |
|---|---|---|---|---|---|---|---|---|---|
",
};
