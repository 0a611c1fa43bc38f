use super::samples::{self, brief_of, story_of, workspace_of};
use super::{handoff_of, options};
use crate::distill::Brief;
use crate::render::{self, Protocol, SessionJson, resume_prompt, session_json, uasf};
use crate::tokens::Counter;

#[test]
fn a_secret_is_masked_before_anything_is_cut() {
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let texts = vec![format!("{} {secret} tail", "x".repeat(150)), format!("{secret}\nmore"), format!("a {secret}")];
    let with_id = Brief { session: samples::empty().session, ..brief_of(&texts) };
    let (brief, story, workspace) = (with_id.redacted(), story_of(&texts).redacted(), workspace_of(&texts).redacted());
    let json = serde_json::to_string(&session_json(&brief, &story, &workspace)).unwrap();
    let prompt = resume_prompt(&brief, &story, &workspace, &options(30_000, Counter::Exact)).unwrap().text;
    let uasf = serde_json::to_string(&uasf(&story)).unwrap();
    for text in [handoff_of(&brief, Protocol::Ask), prompt, json, uasf, serde_json::to_string(&brief).unwrap()] {
        assert!(!text.contains("16C7e42F29"));
        assert!(text.contains("[redacted: github-pat]"));
    }
    let (brief, story, workspace) = (brief_of(&texts), story_of(&texts), workspace_of(&texts));
    let captured = SessionJson { session_id: String::new(), ..session_json(&brief, &story, &workspace) }.redacted();
    assert!(!serde_json::to_string(&captured).unwrap().contains("16C7e42F29"));
    assert!(!serde_json::to_string(&render::uasf(&story).redacted()).unwrap().contains("16C7e42F29"));
}
