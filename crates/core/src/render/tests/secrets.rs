use super::*;
use crate::render::{Protocol, session_json, uasf};

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/// A session that says a secret in every place.
fn leaky() -> Tale {
    tale()
        .user(&format!("always use {SECRET}\nplease, for all of the calls {}", "x ".repeat(3000)))
        .asks(&format!("is it {SECRET}?"), Some(SECRET))
        .plan(&[(SECRET, StepState::InProgress)])
        .write("a.env", &format!("# TODO take {SECRET} out\nT={SECRET}"))
        .edit("b.env", "a", SECRET)
        .run(&format!("curl -H {SECRET}"), 1, &format!("error: {SECRET}"))
        .fails(FailureKind::RateLimit, SECRET, None)
        .agent(&format!("{} Is {SECRET} right?", "x ".repeat(3000)))
}

#[test]
fn no_rendering_shows_a_secret() {
    let (tale, workspace) =
        (leaky(), Workspace { memory: vec![("A.md".to_owned(), SECRET.to_owned())], ..workspace() }.redacted());
    let brief = tale.brief_in(&workspace);
    let captured = session_json(&brief, &tale.history, &workspace, Quoting::Masked);
    let options = crate::render::ContextOptions { agent_name: "Agent One", show_command: SHOW };
    for text in [
        serde_json::to_string(&brief).unwrap(),
        handoff_of(&brief, Protocol::Ask),
        prompt_of(&tale, &workspace, 32_000).unwrap().text,
        crate::render::context_block(&brief, &options),
        serde_json::to_string(&captured).unwrap(),
        serde_json::to_string(&uasf(&tale.history).redacted()).unwrap(),
    ] {
        assert!(text.contains("[redacted: github-pat]") && !text.contains(&SECRET[4..20]), "{text}");
    }
}

#[test]
fn a_capture_that_was_made_without_masks_is_masked_when_it_is_read() {
    let (tale, workspace) = (leaky(), workspace());
    let brief = tale.brief_in(&workspace);
    let captured = session_json(&brief, &tale.history, &workspace, Quoting::AsIs);
    assert!(serde_json::to_string(&captured).unwrap().contains(SECRET));
    let text =
        crate::render::resume_prompt(&captured.material("Agent One", Quoting::Masked), &options(32_000)).unwrap().text;
    assert!(!text.contains(&SECRET[4..20]), "{text}");
    let told = uasf(&tale.history);
    let material = told.material("Agent One", "2026-11-15T10:00:00Z", Quoting::Masked);
    let text = crate::render::resume_prompt(&material, &options(32_000)).unwrap().text;
    assert!(!text.contains(&SECRET[4..20]), "{text}");
}
