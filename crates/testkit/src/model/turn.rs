//! One scripted answer of the model, in terms that all APIs can express.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

/// One part of an answer.
#[derive(Clone, Debug)]
pub enum Block {
    Text(String),
    /// Reasoning with the opaque proof (signature, encrypted content) that the client must send back.
    Reasoning {
        text: String,
        seal: String,
    },
    Call {
        id: String,
        name: String,
        namespace: Option<String>,
        input: Value,
    },
    /// A call with free text as input (`apply_patch`, `exec`); only the Responses API has these.
    Custom {
        id: String,
        name: String,
        input: String,
    },
}

impl Block {
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// An HTTP error in place of an answer.
#[derive(Clone, Debug)]
pub struct Failure {
    pub status: u16,
    /// Whether it holds for further tries, too.
    pub lasting: bool,
    pub code: String,
    pub message: String,
}

/// Keeps an answer back until it is released; used to interrupt a client that waits for its model.
#[derive(Clone, Debug, Default)]
pub struct Hold(Arc<(Mutex<bool>, Condvar)>);

impl Hold {
    pub fn release(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    /// Waits until released, but never longer than `limit`: a forgotten hold must not hang a suite.
    pub(super) fn wait(&self, limit: Duration) {
        let released = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.0.1.wait_timeout_while(released, limit, |released| !*released));
    }
}

/// One answer of the model to one request.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    pub blocks: Vec<Block>,
    pub failure: Option<Failure>,
    pub hold: Option<Hold>,
}

impl Turn {
    pub fn from_text(text: impl Into<String>) -> Self {
        Self::from_blocks(vec![Block::Text(text.into())])
    }

    pub fn from_blocks(blocks: Vec<Block>) -> Self {
        Self { blocks, ..Self::default() }
    }

    pub fn from_failure(status: u16, code: &str, message: &str) -> Self {
        let failure = Failure { status, lasting: false, code: code.to_owned(), message: message.to_owned() };
        Self { failure: Some(failure), ..Self::default() }
    }

    /// A failure that also meets whoever tries again.
    #[must_use]
    pub fn lasting(mut self) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.lasting = true;
        }
        self
    }

    #[must_use]
    pub fn held_by(mut self, hold: &Hold) -> Self {
        self.hold = Some(hold.clone());
        self
    }
}

/// How a scripted answer comes about.
#[derive(Clone)]
pub enum Reply {
    Fixed(Turn),
    /// Computed from the request: some calls need an id that only the client knows.
    FromRequest(Arc<dyn Fn(&Value) -> Turn + Send + Sync>),
}

impl Reply {
    /// A lasting refusal is given again and again, until something is scripted after it.
    pub(super) fn is_lasting(&self) -> bool {
        matches!(self, Self::Fixed(Turn { failure: Some(failure), .. }) if failure.lasting)
    }

    pub(super) fn make_turn(&self, body: &Value) -> Turn {
        match self {
            Self::Fixed(turn) => turn.clone(),
            Self::FromRequest(make) => make(body),
        }
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(turn) => turn.fmt(formatter),
            Self::FromRequest(_) => formatter.write_str("FromRequest"),
        }
    }
}

impl From<Turn> for Reply {
    fn from(turn: Turn) -> Self {
        Self::Fixed(turn)
    }
}
