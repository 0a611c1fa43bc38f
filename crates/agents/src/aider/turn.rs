//! The events since the user's last words, as far as they tell whose words come next.
//!
//! The client logs whatever it hands to a model as if the user had typed it: in architect mode the answer of one model to
//! the other, what the linter says, its own pages of help, and what it makes of comments in the code.

use carryover_core::transcript::{Body, Entry, Opaque, Origin, text_cow};

use super::shell;

/// Whose words come next, where they look like the user's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum ExpectedWords {
    #[default]
    User,
    /// The answer that a model has just given, for the model that edits.
    Echo,
    /// Errors of the linter.
    Lint,
    /// The client's own help, around the question.
    Help(String),
    /// The content of the clipboard, as lines of the client's.
    Clipboard,
}

/// Whose words some lines are that look like the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptSource<'a> {
    User,
    Echo,
    /// Handed to the model by the client, with what the user said in it.
    Forwarded(Option<&'a str>),
    /// Comments in the code, which the client shows to the model.
    Watched,
}

/// How the client begins its own help.
pub(super) const HELP_START: &str = "# Question: ";

/// How the client begins what it makes of comments in the code.
const WATCH_PROMPT_STARTS: [&str; 2] = [
    "I've written your instructions in comments in the code and marked them with \"ai\"",
    "Find the \"AI\" comments below (marked with █)",
];

/// The events since the user's last words.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// All that the model said.
    replies: String,
    /// Where the last of it begins.
    last_reply: usize,
    expected: ExpectedWords,
    /// The model was asked and has not answered yet.
    pub(super) is_working: bool,
    /// The user has just told the client to forget.
    pub(super) cleared: bool,
    /// The user has let the client run what the model proposes.
    pub(super) may_run: bool,
    /// Where the user had tests run.
    pub(super) test: Option<u64>,
}

impl Turn {
    pub(super) fn last_reply(&self) -> &str {
        &self.replies[self.last_reply..]
    }

    /// Whose words these are, which look like the user's.
    pub(super) fn prompt_source(&self, said: &str) -> PromptSource<'_> {
        match &self.expected {
            ExpectedWords::Echo => PromptSource::Echo,
            ExpectedWords::Lint => PromptSource::Forwarded(None),
            ExpectedWords::Help(question) if said.starts_with(HELP_START) => PromptSource::Forwarded(Some(question)),
            _ if is_watch_prompt(said) => PromptSource::Watched,
            _ if self.is_echo(said) => PromptSource::Echo,
            _ => PromptSource::User,
        }
    }

    /// Whether they are the model's own: its last answer, or all parts of one that was too long for one.
    /// A word or two may be the same by chance.
    fn is_echo(&self, said: &str) -> bool {
        const MIN_ECHO_CHARS: usize = 12;
        said.chars().filter(|letter| !letter.is_whitespace()).nth(MIN_ECHO_CHARS).is_some() && self.repeats_reply(said)
    }

    fn repeats_reply(&self, said: &str) -> bool {
        same_letters(said, self.last_reply()) || same_letters(said, &self.replies)
    }

    /// Whether these lines of the client's are what the user pasted.
    pub(super) fn is_pasted(&self, said: &str) -> bool {
        const NOT_PASTED_STARTS: [&str; 4] =
            ["Added clipboard image", "Replaced existing image", "No image or text", "Error processing clipboard"];
        self.expected == ExpectedWords::Clipboard && !NOT_PASTED_STARTS.iter().any(|words| said.starts_with(words))
    }

    /// Takes in what the user typed to the client.
    pub(super) fn note_command(&mut self, said: &str, offset: u64) {
        let (name, words) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
        self.expected = match name {
            "/help" => ExpectedWords::Help(words.trim().to_owned()),
            "/paste" => ExpectedWords::Clipboard,
            _ => ExpectedWords::User,
        };
        self.cleared = is_clear_command(said);
        self.test = shell::is_test(said).then_some(offset);
        (self.is_working, self.may_run) = (false, false);
    }

    /// Takes in what the client said.
    pub(super) fn note_console(&mut self, said: &str) {
        let allowed = said.contains("? (Y)es/(N)o") && [": y", ": a"].iter().any(|answer| said.ends_with(answer));
        if self.expected == ExpectedWords::Clipboard {
            self.expected = ExpectedWords::User;
        }
        if said.starts_with("Edit the files?") && allowed {
            self.expected = ExpectedWords::Echo;
        } else if said.starts_with("Fix lint errors in ") && allowed {
            self.expected = ExpectedWords::Lint;
        } else if said.starts_with("Run shell command") {
            self.may_run = allowed;
        } else if said.starts_with("Attempt to fix ") || said.starts_with("The LLM did not conform") {
            self.is_working = true;
        } else if said.starts_with("Tokens: ") || said.starts_with("^C") {
            self.is_working = false;
        }
    }

    /// Takes in entries that are handed on.
    pub(super) fn note_entries(&mut self, entries: &[Entry]) {
        for entry in entries {
            match &entry.body {
                Body::Prompt(_) if matches!(entry.origin, Origin::User | Origin::Hook) => {
                    self.forget_replies();
                    *self = Self { is_working: true, replies: std::mem::take(&mut self.replies), ..Self::default() };
                }
                Body::Reply(parts) => {
                    self.last_reply = self.replies.len();
                    self.replies.push_str(&text_cow(parts));
                    self.may_run = false;
                }
                // The model that edits is asked with it, and answers next.
                Body::Opaque(Opaque::Known(kind)) if kind == "echo" => {
                    self.expected = ExpectedWords::User;
                    self.is_working = true;
                    self.forget_replies();
                }
                _ => {}
            }
        }
    }

    /// Forgets what the model said; the room for it is used again.
    fn forget_replies(&mut self) {
        self.replies.clear();
        self.last_reply = 0;
    }
}

/// Whether the user told the client to forget the chat; older clients do not say that they did.
pub(super) fn is_clear_command(said: &str) -> bool {
    matches!(said.trim(), "/clear" | "/reset")
}

pub(super) fn is_watch_prompt(said: &str) -> bool {
    WATCH_PROMPT_STARTS.iter().any(|words| said.trim_start().starts_with(words))
}

/// The comments among what the client shows of the code, by its mark.
pub(super) fn marked_comments(said: &str) -> String {
    let marked = said.lines().filter_map(|line| line.trim_start().strip_prefix('█'));
    marked.map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Whether a text says what another says, but for the white space.
fn same_letters(said: &str, other: &str) -> bool {
    let letters = |text| str::chars(text).filter(|letter| !letter.is_whitespace() && !letter.is_control());
    let mut words = letters(said).peekable();
    words.peek().is_some() && words.eq(letters(other))
}
