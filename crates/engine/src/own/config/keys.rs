//! The table of keys, from which checks, documentation and the JSON schema derive.

use carryover_agents::AGENTS;
use serde_json::{Value, json};

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    Address,
    Agent,
    Agents,
    Count,
    Notification,
    Paths,
    Days,
    Port,
    Protocol,
    Recipients,
    Seconds,
    Switch,
    Tokens,
}

/// Ways in which the next agent may treat a handoff.
pub const PROTOCOLS: [&str; 3] = ["ask", "brief", "silent"];

/// Ways in which the watcher tells that a session has run into a limit, besides showing it.
pub const NOTIFICATIONS: [&str; 3] = ["off", "bell", "desktop"];

/// A day: a watcher that looks around less often watches no more.
pub const MAX_INTERVAL_SECONDS: u64 = 86_400;

/// A century: what is to be kept longer is kept for good.
pub(super) const MAX_RETENTION_DAYS: u64 = 36_500;

/// More messages than anybody reads at once.
pub(super) const MAX_COUNT: u64 = 10_000;

/// One key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Dotted; `<agent>` stands for any agent's id, `<name>` for a name of the user's.
    pub name: &'static str,
    pub kind: ValueKind,
    /// The default, in words.
    pub default: &'static str,
    pub doc: &'static str,
}

const KEYS: &[Key] = &[
    Key { name: "agents", kind: ValueKind::Agents, default: "all", doc: "The agents to look at." },
    Key {
        name: "stores.<agent>",
        kind: ValueKind::Paths,
        default: "the agent's own folders",
        doc: "More folders in which to look for an agent's sessions; `~/` means the home folder.",
    },
    Key {
        name: "resume.target",
        kind: ValueKind::Agent,
        default: "must be named",
        doc: "The agent to go on in, where the command names none.",
    },
    Key {
        name: "resume.tokens",
        kind: ValueKind::Tokens,
        default: "the window of the target's model",
        doc: "How many tokens a resumed session may have, where the command names no number.",
    },
    Key {
        name: "resume.launch",
        kind: ValueKind::Switch,
        default: "false",
        doc: "Whether the target is started once the session is there; `--print` never starts it.",
    },
    Key {
        name: "resume.into_editor",
        kind: ValueKind::Switch,
        default: "false",
        doc: "Whether a session that goes on in an editor is written into the editor's own database, which has to be closed \
              for it; otherwise it gets a brief. `--into-editor` does it once.",
    },
    Key {
        name: "handoff.tokens",
        kind: ValueKind::Tokens,
        default: "what suits the target",
        doc: "How many tokens a resume prompt may have, where the command names no number.",
    },
    Key {
        name: "handoff.protocol",
        kind: ValueKind::Protocol,
        default: "ask",
        doc: "What the next agent does with `handoff.md`: `ask` first, say so in `brief`, or be `silent`.",
    },
    Key {
        name: "handoff.pointers",
        kind: ValueKind::Switch,
        default: "true",
        doc: "Whether a project's `AGENTS.md` and its like get a pointer to `handoff.md` when one is published there.",
    },
    Key {
        name: "handoff.max_age",
        kind: ValueKind::Days,
        default: "14",
        doc: "How many days old a handoff may be that an agent is given at its start; 0 gives none.",
    },
    Key {
        name: "conversations.recent_messages",
        kind: ValueKind::Count,
        default: "20",
        doc: "How many of the last messages of a saved conversation are told whole, where it goes on from a prompt; older ones \
              are told in a line each.",
    },
    Key {
        name: "conversations.recipients",
        kind: ValueKind::Recipients,
        default: "none: a passphrase is asked for",
        doc: "The keys (age1…, ssh-ed25519 …, ssh-rsa …) that `save --encrypt` seals a conversation for, where the command names none.",
    },
    Key {
        name: "conversations.suggest",
        kind: ValueKind::Switch,
        default: "true",
        doc: "Whether an agent with hooks is told once, when a session seems to end or has become long, that it may offer \
              to save it. Nothing is saved unasked.",
    },
    Key {
        name: "daemon.port",
        kind: ValueKind::Port,
        default: "47823",
        doc: "The port on 127.0.0.1 at which the daemon answers programs that cannot use its socket; 0 opens none.",
    },
    Key {
        name: "watch.agents",
        kind: ValueKind::Agents,
        default: "the agents that are looked at",
        doc: "The agents to watch, where the command names none.",
    },
    Key {
        name: "watch.interval",
        kind: ValueKind::Seconds,
        default: "30",
        doc: "How many seconds pass between two snapshots of the watcher, and two looks for new stores.",
    },
    Key {
        name: "watch.notify",
        kind: ValueKind::Notification,
        default: "bell",
        doc: "How the watcher tells that a session has run into a limit, besides showing it: not at all, with the \
              terminal's `bell`, or with a notification of the `desktop`. No bell is put into a pipe.",
    },
    Key {
        name: "ledger.enabled",
        kind: ValueKind::Switch,
        default: "true",
        doc: "Whether sessions are kept in the ledger, where they are searched and outlive what their agents delete.",
    },
    Key {
        name: "ledger.retention",
        kind: ValueKind::Days,
        default: "0",
        doc: "How many days after its last use a session is kept in the ledger; 0 keeps all.",
    },
    Key {
        name: "remotes.<name>.url",
        kind: ValueKind::Address,
        default: "no remotes",
        doc: "Where a remote is. `carryover remote add` writes it, once it has the remote's key.",
    },
];

/// Every key that the configuration knows.
pub fn all_keys() -> &'static [Key] {
    KEYS
}

impl ValueKind {
    /// For messages: "must be …".
    pub fn expected(self) -> &'static str {
        match self {
            Self::Address => "an address without a password",
            Self::Agent => "the name of an agent",
            Self::Agents => "a list of agents' names",
            Self::Count => "a number from 0 to 10000",
            Self::Notification => "off, bell or desktop",
            Self::Paths => "a list of folders",
            Self::Days => "a number of days from 0 to 36500",
            Self::Port => "a port from 0 to 65535",
            Self::Protocol => "ask, brief or silent",
            Self::Recipients => "a list of public keys of age or ssh",
            Self::Seconds => "a number of seconds from 1 to 86400",
            Self::Switch => "true or false",
            Self::Tokens => "a whole number above zero",
        }
    }

    fn json_schema(self) -> Value {
        let ids: Vec<&str> = AGENTS.iter().map(|agent| agent.facts().id).collect();
        match self {
            Self::Agent => json!({ "type": "string", "enum": ids }),
            Self::Agents => json!({ "type": "array", "items": { "type": "string", "enum": ids } }),
            Self::Count => json!({ "type": "integer", "minimum": 0, "maximum": MAX_COUNT }),
            Self::Notification => json!({ "type": "string", "enum": NOTIFICATIONS }),
            Self::Address => json!({ "type": "string", "minLength": 1 }),
            Self::Paths | Self::Recipients => json!({ "type": "array", "items": { "type": "string" } }),
            Self::Days => json!({ "type": "integer", "minimum": 0, "maximum": MAX_RETENTION_DAYS }),
            Self::Port => json!({ "type": "integer", "minimum": 0, "maximum": u16::MAX }),
            Self::Protocol => json!({ "type": "string", "enum": PROTOCOLS }),
            Self::Seconds => json!({ "type": "integer", "minimum": 1, "maximum": MAX_INTERVAL_SECONDS }),
            Self::Switch => json!({ "type": "boolean" }),
            Self::Tokens => json!({ "type": "integer", "minimum": 1 }),
        }
    }
}

impl Key {
    /// Whether a dotted key is this one; an unknown agent in it is for the check to name.
    pub(super) fn matches(&self, dotted: &str) -> bool {
        self.begins_with(dotted) == Some(0)
    }

    /// How many parts of its name are left behind those of another, if it begins with them.
    fn begins_with(&self, dotted: &str) -> Option<usize> {
        let mut own = self.name.split('.');
        let fits = |part: &str| own.next().is_some_and(|own| (own.starts_with('<') && !part.is_empty()) || own == part);
        dotted.split('.').all(fits).then(|| own.count())
    }
}

/// The key that a dotted name is; any agent's folders are one key.
pub fn find_by_name(dotted: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.matches(dotted))
}

/// Whether a dotted name is a table that keys stand in.
pub(super) fn is_table(dotted: &str) -> bool {
    KEYS.iter().any(|key| key.begins_with(dotted).is_some_and(|n_left| n_left > 0))
}

/// The JSON schema of the configuration file.
pub fn json_schema() -> Value {
    let mut root = object_schema();
    for key in KEYS {
        let mut node = &mut root;
        let mut names = key.name.split('.').peekable();
        while let Some(name) = names.next() {
            let properties = if name.starts_with('<') { "patternProperties" } else { "properties" };
            let name = match name {
                "<agent>" => agent_pattern(),
                "<name>" => REMOTE_NAME_PATTERN.to_owned(),
                name => name.to_owned(),
            };
            let entry = &mut node[properties][name];
            if names.peek().is_some() {
                if entry.is_null() {
                    *entry = object_schema();
                }
            } else {
                *entry = key.kind.json_schema();
                entry["description"] = json!(key.doc);
                entry["$comment"] = json!(format!("default: {}", key.default));
            }
            node = entry;
        }
    }
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("carryover's config.toml");
    root
}

fn object_schema() -> Value {
    json!({ "type": "object", "additionalProperties": false })
}

/// As `share::remote::is_remote_name` has it.
const REMOTE_NAME_PATTERN: &str = "^[a-z0-9][a-z0-9_-]{0,39}$";

fn agent_pattern() -> String {
    let ids: Vec<&str> = AGENTS.iter().map(|agent| agent.facts().id).collect();
    format!("^({})$", ids.join("|"))
}
