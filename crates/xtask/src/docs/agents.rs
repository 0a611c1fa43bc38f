//! The facts of each agent, the same that carryover works with.

use std::fmt::{self, Write};

use carryover_agents::{AGENTS, Agent, Facts, MemoryFile, MemoryPlace, Os, PathBase, PathRule};

/// The table for the README.
pub(super) fn render_table() -> Result<String, fmt::Error> {
    let mut table = "| agent | `--source`, `--target` | versions read | native resume | verified by |\n\
                     |---|---|---|---|---|\n"
        .to_owned();
    for agent in AGENTS {
        let facts = agent.facts();
        let versions = version_span(facts);
        let native = agent.describe_native();
        let (names, evidence) = (name_list(facts), facts.evidence.name());
        writeln!(table, "| {} | {names} | {versions} | {native} | {evidence} |", facts.name)?;
    }
    Ok(table)
}

/// Shapes that descriptions of the formats have and clients do not.
const NOT_READ: &str = r#"
## What no client writes

Some descriptions of these formats show records that no version of the clients has written, as far as is known:

- of Claude Code, lines like `{"type":"human","message":{…}}`, and `tool_result` blocks in the agent's own messages;
- of Codex CLI, bare lines like `{"role":"user","content":"…","usage":{…}}` and `{"type":"tool_result","name":…}`.

They are not read as a conversation, for who said what in them, and what belongs together, would be a guess. They are not passed
over either: where such a line holds somebody's words, every command that reads the session says that it could not be read, and
where (`unread` in `--json`); `carryover doctor` names records of all kinds that it does not know. A loose file of nothing else
is not taken for a session.
"#;

/// `docs/agents.md`.
pub(super) fn render_page() -> Result<String, fmt::Error> {
    let mut page = format!("# Agents\n\nWritten by `cargo xtask docs` from `crates/agents`.\n\n{}", render_table()?);
    for agent in AGENTS {
        write_section(&mut page, *agent)?;
    }
    page.push_str(NOT_READ);
    Ok(page)
}

fn write_section(page: &mut String, agent: &dyn Agent) -> fmt::Result {
    let facts = agent.facts();
    writeln!(page, "\n## {}\n", facts.name)?;
    writeln!(page, "- Names: {}", name_list(facts))?;
    writeln!(page, "- Programs: {}", code_list(facts.binaries))?;
    writeln!(page, "- Client versions that were read: {}", version_span(facts))?;
    writeln!(page, "- Stores, the first that exists:")?;
    for rule in facts.stores {
        writeln!(page, "  - {}", describe_store(rule))?;
    }
    writeln!(page, "- Files that tell its model something:")?;
    for file in facts.memory.files {
        writeln!(page, "  - {}", describe_memory(facts, file))?;
    }
    if let Some(prefix) = facts.memory.import {
        writeln!(page, "  - files that one of these names on a line of its own: `{prefix}PATH`")?;
    }
    let how = match (agent.writer(), agent.editor_writer()) {
        (_, None) => "",
        (None, Some(_)) => " (`--into-editor`, see [editors.md](editors.md))",
        (Some(_), Some(_)) => "; into its editor with `--into-editor` (see [editors.md](editors.md))",
    };
    writeln!(page, "- Native resume: {}{how}", agent.describe_native())?;
    writeln!(page, "- Verified by: {}", facts.evidence.name())?;
    if facts.windows.is_empty() {
        return writeln!(page, "- Token window: {}", facts.default_window);
    }
    writeln!(page, "- Token windows, as of {}:", facts.windows_checked_on)?;
    for window in facts.windows {
        writeln!(page, "  - `{}*`: {}", window.prefix, window.tokens)?;
    }
    writeln!(page, "  - other models: {}", facts.default_window)
}

pub(super) fn describe_store(rule: &PathRule) -> String {
    let path = rule.path.join("/");
    let place = match rule.base {
        PathBase::Home => format!("`~/{path}`"),
        PathBase::Project if path.is_empty() => "the project's own folder".to_owned(),
        PathBase::Project => format!("`{path}` in the project's folder"),
        PathBase::Variable(name) if path.is_empty() => format!("`${name}`, where it is set"),
        PathBase::Variable(name) => format!("`${name}/{path}`, where the variable is set"),
    };
    if rule.on.is_empty() {
        return place;
    }
    let systems: Vec<&str> = rule.on.iter().map(|os| os_name(*os)).collect();
    format!("{place} (on {})", systems.join(" and "))
}

fn describe_memory(facts: &Facts, file: &MemoryFile) -> String {
    let path = match file.place {
        MemoryPlace::Project => format!("`{}`", file.path),
        MemoryPlace::Home => format!("`~/{}`", file.path),
        // A store that no variable moves is in the home.
        MemoryPlace::Store => {
            let usual = facts.stores.iter().find(|rule| rule.base == PathBase::Home);
            let folder = usual.map(|rule| rule.path.join("/")).unwrap_or_default();
            format!("`~/{folder}/{}`", file.path)
        }
    };
    let notes = file.notes();
    if notes.is_empty() { path } else { format!("{path} ({})", notes.join("; ")) }
}

fn os_name(os: Os) -> &'static str {
    match os {
        Os::Linux => "Linux",
        Os::MacOs => "macOS",
        Os::Windows => "Windows",
    }
}

/// The versions that were read, or the one.
fn version_span(facts: &Facts) -> String {
    let (oldest, newest) = facts.versions_seen;
    if oldest.is_empty() {
        return "not told".to_owned();
    }
    if oldest == newest { oldest.to_owned() } else { format!("{oldest} to {newest}") }
}

fn name_list(facts: &Facts) -> String {
    let names: Vec<&str> = std::iter::once(facts.id).chain(facts.aliases.iter().copied()).collect();
    code_list(&names)
}

pub(super) fn code_list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
