//! Who speaks in a text that stands in the user's place.
//!
//! The client puts words of its own there: blocks in tags of its own, the state of an editor before the request, the
//! templates of its commands. A text that only mentions such a block stays the user's.

use carryover_core::transcript::Origin;

/// The source of a text in the user's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextSource {
    Message(Origin),
    Summary,
}

/// A text, or a part of it, and whose words it is.
pub(super) type TextPiece<'t> = (TextSource, &'t str);

const USER: TextSource = TextSource::Message(Origin::User);
const HOOK: TextSource = TextSource::Message(Origin::Hook);
const HARNESS: TextSource = TextSource::Message(Origin::Harness);

/// How a compaction's summary begins in every version that labels it by nothing else.
const SUMMARY_PREFIX: &str = "Another language model started to solve this problem";

/// Behind this line stands what was typed; editors and the desktop's client put their state before it.
const REQUEST_LINE: &str = "## My request for Codex:";

/// With this line, a plan that was approved on the screen is handed over.
const APPROVAL_LINE: &str = "PLEASE IMPLEMENT THIS PLAN:";

/// How the templates begin that commands of the client send, and how they end.
const PROMPT_TEMPLATES: &[(&str, &str)] = &[
    ("Generate a file named AGENTS.md that serves as a contributor guide for this repository.", ""),
    ("Review the current code changes (staged, unstaged, and untracked files) and provide prioritized findings.", ""),
    ("Review the code changes against the base branch '", "Provide prioritized, actionable findings."),
    ("Review the code changes introduced by commit ", "Provide prioritized, actionable findings."),
    (
        "A previous agent produced the plan below to accomplish the user's task. Implement the plan in a fresh context.",
        "",
    ),
];

/// Warnings of former clients, which the next client has no use for.
const WARNING_STARTS: &[&str] = &[
    "Warning: apply_patch was requested via ",
    "Warning: The maximum number of unified exec processes you can keep open is",
    "Warning: Your account was flagged for potentially high-risk cyber activity",
];

/// Whether a text is heard as the user's, and all of it.
pub(super) fn is_user_only(pieces: &[TextPiece<'_>]) -> bool {
    matches!(pieces, [(USER, _)])
}

/// The pieces of a text that nothing labels. What the user said comes first: a turn begins with it.
pub(super) fn split_sources(text: &str) -> Vec<TextPiece<'_>> {
    let trimmed = text.trim_start();
    if trimmed.starts_with(SUMMARY_PREFIX) {
        return vec![(TextSource::Summary, text)];
    }
    if WARNING_STARTS.iter().any(|start| trimmed.starts_with(start)) {
        return vec![(HARNESS, text)];
    }
    let (mut pieces, rest) = leading_blocks(text);
    if pieces.is_empty() {
        return split_typed(text);
    }
    if !rest.trim().is_empty() {
        pieces.splice(0..0, split_typed(rest.trim()));
    }
    pieces
}

/// The pieces of a text that the client labels as the user's: all of it is, but for what the client added to it.
pub(super) fn split_typed(text: &str) -> Vec<TextPiece<'_>> {
    if let Some((state, request)) = split_request(text) {
        let mut pieces = vec![(USER, request), (HOOK, state)];
        pieces.retain(|(_, words)| !words.is_empty());
        return pieces;
    }
    if let Some(plan) = text.strip_prefix(APPROVAL_LINE) {
        return vec![(USER, APPROVAL_LINE), (HOOK, plan.trim())];
    }
    if let Some(pieces) = split_arguments(text) {
        return pieces;
    }
    let trimmed = text.trim();
    let is_template = is_saved_prompt(trimmed)
        || PROMPT_TEMPLATES.iter().any(|(start, end)| trimmed.starts_with(start) && trimmed.ends_with(end));
    vec![(if is_template { HOOK } else { USER }, text)]
}

/// A saved prompt is sent with the head of its file, where it has one, and in the first versions with its placeholder.
fn is_saved_prompt(text: &str) -> bool {
    let head = text.strip_prefix("---").and_then(|rest| rest.split_once("\n---"));
    head.is_some_and(|(head, body)| {
        head.trim_start().starts_with("description:")
            || (head.contains("\ndescription:") && body.contains("$ARGUMENTS"))
    })
}

/// The words behind a saved prompt's name, where the prompt puts them into a block of their own.
fn split_arguments(text: &str) -> Option<Vec<TextPiece<'_>>> {
    let behind = text.trim_start().strip_prefix("## User Input\n\n```text\n")?;
    let at = behind.find("\n```\n\nYou **MUST** consider the user input")?;
    let (typed, prompt) = (behind[..at].trim(), behind[at..].trim_start_matches(['\n', '`']));
    let is_typed = !matches!(typed, "" | "$ARGUMENTS");
    Some(is_typed.then_some((USER, typed)).into_iter().chain([(HOOK, prompt)]).collect())
}

/// Whose words a text is that the client labels as none of the user's.
pub(super) fn client_text_source(text: &str) -> TextSource {
    let tag = Tag::at_start(text.trim_start());
    tag.and_then(Tag::text_source).unwrap_or(HARNESS)
}

/// The editor's state, and the request behind it. The last such line counts, as it does for the client.
fn split_request(text: &str) -> Option<(&str, &str)> {
    if !text.trim_start().starts_with("# ") {
        return None;
    }
    let at = text.rfind(REQUEST_LINE).filter(|at| text[..*at].ends_with('\n'))?;
    Some((text[..at].trim(), text[at + REQUEST_LINE.len()..].trim()))
}

/// The client's blocks at the beginning of a text, and what stands behind them.
fn leading_blocks(text: &str) -> (Vec<TextPiece<'_>>, &str) {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((voice, block, behind)) = leading_block(rest) {
        pieces.push((voice, block));
        rest = behind;
    }
    (pieces, rest)
}

fn leading_block(text: &str) -> Option<(TextSource, &str, &str)> {
    const INSTRUCTIONS_START: &str = "# AGENTS.md instructions";
    let trimmed = text.trim_start();
    let tag = if trimmed.starts_with(INSTRUCTIONS_START) { Tag("INSTRUCTIONS") } else { Tag::at_start(trimmed)? };
    let voice = tag.text_source()?;
    let end = tag.block_end(trimmed)?;
    Some((voice, &trimmed[..end], &trimmed[end..]))
}

/// The client's tags around what the next client brings by itself.
const CLIENT_TAGS: &[&str] = &[
    "INSTRUCTIONS",
    "apps_instructions",
    "collaboration_mode",
    "context_window",
    "context_window_guidance",
    "current_time_reminder",
    "environment_context",
    "environments_instructions",
    "git_attribution",
    "image_resize_notice",
    "managed_developer_instructions",
    "model_switch",
    "multi_agent_mode",
    "multi_agent_role",
    "permissions",
    "personality_spec",
    "plugins_instructions",
    "realtime_conversation",
    "recommended_plugins",
    "rollout_budget",
    "skills_instructions",
    "startup_context",
    "token_budget",
    "user_instructions",
];

/// The client's tags around what happened in this session: a skill that was used, a sub-agent's report, a command that
/// the user ran, an interruption. It is told to the model, and so stays live.
const SESSION_TAGS: &[&str] = &[
    "codex_internal_context",
    "goal_context",
    "hook_prompt",
    "realtime_delegation",
    "skill",
    "subagent_notification",
    "turn_aborted",
    "user_action",
    "user_shell_command",
];

/// The name of a tag.
#[derive(Debug, Clone, Copy)]
struct Tag<'t>(&'t str);

impl<'t> Tag<'t> {
    /// The tag with which a text begins.
    fn at_start(text: &'t str) -> Option<Self> {
        let inside = text.strip_prefix('<')?;
        let end = inside.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '-')?;
        (end > 0 && inside[end..].starts_with(['>', ' '])).then_some(Self(&inside[..end]))
    }

    /// Whose words stand in it; `None` where the tag is not the client's.
    fn text_source(self) -> Option<TextSource> {
        if CLIENT_TAGS.contains(&self.0) {
            return Some(HARNESS);
        }
        (SESSION_TAGS.contains(&self.0) || self.0.starts_with("external_")).then_some(HOOK)
    }

    /// Where its block ends: with the text, where that ends with the tag, else with the first closing tag.
    fn block_end(self, text: &str) -> Option<usize> {
        let close = format!("</{}", self.0);
        let end_of = |at: usize| text[at..].find('>').map(|more| at + more + 1);
        let last = end_of(text.rfind(&close)?)?;
        if text[last..].trim().is_empty() {
            return Some(text.len());
        }
        end_of(text.find(&close)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_the_client_are_not_the_users_words() {
        for text in [
            "<environment_context>\n  <cwd>/r</cwd>\n</environment_context>",
            "<user_instructions>\n\nbe brief\n\n</user_instructions>",
            "# AGENTS.md instructions for /r\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>",
            "<permissions instructions>x</permissions instructions>",
        ] {
            assert_eq!(split_sources(text), [(HARNESS, text)]);
        }
        for text in [
            "<turn_aborted>\n  <reason>interrupted</reason>\n</turn_aborted>",
            "<skill>\n<name>tidy</name>\n<path>/s</path>\nSort the list.\n</skill>",
            "<subagent_notification>\n{\"agent_path\":\"a\"}\n</subagent_notification>\n",
            "<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>",
            "<codex_internal_context source=\"goal\">\ngo on\n</codex_internal_context>",
            "<external_browser>a page</external_browser>",
        ] {
            assert_eq!(split_sources(text), [(HOOK, text)]);
        }
    }

    #[test]
    fn what_is_typed_beside_a_block_stays_the_users() {
        let both = "<environment_context>x</environment_context>\n\n<skill>s</skill>\nfix it";
        let expected =
            [(USER, "fix it"), (HARNESS, "<environment_context>x</environment_context>"), (HOOK, "<skill>s</skill>")];
        assert_eq!(split_sources(both), expected);
    }

    #[test]
    fn a_block_inside_other_words_stays_the_users() {
        for text in [
            "why does it send <environment_context>x</environment_context>?",
            "<skill> is not closed here",
            "<div>mine</div>",
            "# AGENTS.md instructions are ignored, why?",
            "## My request for Codex:\nexplain this line",
        ] {
            assert_eq!(split_sources(text), [(USER, text)]);
        }
    }

    #[test]
    fn a_request_is_told_from_the_state_of_the_editor() {
        let text = "# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nfix it\n";
        assert_eq!(
            split_sources(text),
            [(USER, "fix it"), (HOOK, "# Context from my IDE setup:\n\n## Active file: a.rs")]
        );
        assert_eq!(split_typed(text), split_sources(text));
    }

    #[test]
    fn templates_of_commands_are_not_typed() {
        let review = "Review the code changes introduced by commit 1a2b. Provide prioritized, actionable findings.";
        assert_eq!(split_sources(review), [(HOOK, review)]);
        assert_eq!(split_sources("PLEASE IMPLEMENT THIS PLAN:\n# Plan"), [(USER, APPROVAL_LINE), (HOOK, "# Plan")]);
        let saved = "---\ndescription: Plan the work.\n---\n\nUser input:\n\n$ARGUMENTS\n\nPlan.";
        assert_eq!(split_sources(saved), [(HOOK, saved)]);
        let filled =
            "\n## User Input\n\n```text\na clock\n```\n\nYou **MUST** consider the user input before it.\nPlan.";
        let prompt = "You **MUST** consider the user input before it.\nPlan.";
        assert_eq!(split_sources(filled), [(USER, "a clock"), (HOOK, prompt)]);
        let own = "Review the code changes introduced by commit 1a2b, please";
        assert_eq!(split_sources(own), [(USER, own)]);
    }
}
