use proptest::prelude::*;

use super::*;

fn any_event() -> impl Strategy<Value = (u8, String, String)> {
    (0_u8..9, "\\PC{0,60}", "[a-z|&;\"'<>\n .?!*`-]{0,60}")
}

fn history_of_events(events: Vec<(u8, String, String)>) -> HistoryBuilder {
    events.into_iter().fold(new_history(), |tale, (kind, words, command)| match kind {
        0 => tale.user(&words),
        1 => tale.agent(&words),
        2 => tale.run(&command, 0, &words),
        3 => tale.run(&command, 1, &words),
        4 => tale.edit(&command, &words, &command),
        5 => tale.write(&command, &words),
        6 => tale.asks(&words, Some(&command)),
        7 => tale.fails(FailureKind::Other, &words, None),
        _ => tale.event(Event::Summary { text: words }),
    })
}

proptest! {
    #[test]
    fn the_same_history_gives_the_same_brief(events in prop::collection::vec(any_event(), 0..30)) {
        let tale = history_of_events(events);
        prop_assert_eq!(tale.brief(), tale.brief());
    }

    #[test]
    fn every_item_names_an_entry_of_the_session(events in prop::collection::vec(any_event(), 0..30)) {
        let tale = history_of_events(events);
        let brief = tale.brief();
        let items = brief.requests.iter().chain(&brief.last_words).chain(&brief.questions).chain(&brief.references);
        for item in items.chain(brief.decisions.iter().map(|one| &one.what)) {
            let is_there = |key: &EntryKey| tale.history.steps.iter().any(|step| step.key.record() == key.record());
            prop_assert!(!item.entries.is_empty() && item.entries.iter().all(is_there));
        }
    }

    #[test]
    fn quotations_stand_in_what_was_said(events in prop::collection::vec(any_event(), 0..30)) {
        let tale = history_of_events(events);
        let plain: Vec<String> = tale.history.steps.iter().map(|step| match &step.event {
            Event::Prompt { text, .. } | Event::Reply { text } => crate::plain::strip_hidden(text).into_owned(),
            _ => String::new(),
        }).collect();
        let brief = tale.brief();
        for item in brief.requests.iter().chain(&brief.last_words).chain(&brief.questions) {
            prop_assert!(plain.iter().any(|said| crate::redact::redact_text(said).contains(&item.text)), "{:?}", item.text);
        }
    }
}
