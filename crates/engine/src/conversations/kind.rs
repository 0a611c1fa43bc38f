//! The type of a conversation, and what of it a command tells.

use carryover_core::render::saved::is_type;

/// The type of a conversation that nobody named and no command began.
pub(super) const DEFAULT_TYPE: &str = "conversation";

/// Commands of ours that begin no conversation of their own.
const NO_TYPES: [&str; 3] = ["resume", "stop-conversation", "handoff"];

/// The families of our commands.
const OWN_FAMILIES: [&str; 2] = ["workspace", "carryover"];

/// The type that a command stands for: its name, without its family.
pub(super) fn type_from_command(command: Option<&str>) -> String {
    let name = command.map(|command| name_in_family(command).to_lowercase());
    let name = name.filter(|name| is_type(name) && !NO_TYPES.contains(&name.as_str()));
    name.unwrap_or_else(|| DEFAULT_TYPE.to_owned())
}

/// Whether a command is one of ours that begins no conversation; a user's own may be called like one.
pub(super) fn is_own_without_type(command: &str) -> bool {
    let name = command.trim_start_matches('/');
    let bare = OWN_FAMILIES.iter().find_map(|family| name.strip_prefix(family)?.strip_prefix(['.', '-', ':']));
    bare.is_some_and(|bare| NO_TYPES.contains(&bare))
}

/// The name of a command without its family. A name of several words may be joined by hyphens, too: only our own families
/// are known in it.
fn name_in_family(command: &str) -> &str {
    let name = command.trim_start_matches('/');
    let name = name.rsplit([':', '.']).next().unwrap_or(name);
    let bare = OWN_FAMILIES.iter().find_map(|family| name.strip_prefix(family)?.strip_prefix('-'));
    bare.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_ours_are_told_from_a_users() {
        for own in ["/workspace.resume", "/workspace-stop-conversation", "/carryover.handoff"] {
            assert!(is_own_without_type(own), "{own}");
        }
        for other in ["/db:resume", "/resume", "/my.handoff", "/workspace.plan"] {
            assert!(!is_own_without_type(other), "{other}");
        }
    }

    #[test]
    fn a_type_is_the_name_of_the_command() {
        for (command, kind) in [
            (Some("/workspace.brainstorm"), "brainstorm"),
            (Some("/prompts:workspace.plan"), "plan"),
            (Some("/review"), "review"),
            (Some("/workspace-plan"), "plan"),
            (Some("/workspace-stop-conversation"), DEFAULT_TYPE),
            (Some("/carryover-handoff"), DEFAULT_TYPE),
            (Some("/fix-tests"), "fix-tests"),
            (Some("/workspace.stop-conversation"), DEFAULT_TYPE),
            (Some("/résumé"), DEFAULT_TYPE),
            (None, DEFAULT_TYPE),
        ] {
            assert_eq!(type_from_command(command), kind, "{command:?}");
        }
    }
}
