use super::*;

#[test]
fn a_prompt_has_the_last_exchange_and_the_users_words_first() {
    // At length: it has a file of its own.
    insta::assert_snapshot!(prompt_of(&usual_session(), &make_workspace(), 32_000).unwrap().text);
}

/// A long session: many turns, long files.
fn long_session() -> HistoryBuilder {
    let mut tale = usual_session();
    for n in 0..120 {
        tale = tale.user(&format!("Request number {n}: change the part, please, and {}", "explain it well ".repeat(6)));
        tale = tale.write(&format!("src/part_{n}.rs"), &"let it = be(long);\n".repeat(200));
        tale = tale
            .run("cargo build", 0, "ok")
            .agent(&format!("Report number {n}. {}", "It was done as asked. ".repeat(30)));
    }
    tale
}

#[test]
fn at_eight_thousand_tokens_half_is_conversation() {
    let rendered = prompt_of(&long_session(), &make_workspace(), 8_000).unwrap();
    let start = rendered
        .text
        .find("\n## Earlier conversation")
        .or_else(|| rendered.text.find("\n## Recent conversation"))
        .unwrap();
    let end = rendered.text.find("\n## Left out").unwrap();
    // The user's words from before are a part of it.
    let said = rendered.text.find("\n## What the user said before").unwrap();
    let said_end = rendered.text.find("\n## Files changed").unwrap();
    let conversation = estimate(&rendered.text[start..end]) + estimate(&rendered.text[said..said_end]);
    assert!(conversation >= 4_000, "{conversation}");
    assert!(rendered.text.contains("\n## Recent conversation (last ") && rendered.text.contains(" of 243 messages)\n"));
}

#[test]
fn what_was_left_out_is_named() {
    let rendered = prompt_of(&long_session(), &make_workspace(), 8_000).unwrap();
    let what: Vec<&str> = rendered.dropped.iter().map(|dropped| dropped.what).collect();
    assert!(what.contains(&"messages") && what.contains(&"changed files"), "{what:?}");
    assert!(rendered.text.contains("## Left out") && rendered.text.contains(SHOW));
}

#[test]
fn the_frame_claims_nothing() {
    let text = prompt_of(&usual_session(), &make_workspace(), 32_000).unwrap().text;
    for claim in ["settled", "Do not argue", "The decisions stand", "must not be argued"] {
        assert!(!text.contains(claim), "{claim}");
    }
}

#[test]
fn the_users_words_have_twice_the_room_of_the_agents() {
    let long = "and it goes on ".repeat(150);
    let mut tale =
        new_history().user(&format!("Begin. {long}END-OF-USER")).agent(&format!("I begin. {long}END-OF-AGENT"));
    for n in 0..4 {
        tale = tale.user(&format!("now do part {n} of all the work")).agent("Done.");
    }
    let text = prompt_of(&tale, &make_workspace(), 32_000).unwrap().text;
    let recent = &text[text.find("## Recent conversation").unwrap()..];
    let marks = recent.matches("characters …]").count();
    assert_eq!((marks, recent.contains("I begin. and it")), (1, true), "{recent}");
}

#[test]
fn what_the_user_said_long_ago_stands_before_the_conversation() {
    let text = prompt_of(&long_session(), &make_workspace(), 8_000).unwrap().text;
    let said = text.find("## What the user said before the conversation below").unwrap();
    assert!(text[..said].contains("100 requests a minute per key"), "the first request of all\n{text}");
    let recent = text.find("## Recent conversation").unwrap();
    assert!(text[said..recent].contains("Request number 90:"), "{text}");
    assert!(text.matches("Request number 119:").count() <= 2, "the task, and its place in the conversation");
}

#[test]
fn a_short_answer_stands_with_what_it_answers() {
    let mut tale =
        new_history().user("compare the two ways, please, in detail").agent("Pass it on, or not. Which one?");
    tale = tale.user("option 1").agent("Done.");
    for n in 0..60 {
        tale =
            tale.user(&format!("now do part {n} of all the work")).agent(&"It is done, as it was asked. ".repeat(20));
    }
    let text = prompt_of(&tale, &make_workspace(), 8_000).unwrap().text;
    assert!(text.contains("\"option 1\", when the agent had said \"Pass it on, or not. Which one?\""), "{text}");
}
