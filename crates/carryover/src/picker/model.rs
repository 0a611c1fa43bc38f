//! What the picker shows: plain data, made by `adapter` from what the engine tells.
//!
//! Texts are as the store has them, which may be anything. They are made plain where they become cells (`cells`).

use std::cell::OnceCell;

use carryover_core::time::Timestamp;
use ratatui::style::Color;

use super::filter::FoldedFields;

/// By which a session is known among all.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RowKey {
    pub(crate) agent: &'static str,
    pub(crate) id: String,
}

/// A session as a row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) key: RowKey,
    pub(crate) agent_name: &'static str,
    pub(crate) color: Color,
    pub(crate) title: Option<String>,
    /// The project's folder as the user would type it.
    pub(crate) project: Option<String>,
    pub(crate) branch: Option<String>,
    pub(crate) updated_at: Option<Timestamp>,
    pub(crate) messages: Option<u64>,
    /// It is one of the project that the picker was opened in.
    pub(crate) is_here: bool,
    pub(crate) is_open: bool,
    pub(crate) limit: Option<Limit>,
    pub(crate) has_drifted: bool,
    pub(crate) lineage: Lineage,
    pub(crate) first_prompt: Option<String>,
    pub(crate) last_prompt: Option<String>,
    /// Made where there is time for it, else when it is first looked for.
    pub(crate) folded: OnceCell<FoldedFields>,
}

impl Row {
    /// Makes ready what a filter looks at.
    pub(super) fn fold(self) -> Self {
        let folded = FoldedFields::from_row(&self);
        Self { folded: folded.into(), ..self }
    }

    /// Takes what is newly known of a session that has not changed, and keeps what was known before.
    pub(super) fn learn(&mut self, row: Self) {
        let before = std::mem::replace(self, row);
        self.messages = self.messages.or(before.messages);
        if self.first_prompt.is_none() && before.first_prompt.is_some() {
            self.folded = OnceCell::new();
        }
        self.limit = self.limit.take().or(before.limit);
        self.first_prompt = self.first_prompt.take().or(before.first_prompt);
        self.last_prompt = self.last_prompt.take().or(before.last_prompt);
    }
}

/// The limit that a session stopped at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) until: Option<Timestamp>,
}

/// Where a session was carried from, and where to: agents with the beginnings of ids.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lineage {
    pub(crate) from: Option<String>,
    pub(crate) to: Vec<String>,
    /// By which the newest carrying that has to do with this session is taken back, and what that is.
    pub(crate) undo: Option<(String, String)>,
}

/// What a session is about, read in the background.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Preview {
    pub(crate) sections: Vec<Section>,
}

/// The heading of what the first target would get.
pub(crate) const CARRIED_HEADING: &str = "What would be carried";

/// A part of a preview; it is left out where it has no texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) heading: &'static str,
    pub(crate) texts: Vec<String>,
}

/// One way to go on.
#[derive(Debug, Clone)]
pub(crate) struct Offer {
    pub(crate) target: &'static str,
    pub(crate) name: &'static str,
    pub(crate) way: Way,
    /// A person opens it; whether it is installed is not looked for.
    pub(crate) is_editor: bool,
    pub(crate) is_installed: bool,
    /// What is known without reading the session.
    pub(crate) note: Option<String>,
    /// None while it is made, or where there is nothing to carry.
    pub(crate) estimate: Option<OfferEstimate>,
}

/// What the target would get.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct OfferEstimate {
    /// The tokens that it takes, and those of the window.
    pub(crate) fill: Option<(u64, u64)>,
    /// The gravest note in few words, for the offer's row.
    pub(crate) summary: String,
    /// What would be lost, and why.
    pub(crate) notes: Vec<String>,
    /// It cannot hold the session, and gets a prompt instead.
    pub(crate) gets_prompt: bool,
    /// The notes are to be thought about.
    pub(crate) is_doubtful: bool,
}

/// How it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Way {
    /// In a copy that was made of it before.
    EarlierCopy(RowKey),
    /// In its own client, as it is.
    OwnClient,
    /// In a new session of the target.
    Carry,
    /// In words: a prompt, or a brief.
    Words,
}

/// What the user decided. The command of the same name does it, once the screen is as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PickerOutcome {
    Leave,
    Resume { session: RowKey, target: &'static str, fork: bool, launch: bool },
    Handoff { session: RowKey, target: Option<&'static str>, launch: bool },
    Show { session: RowKey },
    Undo { id: String },
}
