//! The steps that a client can be driven through without a person in front of it.

use crate::lab::Lab;

/// A step that not every client can be driven through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// Compact when asked to.
    Compact,
    /// Take a turn back within a session.
    Rewind,
    /// Interrupt a command and keep the session.
    Interrupt,
    /// Take a picture with a prompt.
    Image,
}

impl Ability {
    pub(crate) const ALL: &'static [Self] = &[Self::Compact, Self::Rewind, Self::Interrupt, Self::Image];
}

/// The abilities of one client; what it has not is left out of its sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities(&'static [Ability]);

impl Abilities {
    pub fn from_lab(lab: &Lab) -> Self {
        Self(lab.client.abilities)
    }

    /// Nothing but turns.
    pub const fn none() -> Self {
        Self(&[])
    }

    /// The steps that are left out of the client's sessions, for people.
    pub fn describe_missing(self) -> Vec<&'static str> {
        let all = [
            (Ability::Compact, "compaction"),
            (Ability::Rewind, "rewind"),
            (Ability::Interrupt, "interruption"),
            (Ability::Image, "picture in a prompt"),
        ];
        all.into_iter().filter(|(ability, _)| !self.contains(*ability)).map(|(_, about)| about).collect()
    }

    pub fn contains(self, ability: Ability) -> bool {
        self.0.contains(&ability)
    }
}
