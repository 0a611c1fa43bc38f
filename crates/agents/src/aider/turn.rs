//! What has happened since the user's last words, as far as it tells whose words come next.
//!
//! The client logs whatever it hands to a model as if the user had typed it: in architect mode the answer of one model to
//! the other, what the linter says, its own pages of help, and what it makes of comments in the code.

use carryover_core::transcript::{Body, Entry, Origin, text_in};

use super::shell;

/// Whose words come next, where they look like the user's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Expected {
    #[default]
    User,
    /// What a model has just answered, for the model that edits.
    Echo,
    /// Errors of the linter.
    Lint,
    /// The client's own help, around the question.
    Help(String),
    /// What was in the clipboard, as lines of the client's.
    Clipboard,
}

/// Whose words some lines are that look like the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice<'a> {
    User,
    Echo,
    /// Handed to the model by the client, with what the user said in it.
    Handed(Option<&'a str>),
    /// Comments in the code, which the client shows to the model.
    Watched,
}

/// How the client begins its own help.
pub(super) const HELP: &str = "# Question: ";

/// How the client begins what it makes of comments in the code.
const WATCHED: [&str; 2] = [
    "I've written your instructions in comments in the code and marked them with \"ai\"",
    "Find the \"AI\" comments below (marked with █)",
];

/// What has happened since the user's last words.
#[derive(Debug, Default)]
pub(super) struct Turn {
    replies: Vec<String>,
    expected: Expected,
    /// The model was asked and has not answered yet.
    pub(super) works: bool,
    /// The user has just told the client to forget.
    pub(super) cleared: bool,
    /// The user has let the client run what the model proposes.
    pub(super) may_run: bool,
    /// Where the user had tests run.
    pub(super) test: Option<u64>,
}

impl Turn {
    /// What the model said last.
    pub(super) fn reply(&self) -> &str {
        self.replies.last().map_or("", String::as_str)
    }

    /// Whose words these are, which look like the user's.
    pub(super) fn voice(&self, said: &str) -> Voice<'_> {
        match &self.expected {
            Expected::Echo => Voice::Echo,
            Expected::Lint => Voice::Handed(None),
            Expected::Help(question) if said.starts_with(HELP) => Voice::Handed(Some(question)),
            _ if is_watched(said) => Voice::Watched,
            _ if self.is_echo(said) => Voice::Echo,
            _ => Voice::User,
        }
    }

    /// Whether they are the model's own: its last answer, or all parts of one that was too long for one.
    /// A word or two may be the same by chance.
    fn is_echo(&self, said: &str) -> bool {
        const FEW: usize = 12;
        said.chars().filter(|letter| !letter.is_whitespace()).nth(FEW).is_some() && self.repeats(said)
    }

    fn repeats(&self, said: &str) -> bool {
        same(said, std::slice::from_ref(&self.reply())) || same(said, &self.replies)
    }

    /// Whether these lines of the client's are what the user pasted.
    pub(super) fn is_pasted(&self, said: &str) -> bool {
        const OTHERWISE: [&str; 4] =
            ["Added clipboard image", "Replaced existing image", "No image or text", "Error processing clipboard"];
        self.expected == Expected::Clipboard && !OTHERWISE.iter().any(|words| said.starts_with(words))
    }

    /// Takes in what the user typed to the client.
    pub(super) fn command(&mut self, said: &str, offset: u64) {
        let (name, words) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
        self.expected = match name {
            "/help" => Expected::Help(words.trim().to_owned()),
            "/paste" => Expected::Clipboard,
            _ => Expected::User,
        };
        self.cleared = forgets(said);
        self.test = shell::is_test(said).then_some(offset);
        (self.works, self.may_run) = (false, false);
    }

    /// Takes in what the client said.
    pub(super) fn told(&mut self, said: &str) {
        let allowed = said.contains("? (Y)es/(N)o") && [": y", ": a"].iter().any(|answer| said.ends_with(answer));
        if self.expected == Expected::Clipboard {
            self.expected = Expected::User;
        }
        if said.starts_with("Edit the files?") && allowed {
            self.expected = Expected::Echo;
        } else if said.starts_with("Fix lint errors in ") && allowed {
            self.expected = Expected::Lint;
        } else if said.starts_with("Run shell command") {
            self.may_run = allowed;
        } else if said.starts_with("Attempt to fix ") || said.starts_with("The LLM did not conform") {
            self.works = true;
        } else if said.starts_with("Tokens: ") || said.starts_with("^C") {
            self.works = false;
        }
    }

    /// Takes in entries that are handed on.
    pub(super) fn hear(&mut self, entries: &[Entry]) {
        for entry in entries {
            match &entry.body {
                Body::Prompt(_) if matches!(entry.origin, Origin::User | Origin::Hook) => {
                    *self = Self { works: true, ..Self::default() };
                }
                Body::Reply(parts) => {
                    self.replies.push(text_in(parts).into_owned());
                    self.may_run = false;
                }
                // The model that edits is asked with it, and answers next.
                Body::Opaque(kind) if kind == "echo" => {
                    self.expected = Expected::User;
                    (self.works, self.replies) = (true, Vec::new());
                }
                _ => {}
            }
        }
    }
}

/// Whether the user told the client to forget the chat; older clients do not say that they did.
pub(super) fn forgets(said: &str) -> bool {
    matches!(said.trim(), "/clear" | "/reset")
}

pub(super) fn is_watched(said: &str) -> bool {
    WATCHED.iter().any(|words| said.trim_start().starts_with(words))
}

/// The comments among what the client shows of the code, by its mark.
pub(super) fn comments(said: &str) -> String {
    let marked = said.lines().filter_map(|line| line.trim_start().strip_prefix('█'));
    marked.map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Whether a text says what some others say together, but for the white space.
fn same(said: &str, others: &[impl AsRef<str>]) -> bool {
    let letters = |text| str::chars(text).filter(|letter| !letter.is_whitespace() && !letter.is_control());
    let mut words = letters(said).peekable();
    words.peek().is_some() && words.eq(others.iter().flat_map(|other| letters(other.as_ref())))
}
