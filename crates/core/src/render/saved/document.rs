//! The document of a saved conversation: for people, and for whoever has no more than it.

use super::SavedSession;
use super::history::{quote_block, speaker};
use super::messages::{SavedMessage, SavedRole};
use crate::distill::Brief;
use crate::plain::one_line;
use crate::render::escape::{format_time, inline_code, safe_line};
use crate::render::lines;
use crate::time::Timestamp;
use crate::transcript::Status;

/// Facts of the head that are read again where there is nothing but the document.
const BEGUN: &str = "Begun";
const LAST_ACTIVE: &str = "Last active";
const MESSAGES: &str = "Messages";

#[derive(Debug, Clone, Copy)]
pub struct DocumentOptions<'a> {
    /// The display name of the agent.
    pub agent_name: &'a str,
    /// Who answers in it.
    pub speaker: &'a str,
    /// The command that goes on with it.
    pub resume_command: &'a str,
}

/// Renders the document.
pub fn render_document(
    saved: &SavedSession,
    brief: &Brief,
    messages: &[SavedMessage],
    options: &DocumentOptions<'_>,
) -> String {
    let mut out = render_facts(saved, options);
    for (heading, lines) in standing(brief) {
        if !lines.is_empty() {
            out += &format!("\n## {heading}\n\n- {}\n", lines.join("\n- "));
        }
    }
    out += "\n## Conversation\n";
    out + &render_messages(messages, options.speaker)
}

/// Renders the document of a conversation that is sealed: nothing of what was said is in it.
pub fn render_sealed_document(saved: &SavedSession, options: &DocumentOptions<'_>, sealed_file: &str) -> String {
    let command = inline_code(&format!("carryover conversations show {} --unseal", saved.conversation_id), 300);
    let file = inline_code(sealed_file, 100);
    format!(
        "{}\n## Conversation\n\nIt is sealed: what was said is encrypted in {file}. Whoever has the key reads it with {command}, or decrypts \
         the file with any program that knows age's format.\n",
        render_facts(saved, options)
    )
}

/// The title, and what is known beside what was said. How it stands is not in it: that changes when it is gone on with, and
/// the document does not.
fn render_facts(saved: &SavedSession, options: &DocumentOptions<'_>) -> String {
    let mut out = format!("# {}\n\n", safe_line(&saved.title, 200));
    let model = saved.agent_config.model.as_deref().map(|model| format!(", {}", inline_code(model, 80)));
    let facts = [
        ("Type", saved.conversation_type.clone()),
        (BEGUN, saved.created_at.clone()),
        (LAST_ACTIVE, saved.last_active.clone()),
        (MESSAGES, saved.message_count.to_string()),
        ("Agent", format!("{}{}", safe_line(options.agent_name, 60), model.unwrap_or_default())),
        ("Go on with it", inline_code(options.resume_command, 200)),
    ];
    for (name, fact) in facts {
        out += &format!("- {name}: {fact}\n");
    }
    out
}

/// What the head of a document of ours tells of its conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentHead {
    pub title: Option<String>,
    pub begun: Option<Timestamp>,
    pub last_active: Option<Timestamp>,
    pub messages: Option<usize>,
}

/// Reads the head of a document: the lines before the first section, which is where the facts stand.
pub fn read_document_head(document: &str) -> DocumentHead {
    let lines = || document.lines().take_while(|line| !line.starts_with("## "));
    let fact = |name: &str| lines().find_map(|line| line.strip_prefix("- ")?.strip_prefix(name)?.strip_prefix(": "));
    let time = |name: &str| fact(name).and_then(|at| Timestamp::parse(at.trim()));
    DocumentHead {
        title: lines().find_map(|line| line.strip_prefix("# ")).map(|title| one_line(title, 200)),
        begun: time(BEGUN),
        last_active: time(LAST_ACTIVE),
        messages: fact(MESSAGES).and_then(|count| count.trim().parse().ok()),
    }
}

/// Adds messages to a document that somebody has written in.
pub fn append_messages(document: &str, messages: &[SavedMessage], speaker: &str) -> String {
    let gap = if document.is_empty() || document.ends_with('\n') { "" } else { "\n" };
    format!("{document}{gap}{}", render_messages(messages, speaker))
}

/// Whether a document tells a message word for word.
pub fn quotes_any(document: &str, messages: &[SavedMessage]) -> bool {
    let document = format!("\n{}\n", document.replace('\r', ""));
    let mut said = messages.iter().filter(|message| message.role != SavedRole::Tool);
    said.any(|message| {
        let quote = quote_block(&message.content);
        !quote.is_empty() && document.contains(&format!("\n{quote}\n"))
    })
}

/// Where it stands, in quotes and facts.
fn standing(brief: &Brief) -> [(&'static str, Vec<String>); 4] {
    let plan = &brief.plan;
    let steps = [("done", &plan.done), ("in progress", &plan.in_progress), ("left", &plan.left)];
    let steps = steps.into_iter().flat_map(|(word, steps)| steps.iter().map(move |step| (word, step)));
    [
        ("State", lines::state_lines(brief, 400)),
        ("Decisions", brief.decisions.iter().map(|one| lines::format_decision(one, 240)).collect()),
        ("Plan", steps.map(|(word, step)| format!("{word}: {}", safe_line(&step.text, 160))).collect()),
        ("Still failing", brief.failing.iter().map(|one| lines::format_failing(one, 240)).collect()),
    ]
}

fn render_messages(messages: &[SavedMessage], agent_name: &str) -> String {
    let mut out = String::new();
    let mut is_list = false;
    for message in messages {
        if message.role == SavedRole::Tool {
            let gap = if is_list { "" } else { "\n" };
            out += &format!("{gap}- {}\n", tell_call(message));
            is_list = true;
            continue;
        }
        is_list = false;
        let at = message.timestamp.as_deref().and_then(Timestamp::parse);
        let at = at.map(|at| format!(" ({})", format_time(at))).unwrap_or_default();
        let who = safe_line(speaker(message, agent_name), 60);
        out += &format!("\n**{who}**{at}\n\n{}\n", quote_block(&message.content));
    }
    out
}

/// A call in one line; what came back is in the messages.
fn tell_call(message: &SavedMessage) -> String {
    let tool = message.event.call.as_ref().map_or("tool", |call| call.tool.as_str());
    let ending = match message.event.outcome.as_ref().map(|outcome| outcome.status) {
        Some(Status::Failed) => ": failed",
        Some(Status::Interrupted) => ": interrupted",
        _ => "",
    };
    format!("{} {}{ending}", safe_line(tool, 60), inline_code(message.subject(), 160))
}
