//! Messages in the user's place, taken apart: the words that were typed, and what the client put around them.

use carryover_core::transcript::Origin;

/// Blocks of the client's around a prompt. What the next client says by itself is the harness's; a hook's words, a skill,
/// the instructions of an agent that was chosen and reports of tasks are told to the model, and so stay live.
const CLIENT_BLOCKS: &[(&str, Origin)] = &[
    ("current_datetime", Origin::Harness),
    ("reminder", Origin::Harness),
    ("tools_changed_notice", Origin::Harness),
    ("system_reminder", Origin::Hook),
    ("system_notification", Origin::Hook),
    ("agent_instructions", Origin::Hook),
    ("skill-context", Origin::Hook),
];

/// A block, and whose words stand in it.
#[derive(Debug, PartialEq, Eq)]
struct Block<'t> {
    origin: Origin,
    words: &'t str,
    /// Where it ends in the text that begins with it.
    end: usize,
}

/// The block with which a text begins; a name that some text merely mentions is none.
fn parse_block(text: &str) -> Option<Block<'_>> {
    let inside = text.strip_prefix('<')?;
    let (name, origin) = CLIENT_BLOCKS.iter().find(|(name, _)| {
        inside.strip_prefix(name).is_some_and(|rest| rest.starts_with('>') || rest.starts_with(' '))
    })?;
    let begin = text.find('>')? + 1;
    let close = format!("</{name}>");
    let at = begin + text[begin..].find(&close)?;
    Some(Block { origin: *origin, words: text[begin..at].trim(), end: at + close.len() })
}

/// The typed words, and the words of the blocks before and behind them that stay live.
pub(super) fn split_blocks(content: &str) -> (&str, Vec<&str>) {
    let mut live = Vec::new();
    let mut typed = content;
    while let Some(block) = parse_block(typed.trim_start()) {
        typed = &typed.trim_start()[block.end..];
        live.extend(Some(block.words).filter(|_| block.origin == Origin::Hook));
    }
    let mut behind = Vec::new();
    while let Some((before, block)) = parse_last_block(typed.trim_end()) {
        typed = before;
        behind.extend(Some(block.words).filter(|_| block.origin == Origin::Hook));
    }
    behind.reverse();
    live.append(&mut behind);
    let changed = typed.len() != content.len();
    (if changed { typed.trim() } else { typed }, live)
}

/// Whether a text would be read as typed, and all of it.
pub(super) fn is_typed(text: &str) -> bool {
    split_blocks(text) == (text, Vec::new())
}

/// The block with which a text ends, and what stands before it.
fn parse_last_block(text: &str) -> Option<(&str, Block<'_>)> {
    let (name, _) = CLIENT_BLOCKS.iter().find(|(name, _)| text.ends_with(&format!("</{name}>")))?;
    let at = text.rfind(&format!("<{name}"))?;
    let block = parse_block(&text[at..]).filter(|block| at + block.end == text.len())?;
    Some((&text[..at], block))
}

/// The words that stay live in what was sent around the typed ones.
pub(super) fn live_words_around(sent: &str, typed: &str) -> Vec<String> {
    let at = sent.rfind(typed).filter(|_| !typed.is_empty());
    let (before, behind) = at.map_or((sent, ""), |at| (&sent[..at], &sent[at + typed.len()..]));
    [before, behind].into_iter().flat_map(live_blocks).collect()
}

fn live_blocks(text: &str) -> Vec<String> {
    let mut live = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        match parse_block(rest) {
            Some(block) => {
                live.extend(Some(block.words.to_owned()).filter(|_| block.origin == Origin::Hook));
                rest = &rest[block.end..];
            }
            None => rest = &rest[1..],
        }
    }
    live
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_blocks_come_off_the_words() {
        let sent = "<current_datetime>2026</current_datetime>\n\nfix it\n\n<reminder>\n<sql_tables>x</sql_tables>\n</reminder>";
        assert_eq!(split_blocks(sent), ("fix it", vec![]));
        let noted = "<system_notification>\nTask 1 is done.\n</system_notification>";
        assert_eq!(split_blocks(noted), ("", vec!["Task 1 is done."]));
        for typed in ["what is <reminder>x</reminder> for?", "<div>a</div>", " fix it ", "<reminder> is open"] {
            assert_eq!(split_blocks(typed), (typed, vec![]));
        }
    }

    #[test]
    fn what_was_sent_around_the_words_is_told() {
        let sent = "<agent_instructions>\nPlan.\n</agent_instructions>\n<current_datetime>t</current_datetime>\n\nfill it in\n\n<system_reminder>\nbe brief\n</system_reminder>\n<reminder>x</reminder>";
        assert_eq!(live_words_around(sent, "fill it in"), ["Plan.", "be brief"]);
        assert_eq!(live_words_around("<current_datetime>t</current_datetime>\n\nGo on.", ""), Vec::<String>::new());
    }
}
