//! `carryover hook`, which agents call. It is never in their way: bounded in time, silent, and always a success.

use std::ffi::OsString;
use std::io::{self, Read};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use carryover_agents::{Facts, HookCall, HookEvent, HookKind, hooked_agents, prompt_text, read_call};
use carryover_engine::capture::spool_event;
use carryover_engine::context::Context;
use carryover_engine::conversations::suggestion::suggest_save;
use carryover_engine::handoff::injection::handoff_for_start;
use carryover_engine::install;
use carryover_engine::own::permissions;
use clap::Args;

use crate::daemon::{MAX_BODY_BYTES, client};
use crate::process_env;
use crate::ui::Ui;

/// How long an agent may take to say what it has to.
const PAYLOAD_TIME: Duration = Duration::from_millis(300);
/// How long the daemon may take. At the start of a session it may publish first what the last one left.
const EVENT_TIME: Duration = Duration::from_millis(250);
const START_TIME: Duration = Duration::from_millis(400);

/// Take an event of an agent, which its hook calls
///
/// Agents call this themselves once `carryover install` has told them to. What the agent says on standard input is passed
/// on to the daemon; at the start of a session the project's handoff is printed, in the form in which that agent gives
/// it to its model. With `conversations.suggest` it tells once, with a prompt, that the session may be saved. It says nothing
/// otherwise, and never fails.
#[derive(Args)]
pub(crate) struct HookArgs {
    /// The agent, by its id
    #[arg(value_name = "AGENT")]
    agent: String,
    /// The event, by the agent's own name for it
    #[arg(value_name = "EVENT")]
    event: String,
}

/// Whether a command line is a hook's, and its words: whatever is wrong with it, its agent must not know.
pub(crate) fn hook_words(args: &[OsString]) -> Option<&[OsString]> {
    let [_, command, words @ ..] = args else { return None };
    let is_for_help = words.iter().any(|word| word == "--help" || word == "-h");
    (command == "hook" && !is_for_help).then_some(words)
}

/// Takes the call of such a command line.
pub(crate) fn answer_words(words: &[OsString]) {
    if let [agent, event] = words
        && let (Some(agent), Some(event)) = (agent.to_str(), event.to_str())
    {
        answer_hook(agent, event);
    }
}

/// The same, where the command line was read by the usual way.
pub(crate) fn cmd_hook(args: &HookArgs) {
    answer_hook(&args.agent, &args.event);
}

/// Takes a call; whatever goes wrong, there is nothing to say.
fn answer_hook(agent: &str, event: &str) {
    let payload = read_payload().unwrap_or_default();
    let Ok((context, _)) = process_env::context_or_defaults() else { return };
    let Some(agent) = hooked_agents().find(|facts| facts.id == agent || facts.aliases.contains(&agent)) else { return };
    // An agent that was open while carryover was removed still calls; nothing of ours comes back by that. And what others
    // can write to is not believed.
    if !context.home.is_dir() || permissions::check_private(&context.home).is_err() {
        return;
    }
    if let Some(words) = take_call(&context, agent, event, &payload) {
        // An agent that does not listen any more is not told.
        Ui::answer_shell(words.as_bytes()).ok();
    }
}

/// Passes a call on, and answers what the agent is to be given.
fn take_call(context: &Context, agent: &'static Facts, event: &str, payload: &[u8]) -> Option<String> {
    let ancestors = process_env::list_ancestors();
    let call = HookCall { agent, event, payload, vars: &context.env.vars, ancestors: &ancestors, cwd: &context.cwd };
    let told = read_call(&call).ok()?;
    if told.is_through_another && install::is_installed(context, told.agent) {
        // Its own hook tells the same.
        return None;
    }
    let is_start = told.kind == HookKind::SessionStart;
    let at_most = if is_start { START_TIME } else { EVENT_TIME };
    if client::send_event(context, agent.id, event, payload, at_most).is_err() {
        // Where it cannot be kept, the stores still tell all of it.
        spool_event(context, &told, context.env.now).ok();
    }
    // Who says nothing of itself is not known well enough to be given anything.
    if payload.trim_ascii().is_empty() {
        return None;
    }
    if is_start {
        render_handoff(context, agent, &told, event)
    } else {
        render_suggestion(context, agent, &told, &call)
    }
}

/// One suggestion to save, with the user's prompt; off where nobody has asked for it.
fn render_suggestion(context: &Context, agent: &Facts, told: &HookEvent, call: &HookCall<'_>) -> Option<String> {
    let hooks = agent.hooks.filter(|hooks| hooks.injects_at_prompt)?;
    let text = suggest_save(context, told, &prompt_text(call.payload)?)?;
    hooks.injection.render(call.event, &text)
}

fn render_handoff(context: &Context, agent: &Facts, told: &HookEvent, event: &str) -> Option<String> {
    let text = handoff_for_start(context, told).ok()?;
    agent.hooks?.injection.render(event, &text)
}

/// What the agent says, up to a bound; one that never ends its words is not waited for.
fn read_payload() -> Option<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let limit = MAX_BODY_BYTES as u64 + 1;
        let read = io::stdin().lock().take(limit).read_to_end(&mut bytes);
        // Whoever waited may be gone.
        sender.send(read.is_ok().then_some(bytes)).ok();
    });
    let bytes = receiver.recv_timeout(PAYLOAD_TIME).ok()??;
    (bytes.len() <= MAX_BODY_BYTES).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_begins_as_a_hook_is_one_unless_it_asks_for_help() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(hook_words(&words("carryover hook an-agent Stop")), Some(&words("an-agent Stop")[..]));
        assert_eq!(hook_words(&words("carryover hook")), Some(&[][..]));
        assert!(hook_words(&words("carryover hook a b c --d")).is_some());
        assert!(hook_words(&words("carryover hook --help")).is_none());
        assert!(hook_words(&words("carryover list hook")).is_none());
    }
}
