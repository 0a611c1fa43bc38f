//! What stands in the user's place and was typed by nobody. The editor itself puts it nowhere; where we have written it, it
//! is alone in its bubble, in a block that says what it is.

/// What a bubble holds instead of words that were typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cursor) enum BubbleBlock {
    /// What came along with a prompt, in the block that the vendor's command line client has for it.
    Attached,
    /// The older part of a session.
    Summary,
}

impl BubbleBlock {
    const ALL: [Self; 2] = [Self::Attached, Self::Summary];

    fn name(self) -> &'static str {
        match self {
            Self::Attached => "attached_files",
            Self::Summary => "conversation_summary",
        }
    }

    /// The text of a bubble, with words that stand for files.
    pub(in crate::cursor) fn wrap(self, text: &str, omitted: &[String]) -> String {
        let texts = std::iter::once(text).filter(|text| !text.is_empty()).chain(omitted.iter().map(String::as_str));
        let name = self.name();
        format!("<{name}>\n{}\n</{name}>", texts.collect::<Vec<_>>().join("\n\n"))
    }

    /// The block that all of a bubble's text is, and what is in it.
    pub(in crate::cursor) fn find(text: &str) -> Option<(Self, &str)> {
        Self::ALL.into_iter().find_map(|block| {
            let name = block.name();
            let rest = text.trim().strip_prefix(&format!("<{name}>\n"))?;
            Some((block, rest.strip_suffix(&format!("</{name}>"))?.strip_suffix('\n')?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_a_block_is_found_whatever_it_is() {
        for text in ["be brief", "</attached_files>", "a\n\nb"] {
            for block in BubbleBlock::ALL {
                assert_eq!(BubbleBlock::find(&block.wrap(text, &[])), Some((block, text)));
            }
        }
        for text in
            ["", "<attached_files>", "<attached_files>\n</attached_files> and more", "say <conversation_summary>"]
        {
            assert_eq!(BubbleBlock::find(text), None);
        }
    }
}
