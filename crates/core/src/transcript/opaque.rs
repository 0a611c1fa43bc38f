//! Records that are kept in their place, and of which nothing is carried on as it stands.

use std::borrow::Cow;

use super::Body;

/// Why nothing but a name is known of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opaque {
    /// Of a kind that we know, or of a family whose members are all alike to us; no model is shown it.
    Known(Cow<'static, str>),
    /// Of a kind that we do not know, by its client's name.
    Unknown(Box<str>),
    /// It names no kind; this is what it is called here.
    Unnamed(&'static str),
    /// It stands in the user's place and no words are found in it: not understood, whatever its own kind says.
    Wordless,
    /// It cannot be read; the reason is told beside it.
    Rejected,
    /// Its text was dropped or handed on; `Body::kind` of what it was, or why it was given up.
    Reduced(&'static str),
}

impl Opaque {
    /// The word for it in reports and JSON.
    pub fn name(&self) -> &str {
        match self {
            Self::Known(name) => name,
            Self::Unknown(name) => name,
            Self::Unnamed(name) | Self::Reduced(name) => name,
            Self::Wordless => "prompt without words",
            Self::Rejected => "rejected",
        }
    }

    /// Whether it is of a kind that we do not know.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_) | Self::Unnamed(_))
    }

    /// Whether it could be read and is not understood.
    pub fn is_puzzling(&self) -> bool {
        self.is_unknown() || matches!(self, Self::Wordless)
    }

    /// Whether it tells nothing, not even what it is.
    pub fn is_hollow(&self) -> bool {
        matches!(self, Self::Unnamed(_) | Self::Rejected)
    }
}

impl Body {
    /// A record of a kind that we know, and that no model is shown.
    pub fn known(kind: impl Into<Cow<'static, str>>) -> Self {
        Self::Opaque(Opaque::Known(kind.into()))
    }

    /// A record of a kind that we do not know.
    pub fn unknown(kind: impl Into<Box<str>>) -> Self {
        let kind = kind.into();
        Self::Opaque(if kind.is_empty() { Opaque::Unnamed("") } else { Opaque::Unknown(kind) })
    }

    /// What is left where a text was dropped or handed on.
    pub fn reduced(kind: &'static str) -> Self {
        Self::Opaque(Opaque::Reduced(kind))
    }

    /// Whether it is a record of a kind that we do not know.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Opaque(opaque) if opaque.is_unknown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_a_kind_tells_nothing() {
        let is_hollow = |body: &Body| matches!(body, Body::Opaque(opaque) if opaque.is_hollow());
        assert!(is_hollow(&Body::unknown("")) && Body::unknown("").is_unknown());
        assert!(!is_hollow(&Body::unknown("rejected")), "a name of the client's is not one of ours");
        assert!(!Body::known("").is_unknown());
    }

    #[test]
    fn a_record_named_like_a_kind_of_ours_is_not_one() {
        assert_eq!(Body::reduced("prompt").whole_kind(), "prompt");
        assert_eq!(Body::unknown("prompt").whole_kind(), "opaque");
    }
}
