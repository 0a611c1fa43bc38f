//! The words by which a session is found without being read: its first prompts, and its last.

use carryover_core::plain::one_line;
use carryover_core::render::{Uasf, UasfEvent};
use carryover_core::transcript::Origin;

/// So many of the first, and so many of the last.
const N_EACH: usize = 20;
const MAX_CHARS: usize = 200;
const KIND: &str = "user_message";

/// The prompts of a transcript, as they stand in it: masked, where it is.
pub(super) fn collect_prompts(transcript: &Uasf) -> Vec<String> {
    let prompts: Vec<String> = transcript.events.iter().filter_map(read_prompt).collect();
    let skipped = prompts.len().saturating_sub(2 * N_EACH);
    let is_kept = |at: usize| at < N_EACH || at >= N_EACH + skipped;
    prompts.into_iter().enumerate().filter(|(at, _)| is_kept(*at)).map(|(_, prompt)| prompt).collect()
}

fn read_prompt(event: &UasfEvent) -> Option<String> {
    let is_users = event.kind == KIND && !event.summary && matches!(event.origin, None | Some(Origin::User));
    let content = event.content.as_ref().and_then(Option::as_deref);
    let text = content.or_else(|| event.parts.iter().find_map(|part| part.text.as_deref()));
    let line = one_line(text.filter(|_| is_users)?, MAX_CHARS);
    Some(line).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use carryover_core::render::UasfSession;

    use super::*;

    fn transcript(n_prompts: usize) -> Uasf {
        let event = |kind: &str, text: String| UasfEvent {
            kind: kind.to_owned(),
            content: Some(Some(text)),
            ..UasfEvent::default()
        };
        let exchange = |at: usize| [event(KIND, format!("prompt\n{at}")), event("assistant_text", "reply".to_owned())];
        let events = (0..n_prompts).flat_map(exchange).collect();
        Uasf { schema: "", session: UasfSession::default(), events }
    }

    #[test]
    fn users_words_are_kept_from_the_beginning_and_from_the_end() {
        assert_eq!(collect_prompts(&transcript(2)), ["prompt 0", "prompt 1"]);
        let kept = collect_prompts(&transcript(100));
        assert_eq!(
            (kept.len(), kept[19].as_str(), kept[20].as_str(), kept[39].as_str()),
            (40, "prompt 19", "prompt 80", "prompt 99")
        );
    }

    #[test]
    fn words_of_others_are_none_of_the_users() {
        let mut other = transcript(2);
        other.events[0].origin = Some(Origin::Harness);
        other.events[2].summary = true;
        assert!(collect_prompts(&other).is_empty());
    }
}
