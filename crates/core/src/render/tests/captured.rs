use super::*;
use crate::render::{SessionJson, resume_prompt, session_json};

/// Fails with every way in which a value breaks its schema.
#[track_caller]
fn check_schema(schema: &str, value: &serde_json::Value) {
    let schema = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

fn capture_session(tale: &HistoryBuilder) -> SessionJson {
    session_json(&tale.brief_in(&make_workspace()), &tale.history, &make_workspace(), Quoting::Masked)
}

#[test]
fn a_captured_session_is_read_back_and_makes_a_prompt() {
    const SCHEMA: &str = include_str!("../../../../../docs/schemas/portable-session.schema.json");
    for tale in [usual_session(), hostile_session(40), new_history()] {
        let captured = capture_session(&tale);
        check_schema(SCHEMA, &serde_json::to_value(&captured).unwrap());
        let text = serde_json::to_string_pretty(&captured).unwrap();
        let read: SessionJson = serde_json::from_str(&text).unwrap();
        assert_eq!(read, captured);
        for budget in [900, 5_000, 32_000] {
            let rendered =
                resume_prompt(&read.to_material("Agent One", Quoting::Masked), &resume_options(budget)).unwrap();
            assert!(rendered.tokens <= budget);
            assert_unbroken(&rendered.text);
        }
    }
    let text = serde_json::to_string(&capture_session(&usual_session())).unwrap();
    assert!(serde_json::from_str::<SessionJson>(&text.replacen("1.0", "2.0", 1)).is_err());
}

#[test]
fn a_prompt_of_a_captured_session_says_the_same() {
    let captured = capture_session(&usual_session());
    let rendered = resume_prompt(&captured.to_material("Agent One", Quoting::Masked), &resume_options(32_000)).unwrap();
    for said in [
        "100 requests a minute",
        "wire it into the router",
        "yes, it counts",
        "FAILED",
        "pub struct Limiter;",
        "one(2);",
    ] {
        assert!(rendered.text.contains(said), "{said}\n{}", rendered.text);
    }
}

#[test]
fn a_persons_own_files_are_captured_apart_and_a_hash_never_stands_beside_a_mask() {
    const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let own = MemoryText { is_private: true, ..make_memory("~/OWN.md", "I like tabs.") };
    let workspace = Workspace {
        memory: vec![make_memory("A.md", SECRET), make_memory("B.md", "Be brief."), own],
        ..make_workspace()
    };
    let (tale, workspace) = (usual_session(), workspace.redacted());
    let captured = session_json(&tale.brief_in(&workspace), &tale.history, &workspace, Quoting::Masked);
    let project = &captured.project;
    let contents = project.memory_file_contents.as_deref().unwrap();
    assert!(contents.contains("# A.md\n\n[redacted") && contents.contains("# B.md\n\nBe brief."), "{contents}");
    assert!(!contents.contains("I like tabs."), "a prompt is made of it");
    let hashes: Vec<bool> = project.memory_files.iter().map(|file| file.sha256.is_some()).collect();
    assert_eq!(hashes, [false, true, true]);
    assert_eq!(project.memory_files[2].content.as_deref(), Some("I like tabs."));
    let prompt = resume_prompt(&captured.to_material("Agent One", Quoting::Masked), &resume_options(32_000)).unwrap();
    assert!(prompt.text.contains("Be brief.") && !prompt.text.contains("I like tabs."));
}

#[test]
fn a_brief_keeps_its_schema() {
    const SCHEMA: &str = include_str!("../../../../../docs/schemas/brief.schema.json");
    for tale in [usual_session(), hostile_session(40), new_history()] {
        let mut value = serde_json::to_value(tale.brief_in(&make_workspace())).unwrap();
        // Added by the command.
        value["schema"] = "carryover.brief/2".into();
        value["unread"] = serde_json::json!({ "count": 0, "records": [] });
        check_schema(SCHEMA, &value);
    }
}
