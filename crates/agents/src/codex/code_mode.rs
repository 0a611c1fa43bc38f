//! Scripts of code mode, in which newer models call all their tools.
//!
//! A script is read only where it is plain what it does: nothing but patches, or one command, each spelt out in the
//! script. Any other keeps its own form.

use carryover_core::transcript::{Action, Change};

use super::patch;

const PATCH_START: &str = "*** Begin Patch";

/// The action of a script, if it is plain.
pub(super) fn interpret_script(script: &str) -> Option<Action> {
    let tools: Vec<&str> = called_tools(script).collect();
    match tools.as_slice() {
        ["exec_command"] => run_action(script),
        [] => None,
        tools if tools.iter().all(|tool| *tool == "apply_patch") => {
            patch_changes(script, tools.len()).map(Action::Edit)
        }
        _ => None,
    }
}

/// The names of the tools that a script calls, in their order.
fn called_tools(script: &str) -> impl Iterator<Item = &str> {
    script.match_indices("tools.").map(|(at, start)| {
        let name = &script[at + start.len()..];
        let end = name.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        &name[..end.unwrap_or(name.len())]
    })
}

/// The changes of all patches; each call must have its own.
fn patch_changes(script: &str, calls: usize) -> Option<Vec<Change>> {
    let mut changes = Vec::new();
    let mut found = 0;
    let mut rest = script;
    while let Some(at) = rest.find(PATCH_START) {
        let quote = rest[..at].rfind(['"', '\'', '`'])?;
        let (text, end) = read_literal(rest, quote)?;
        changes.extend(patch::parse(&text)?);
        found += 1;
        rest = &rest[end..];
    }
    (found == calls).then_some(changes)
}

fn run_action(script: &str) -> Option<Action> {
    let arguments = script.split_once("tools.exec_command(")?.1;
    let command = argument_text(arguments, "cmd")?;
    Some(Action::Run { command, workdir: argument_text(arguments, "workdir") })
}

/// The text of a named argument, where it is spelt out.
fn argument_text(arguments: &str, name: &str) -> Option<String> {
    let (at, _) = arguments.match_indices(name).find(|(at, name)| {
        let before = arguments[..*at].trim_end_matches(['"', '\'']).trim_end();
        let behind = arguments[at + name.len()..].trim_start_matches(['"', '\'']).trim_start();
        before.ends_with(['{', ',']) && behind.starts_with(':')
    })?;
    let colon = at + arguments[at..].find(':')? + 1;
    let quote = arguments[colon..].find(|letter: char| !letter.is_whitespace())? + colon;
    read_literal(arguments, quote).map(|(text, _)| text)
}

/// The string that begins with the quote at a place, and where it ends; none where it is put together from others.
fn read_literal(script: &str, at: usize) -> Option<(String, usize)> {
    let quote = script[at..].chars().next().filter(|letter| matches!(letter, '"' | '\'' | '`'))?;
    let is_raw = script[..at].ends_with("String.raw");
    let mut text = String::new();
    let mut letters = script[at + 1..].char_indices();
    while let Some((place, letter)) = letters.next() {
        match letter {
            _ if letter == quote => return Some((text, at + 1 + place + 1)),
            '$' if quote == '`' && script[at + 1 + place..].starts_with("${") => return None,
            '\\' if !is_raw => push_escaped(&mut text, &mut letters)?,
            _ => text.push(letter),
        }
    }
    None
}

/// Adds what the letters behind a backslash mean; one before the end of a line means nothing.
fn push_escaped(text: &mut String, letters: &mut impl Iterator<Item = (usize, char)>) -> Option<()> {
    let letter = match letters.next()?.1 {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '\n' => return Some(()),
        'u' => {
            let digits: String = (0..4).filter_map(|_| letters.next().map(|(_, digit)| digit)).collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
        }
        letter if letter.is_ascii_alphanumeric() => return None,
        letter => letter,
    };
    text.push(letter);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_of_patches_is_an_edit() {
        let added = Action::Edit(vec![Change::Add { path: "a".to_owned(), content: "it's \"x\"\n".to_owned() }]);
        for script in [
            r#"text(await tools.apply_patch("*** Begin Patch\n*** Add File: a\n+it's \"x\"\n*** End Patch\n"));"#,
            "const p = `*** Begin Patch\n*** Add File: a\n+it's \"x\"\n*** End Patch`;\nawait tools.apply_patch(p);",
            "await tools.apply_patch(String.raw`*** Begin Patch\n*** Add File: a\n+it's \"x\"\n*** End Patch`);",
        ] {
            assert_eq!(interpret_script(script), Some(added.clone()), "{script}");
        }
    }

    #[test]
    fn a_script_of_one_command_is_a_command() {
        let run = |command: &str, workdir: Option<&str>| {
            Some(Action::Run { command: command.to_owned(), workdir: workdir.map(str::to_owned) })
        };
        let plain = r#"const r = await tools.exec_command({cmd: "cat a; exit 2"});text(r.output);"#;
        assert_eq!(interpret_script(plain), run("cat a; exit 2", None));
        let more = r#"text(await tools.exec_command({"workdir": "/r", "cmd": 'ls "a"', yield_time_ms: 9}))"#;
        assert_eq!(interpret_script(more), run("ls \"a\"", Some("/r")));
    }

    #[test]
    fn a_script_that_does_more_is_none_of_them() {
        for script in [
            "text(1)",
            r#"await tools.exec_command({cmd: "a"}); await tools.exec_command({cmd: "b"});"#,
            "await tools.exec_command({cmd: `ls ${folder}`});",
            r#"await tools.update_plan({}); await tools.apply_patch("*** Begin Patch\n*** Delete File: a\n*** End Patch");"#,
            "await tools.apply_patch(made);",
        ] {
            assert_eq!(interpret_script(script), None, "{script}");
        }
    }
}
