use super::*;

#[test]
fn a_prompt_has_the_last_exchange_and_the_users_words_first() {
    // At length: it has a file of its own.
    insta::assert_snapshot!(prompt_of(&usual(), &workspace(), 32_000).unwrap().text);
}

/// A long session: many turns, long files.
fn long() -> Tale {
    let mut tale = usual();
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
    let rendered = prompt_of(&long(), &workspace(), 8_000).unwrap();
    let start = rendered
        .text
        .find("\n## Earlier conversation")
        .or_else(|| rendered.text.find("\n## Recent conversation"))
        .unwrap();
    let end = rendered.text.find("\n## Left out").unwrap();
    let conversation = estimate(&rendered.text[start..end]);
    assert!(conversation >= 4_000, "{conversation}");
    assert!(rendered.text.contains("\n## Recent conversation (last ") && rendered.text.contains(" of 243 messages)\n"));
}

#[test]
fn what_was_left_out_is_named() {
    let rendered = prompt_of(&long(), &workspace(), 8_000).unwrap();
    let what: Vec<&str> = rendered.dropped.iter().map(|dropped| dropped.what).collect();
    assert!(what.contains(&"messages") && what.contains(&"changed files"), "{what:?}");
    assert!(rendered.text.contains("## Left out") && rendered.text.contains(SHOW));
}

#[test]
fn the_frame_claims_nothing() {
    let text = prompt_of(&usual(), &workspace(), 32_000).unwrap().text;
    for claim in ["settled", "Do not argue", "The decisions stand", "must not be argued"] {
        assert!(!text.contains(claim), "{claim}");
    }
}
