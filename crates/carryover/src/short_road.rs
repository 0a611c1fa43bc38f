//! `carryover codex`: an agent's name where a command would stand means resuming there.

use std::ffi::OsString;

use carryover_agents::Target;
use carryover_engine::own::config::find_nearest;
use clap::error::{ContextKind, ContextValue};

/// Global flags that may stand before it, and whether a value follows.
const GLOBAL_FLAGS: &[(&str, bool)] =
    &[("--json", false), ("--quiet", false), ("-q", false), ("--yes", false), ("-y", false), ("--color", true)];

/// The command line, with an agent's name in the place of a command written out as `resume --target NAME`. Whoever
/// types nothing but the name means a session of another agent.
pub(crate) fn expand_agent_name(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if let Some(at) = command_index(&args)
        && let Some(name) = args[at].to_str()
        && Target::by_name(name).is_some()
    {
        let words = ["resume", "--prefer-others", "--target", name].map(OsString::from);
        args.splice(at..=at, words);
    }
    args
}

/// An error about the first word, with what may stand there; any other error stays as it is.
pub(crate) fn suggest_first_word(mut error: clap::Error, command: &clap::Command) -> clap::Error {
    // The usage of the program itself tells that no command was read yet.
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return error };
    if !usage.to_string().contains("carryover AGENT") {
        return error;
    }
    let agents = Target::all().flat_map(|target| std::iter::once(target.id).chain(target.aliases.iter().copied()));
    let commands = command.get_subcommands().filter(|sub| !sub.is_hide_set()).map(clap::Command::get_name);
    let nearest = find_nearest(word, commands.chain(agents).map(str::to_owned));
    let mut tips = Vec::new();
    if let Some(nearest) = nearest {
        error.remove(ContextKind::SuggestedSubcommand);
        tips.push(format!("did you mean '{nearest}'?").into());
    }
    tips.push("a command stands there, or an agent's name, such as 'codex': go on there".into());
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    error
}

/// Where the command stands: behind the program, and behind global flags.
fn command_index(args: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = args.get(at)?.to_str().filter(|word| word.starts_with('-')) {
        let (_, takes_value) = GLOBAL_FLAGS.iter().find(|(flag, _)| {
            // `--color=never` has its value with it, and `-qy` is two flags.
            *flag == word.split('=').next().unwrap_or(word) || is_cluster(word)
        })?;
        at += if *takes_value && !word.contains('=') { 2 } else { 1 };
    }
    Some(at)
}

/// Whether a word is several short flags in one.
fn is_cluster(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flags| flags.len() > 1 && flags.chars().all(|flag| "qy".contains(flag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(line: &str) -> String {
        let words = line.split(' ').map(OsString::from);
        let expanded = expand_agent_name(words);
        expanded.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_agents_name_is_a_resume_there() {
        let road = "resume --prefer-others --target";
        assert_eq!(expand("carryover codex"), format!("carryover {road} codex"));
        assert_eq!(expand("carryover cc login bug --dry-run"), format!("carryover {road} cc login bug --dry-run"));
        assert_eq!(expand("carryover cursor --help"), format!("carryover {road} cursor --help"));
        for globals in ["--json", "-q", "-qy", "--color never", "--color=never", "--yes --quiet"] {
            assert_eq!(expand(&format!("carryover {globals} pi")), format!("carryover {globals} {road} pi"));
        }
        for target in Target::all() {
            for name in std::iter::once(&target.id).chain(target.aliases) {
                assert_eq!(expand(&format!("carryover {name}")), format!("carryover {road} {name}"));
            }
        }
    }

    #[test]
    fn every_other_line_stays_as_it_is() {
        for line in [
            "carryover",
            "carryover list",
            "carryover resume codex",
            "carryover --help codex",
            "carryover codx",
            "carryover --color codex list",
            "carryover -x codex",
            "carryover help codex",
        ] {
            assert_eq!(expand(line), line);
        }
    }
}
