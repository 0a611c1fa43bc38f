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
    Picture,
}

impl Ability {
    pub(crate) const ALL: &'static [Self] = &[Self::Compact, Self::Rewind, Self::Interrupt, Self::Picture];
}

/// The abilities of one client; what it has not is left out of its sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities(&'static [Ability]);

impl Abilities {
    pub fn of(lab: &Lab) -> Self {
        Self(lab.client.abilities)
    }

    /// Nothing but turns.
    pub const fn none() -> Self {
        Self(&[])
    }

    /// The steps that are left out of the client's sessions, for people.
    pub fn missing(self) -> Vec<&'static str> {
        let all = [
            (Ability::Compact, "compaction"),
            (Ability::Rewind, "rewind"),
            (Ability::Interrupt, "interruption"),
            (Ability::Picture, "picture in a prompt"),
        ];
        all.into_iter().filter(|(ability, _)| !self.have(*ability)).map(|(_, about)| about).collect()
    }

    pub fn have(self, ability: Ability) -> bool {
        self.0.contains(&ability)
    }
}
