//! A conversation whose messages are sealed: what of it stays in the open, and what goes in before the messages.

use serde::{Deserialize, Serialize};

use super::SavedSession;

pub const SEALED_SCHEMA: &str = "carryover.sealed-conversation/1";

/// The first line of what is sealed: the words of the conversation that would else stand in `session.json`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SealedHead {
    pub schema: String,
    pub title: String,
    pub context_summary: String,
    /// What the user typed after the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
}

impl SealedHead {
    /// A line of the file; none where it is no such line.
    pub fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok().filter(|head: &Self| head.schema == SEALED_SCHEMA)
    }
}

impl SavedSession {
    /// Takes out of it what was said. The title is the user's own words more often than not, so another stands for it.
    pub fn split_sealed(self, open_title: String) -> (Self, SealedHead) {
        let mut open = self;
        let head = SealedHead {
            schema: SEALED_SCHEMA.to_owned(),
            title: std::mem::replace(&mut open.title, open_title),
            context_summary: std::mem::take(&mut open.context_summary),
            arguments: open.agent_config.arguments.take(),
        };
        open.sealed = true;
        (open, head)
    }

    /// The title of a sealed conversation that the user has called nothing.
    pub fn untold_title(kind: &str, agent_name: &str) -> String {
        format!("{kind} with {agent_name}")
    }

    /// Puts back what was taken out. A title of the user's own stays.
    #[must_use]
    pub fn join_sealed(mut self, head: SealedHead, agent_name: &str) -> Self {
        if self.title == Self::untold_title(&self.conversation_type, agent_name) {
            self.title = head.title;
        }
        self.context_summary = head.context_summary;
        self.agent_config.arguments = head.arguments;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_was_said_stays_in_the_open_and_all_of_it_comes_back() {
        let mut saved = SavedSession {
            title: "the merger".to_owned(),
            context_summary: "buy them".to_owned(),
            conversation_id: "001-plan-x".to_owned(),
            conversation_type: "plan".to_owned(),
            sealed: true,
            ..SavedSession::default()
        };
        saved.agent_config.arguments = Some("for the merger".to_owned());
        let (open, head) = saved.clone().split_sealed(SavedSession::untold_title("plan", "Zero"));
        let text = serde_json::to_string(&open).unwrap();
        assert!(text.contains("plan with Zero") && !text.contains("merger") && !text.contains("buy"), "{text}");
        let line = serde_json::to_string(&head).unwrap();
        let head = SealedHead::parse(&line).unwrap();
        let named = SavedSession { title: "calc".to_owned(), ..open.clone() };
        assert_eq!(named.join_sealed(head.clone(), "Zero").title, "calc");
        assert_eq!(open.join_sealed(head, "Zero"), saved);
        assert_eq!(SealedHead::parse("{\"role\":\"user\",\"content\":\"x\"}"), None);
    }
}
