//! Completions: scripts that register with a shell, and the answers that these ask us for.
//!
//! A shell asks while somebody types. So an answer is quick, and whatever goes wrong is no answer, never a message.

mod candidates;

use std::ffi::OsString;
use std::io;

use carryover_agents::{Agent, Target, agent_by_name};
use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter};
use clap_complete::env::Shells;

use self::candidates::SessionCompleter;

use crate::process_env::CompletionRequest;

const SHELLS: Shells<'static> = Shells::builtins();

/// The variable by which a shell asks, and says which one it is.
pub(crate) const ASKING_VARIABLE: &str = "COMPLETE";

const PROGRAM: &str = "carryover";

/// An autoloaded file is run the first time that its command is completed, and is to answer then already.
const ZSH_FIRST_ANSWER: &str =
    "\nif [ \"$funcstack[1]\" = \"_carryover\" ]; then\n    _clap_dynamic_completer_carryover \"$@\"\nfi\n";

/// Other names of options.
const HIDDEN_ALIASES: [&str; 3] = ["to", "from", "workspace"];

/// Where the script for bash asks.
const BASH_QUESTION: &str = "-- \"${words[@]}\"";

/// A script that a shell reads at its start; from then on it asks this program.
pub(crate) fn registration_script(shell: &str) -> io::Result<Vec<u8>> {
    let mut script = Vec::new();
    let Some(completer) = SHELLS.completer(shell) else { return Ok(script) };
    completer.write_registration(ASKING_VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    match shell {
        "zsh" => script.extend_from_slice(ZSH_FIRST_ANSWER.as_bytes()),
        // A program that is gone is not to be told of in the line that is being typed.
        "bash" => {
            let quiet =
                String::from_utf8_lossy(&script).replace(BASH_QUESTION, &format!("{BASH_QUESTION} 2>/dev/null"));
            script = quiet.into_bytes();
        }
        _ => {}
    }
    Ok(script)
}

/// The scripts of all shells, by the names under which these look for them.
pub(crate) fn all_scripts() -> io::Result<Vec<(String, Vec<u8>)>> {
    SHELLS.names().map(|shell| Ok((file_name(shell), registration_script(shell)?))).collect()
}

fn file_name(shell: &str) -> String {
    match shell {
        "zsh" => format!("_{PROGRAM}"),
        "powershell" => format!("{PROGRAM}.ps1"),
        "elvish" => format!("{PROGRAM}.elv"),
        shell => format!("{PROGRAM}.{shell}"),
    }
}

/// Whether there is a shell of that name.
pub(crate) fn is_shell(name: &str) -> bool {
    SHELLS.completer(name).is_some()
}

/// The answer to a shell: its script where it names no words yet, else what the words could go on with.
pub(crate) fn answer(request: CompletionRequest) -> io::Result<Vec<u8>> {
    let Some(completer) = SHELLS.completer(&request.shell) else { return Ok(Vec::new()) };
    if request.words.is_empty() {
        return registration_script(completer.name());
    }
    let mut answer = Vec::new();
    let words = if completer.name() == "bash" { join_values(request.words) } else { request.words };
    let mut command = completing_command(crate::cli_command(), &words);
    completer.write_complete(&mut command, words, request.folder.as_deref(), &mut answer)?;
    Ok(answer)
}

/// Bash makes a word of the `=` in `--target=codex`. The place of the word that is typed is told by number, so another
/// one, which means nothing here, takes the place of the option, and the option that of the `=`.
fn join_values(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_option = |word: &OsString| word.to_str().is_some_and(|word| word.starts_with("--"));
    for at in 2..words.len() {
        if words[at] == "=" && is_option(&words[at - 1]) && at + 1 < words.len() {
            words[at] = std::mem::replace(&mut words[at - 1], OsString::from("--quiet"));
        }
    }
    words
}

/// The command line with what only completions need: who knows the words, and names that the help leaves out.
fn completing_command(command: Command, words: &[OsString]) -> Command {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    with_agents_as_commands(add_candidates(command, &words))
}

fn add_candidates(command: Command, words: &[&str]) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_subcommands(|sub| add_candidates(sub, words));
    command.mut_args(|arg| {
        // An alias that the help leaves out completes as what it stands for.
        let aliases = arg.get_all_aliases().unwrap_or_default();
        let aliases: Vec<&'static str> = HIDDEN_ALIASES.into_iter().filter(|alias| aliases.contains(alias)).collect();
        let arg = arg.visible_aliases(aliases);
        add_arg_candidates(arg, &name, words)
    })
}

fn add_arg_candidates(arg: Arg, command: &str, words: &[&str]) -> Arg {
    match (command, arg.get_id().as_str()) {
        (_, "session" | "session_flag") => arg.add(ArgValueCompleter::new(SessionCompleter {
            agent: named_source(words),
            has_conversations: command == "resume",
            words: words.iter().map(ToString::to_string).collect(),
        })),
        ("sync", "from") => arg.add(ArgValueCandidates::new(candidates::memory_candidates)),
        ("show", "words") => arg.add(ArgValueCandidates::new(candidates::conversation_candidates)),
        ("save", "kind") => arg.add(ArgValueCandidates::new(candidates::type_candidates)),
        (_, "remote") => arg.add(ArgValueCandidates::new(candidates::remote_candidates)),
        ("undo", "id") => arg.add(ArgValueCandidates::new(candidates::undo_candidates)),
        ("get" | "set" | "unset", "key") => arg.add(ArgValueCandidates::new(candidates::key_candidates)),
        ("set", "value") => {
            let key = words.iter().skip_while(|word| **word != "set").nth(1).map(|key| (*key).to_owned());
            let values = move || key.as_deref().map(candidates::value_candidates).unwrap_or_default();
            arg.add(ArgValueCandidates::new(values))
        }
        _ => arg,
    }
}

/// The agent whose sessions alone are meant.
fn named_source(words: &[&str]) -> Option<&'static dyn Agent> {
    let after = |flag: &str| words.iter().skip_while(|word| **word != flag).nth(1).copied();
    let joined = |flag: &str| words.iter().find_map(|word| word.strip_prefix(flag)?.strip_prefix('='));
    let named = ["--source", "--from"].into_iter().find_map(|flag| after(flag).or_else(|| joined(flag)));
    named.and_then(agent_by_name)
}

/// `carryover codex` goes on in Codex, so an agent completes as a command that takes what `resume` takes.
fn with_agents_as_commands(command: Command) -> Command {
    let Some(resume) = command.find_subcommand("resume").cloned() else { return command };
    Target::all().fold(command, |command, target| {
        let go_on = resume.clone().name(target.id).about(format!("Go on in {}", target.name));
        command.subcommand(go_on.display_order(usize::MAX))
    })
}
