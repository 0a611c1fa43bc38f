//! Every key of the configuration file, and every variable.

use std::fmt::{self, Write};

use carryover_agents::{AGENTS, PathBase};
use carryover_engine::own::config;

const PAGE_HEAD: &str = "\
# Configuration

Written by `cargo xtask docs` from the code.

`carryover config path` tells where the file is: `~/.carryover/config.toml` unless `CARRYOVER_HOME` says otherwise. It need
not exist. A key that carryover does not know is an error that suggests the nearest one. The file's JSON schema is
[schemas/config.schema.json](schemas/config.schema.json).

```toml
# agents = [\"claude-code\", \"codex\"]   # look at these only

[stores]
codex = [\"~/backup/codex\"]              # more places with sessions

[resume]
target = \"codex\"
tokens = 150000

[watch]
agents = [\"claude-code\", \"codex\"]
interval = 30
notify = \"desktop\"
```

| key | takes | without it |
|---|---|---|
";

const VARIABLES: &[(&str, &str)] = &[
    ("CARRYOVER_HOME", "the folder for carryover's own files, instead of `~/.carryover`"),
    ("NO_COLOR", "no colours, as `--color never`"),
    ("COLUMNS", "how wide tables are"),
    (
        "CARRYOVER_NOW",
        "the time that carryover takes for now (RFC 3339); for tests that must give the same bytes each time",
    ),
    ("CARRYOVER_SEED", "the number from which new ids are made; for the same tests. Two resumes with one seed collide"),
];

/// `docs/configuration.md`.
pub(super) fn render_page() -> Result<String, fmt::Error> {
    let mut page = PAGE_HEAD.to_owned();
    for key in config::all_keys() {
        writeln!(page, "| `{}` | {}: {} | {} |", key.name, key.kind.expected(), lower_first(key.doc), key.default)?;
    }
    page.push_str("\n## Variables\n\n| variable | means |\n|---|---|\n");
    for (name, meaning) in VARIABLES {
        writeln!(page, "| `{name}` | {meaning} |")?;
    }
    for agent in AGENTS {
        for rule in agent.facts().stores {
            if let PathBase::Variable(name) = rule.base {
                writeln!(
                    page,
                    "| `{name}` | where {} keeps its sessions, as the client itself reads it |",
                    agent.facts().name
                )?;
            }
        }
    }
    Ok(page)
}

/// A sentence inside a sentence.
fn lower_first(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let mut chars = sentence.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
