//! Completions: scripts that register with a shell, and the answers that these ask us for.
//!
//! A shell asks while somebody types. So an answer is quick, and whatever goes wrong is no answer, never a message.

use std::io;

use clap_complete::env::Shells;

use crate::process_env::CompletionRequest;

const SHELLS: Shells<'static> = Shells::builtins();

/// The variable by which a shell asks, and says which one it is.
pub(crate) const ASKING_VARIABLE: &str = "COMPLETE";

const PROGRAM: &str = "carryover";

/// An autoloaded file is run the first time that its command is completed, and is to answer then already.
const ZSH_FIRST_ANSWER: &str =
    "\nif [ \"$funcstack[1]\" = \"_carryover\" ]; then\n    _clap_dynamic_completer_carryover \"$@\"\nfi\n";

/// A script that a shell reads at its start; from then on it asks this program.
pub(crate) fn registration_script(shell: &str) -> io::Result<Vec<u8>> {
    let mut script = Vec::new();
    let Some(completer) = SHELLS.completer(shell) else { return Ok(script) };
    completer.write_registration(ASKING_VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    if shell == "zsh" {
        script.extend_from_slice(ZSH_FIRST_ANSWER.as_bytes());
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
    completer.write_complete(&mut crate::cli_command(), request.words, request.folder.as_deref(), &mut answer)?;
    Ok(answer)
}
