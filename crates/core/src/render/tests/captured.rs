use super::samples::{self, brief, hostile, story, workspace};
use super::{options, unbroken};
use crate::distill::{Story, Workspace};
use crate::render::{SessionJson, Uasf, resume_prompt_from, session_json, uasf};
use crate::tokens::Counter;

/// Fails with every way in which a value breaks its schema.
#[track_caller]
fn check_schema(schema: &str, value: &serde_json::Value) {
    let schema = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path)).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn a_captured_session_is_read_back_and_makes_a_prompt() {
    const SCHEMA: &str = include_str!("../../../../../docs/schemas/portable-session.schema.json");
    let inputs = [
        (brief(), story(30), workspace()),
        (hostile(20), samples::hostile_story(40), samples::hostile_workspace()),
        (samples::empty(), Story::default(), Workspace::default()),
    ];
    for (brief, story, workspace) in &inputs {
        let captured = session_json(brief, story, workspace);
        check_schema(SCHEMA, &serde_json::to_value(&captured).unwrap());
        let text = serde_json::to_string_pretty(&captured).unwrap();
        let read: SessionJson = serde_json::from_str(&text).unwrap();
        assert_eq!(read, captured);
        for budget in [600, 5_000, 32_000] {
            let options = options(budget, Counter::Padded);
            let rendered = resume_prompt_from(&read.material("Agent One"), &options).unwrap();
            assert!(rendered.tokens <= budget);
            unbroken(&rendered.text);
        }
    }
    let text = serde_json::to_string(&session_json(&inputs[0].0, &inputs[0].1, &inputs[0].2)).unwrap();
    assert!(serde_json::from_str::<SessionJson>(&text.replacen("1.0", "2.0", 1)).is_err());
}

#[test]
fn a_prompt_of_a_captured_session_says_the_same() {
    let captured = session_json(&brief(), &story(3), &workspace());
    let rendered = resume_prompt_from(&captured.material("Agent One"), &options(32_000, Counter::Exact)).unwrap();
    for said in [
        "100 requests a minute",
        "wire the limiter",
        "not in Redis",
        "FAILED",
        "pub struct Limiter;",
        "one(2);",
        "Case 2",
    ] {
        assert!(rendered.text.contains(said), "{said}\n{}", rendered.text);
    }
}

#[test]
fn a_canonical_transcript_is_read_back_and_makes_a_prompt() {
    const SCHEMA: &str = include_str!("../../../../../docs/schemas/uasf.schema.json");
    for story in [story(30), samples::hostile_story(40), Story::default()] {
        let written = uasf(&story);
        let value = serde_json::to_value(&written).unwrap();
        check_schema(SCHEMA, &value);
        let read: Uasf = serde_json::from_value(value).unwrap();
        assert_eq!(read, written);
        let rendered =
            resume_prompt_from(&read.material("Agent One", "2026-11-15T10:00:00Z"), &options(4_000, Counter::Exact))
                .unwrap();
        assert!(rendered.tokens <= 4_000);
        unbroken(&rendered.text);
    }
}
