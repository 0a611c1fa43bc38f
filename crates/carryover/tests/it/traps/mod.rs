//! What handovers have got wrong before: small sessions as the clients write them, and what must be told of each, and
//! what must never be.

mod aider;
mod claude_code;
mod clients;
mod codex;
mod general;

use serde_json::Value;

use crate::support::TestEnv;

/// What a session came to.
struct Handed {
    handoff: String,
    resume: String,
}

/// Hands the only session of a home over.
#[track_caller]
fn handed(env: &TestEnv) -> Handed {
    env.run(&["handoff", "@last"]).success();
    let read = |name: &str| fs_err::read_to_string(env.project().join(".carryover").join(name)).unwrap();
    let handed = Handed { handoff: read("handoff.md"), resume: read("RESUME.md") };
    assert!(handed.handoff.lines().count() <= 50, "{}", handed.handoff);
    handed
}

impl Handed {
    fn texts(&self) -> [&String; 2] {
        [&self.handoff, &self.resume]
    }

    /// Both texts have these words.
    #[track_caller]
    fn tells(&self, words: &str) {
        for text in self.texts() {
            assert!(text.contains(words), "{words:?} is not in\n{text}");
        }
    }

    /// Neither text has these words.
    #[track_caller]
    fn hides(&self, words: &str) {
        for text in self.texts() {
            assert!(!text.contains(words), "{words:?} is in\n{text}");
        }
    }

    /// A section of both texts has these words.
    #[track_caller]
    fn tells_in(&self, heading: &str, words: &str) {
        for text in self.texts() {
            assert!(section(text, heading).contains(words), "{words:?} is not in {heading} of\n{text}");
        }
    }

    /// No section of this name has these words, in either text.
    #[track_caller]
    fn hides_in(&self, heading: &str, words: &str) {
        for text in self.texts() {
            assert!(!section(text, heading).contains(words), "{words:?} is in {heading} of\n{text}");
        }
    }

    /// Neither text has such a section.
    #[track_caller]
    fn has_no(&self, heading: &str) {
        self.hides(&format!("\n## {heading}"));
    }

    /// The task is these words of the user's, and nothing else is.
    #[track_caller]
    fn asks(&self, request: &str) {
        for text in self.texts() {
            let task = section(text, "Task: ");
            let quoted: Vec<&str> = task.lines().filter(|line| line.starts_with('>')).collect();
            assert_eq!(quoted, [format!("> {request}")], "{text}");
        }
    }

    /// The agent's last words in `handoff.md`; `RESUME.md` has them in its conversation.
    fn last_words(&self) -> &str {
        section(&self.handoff, "The agent's last words")
    }
}

/// A section without its heading, of which the beginning is given; empty where there is none.
fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let Some((_, rest)) = text.split_once(&format!("\n## {heading}")) else { return "" };
    let body = rest.split_once('\n').map_or("", |(_, body)| body);
    body.split("\n## ").next().unwrap_or_default()
}

/// The entries of a session, also those that the model does not see.
fn entries(env: &TestEnv) -> Vec<Value> {
    env.json("session", &["show", "@last", "--full", "--quiet"])["entries"].as_array().unwrap().clone()
}

/// The model sees these words, and the user did not say them.
#[track_caller]
fn is_live_and_not_the_users(env: &TestEnv, words: &str) {
    let entries = entries(env);
    let said = entries.iter().find(|entry| entry["parts"].to_string().contains(words)).unwrap();
    assert_eq!((&said["live"], &said["origin"]), (&Value::Bool(true), &Value::from("hook")), "{said}");
}
