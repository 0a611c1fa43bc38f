//! `docs/conformance-commands.md`: commands of ours, typed into the real clients.

use super::walk_page::WalkPage;

pub(super) const PAGE: WalkPage = WalkPage {
    file_name: "conformance-commands.md",
    noun: "clients",
    introduction: "# Conformance of commands

Written by `cargo xtask conformance --commands --full`; do not edit. Each row is a real client in a home of its own, into which
`carryover install --commands` has put the commands. Each of them was typed into the client's own interface with a word behind it, one
after another in one session, and looked for in the request that the client then sent to its model.

- **commands**: those that were typed
- **shown**: the client showed the command with its description while it was typed
- **sent**: all of the command's text was in the request, with the word in its place
- **whole**: all of them were shown and sent, `carryover save` knew with which one the session was begun, `carryover resume` put that one's
  text before the history, and `carryover uninstall` took all of them out

| client | commands | shown | sent | whole |
|---|---|---|---|---|
",
};
