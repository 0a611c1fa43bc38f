use super::*;
use crate::render::{Protocol, session_json};

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/// A session that says a secret in every place.
fn leaky_session() -> HistoryBuilder {
    new_history()
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
        (leaky_session(), Workspace { memory: vec![make_memory("A.md", SECRET)], ..make_workspace() }.redacted());
    let brief = tale.brief_in(&workspace);
    let captured = session_json(&brief, &tale.history, &workspace, Quoting::Masked);
    let options = crate::render::ContextOptions { agent_name: "Agent One", show_command: SHOW, opening: "" };
    for text in [
        serde_json::to_string(&brief).unwrap(),
        handoff_of(&brief, Protocol::Ask),
        prompt_of(&tale, &workspace, 32_000).unwrap().text,
        crate::render::context_block(&brief, &options),
        serde_json::to_string(&captured).unwrap(),
    ] {
        assert!(text.contains("[redacted: github-pat]") && !text.contains(&SECRET[4..20]), "{text}");
    }
}

#[test]
fn a_capture_that_was_made_without_masks_is_masked_when_it_is_read() {
    let (tale, workspace) = (leaky_session(), make_workspace());
    let brief = tale.brief_in(&workspace);
    let captured = session_json(&brief, &tale.history, &workspace, Quoting::AsIs);
    assert!(serde_json::to_string(&captured).unwrap().contains(SECRET));
    let text =
        crate::render::resume_prompt(&captured.to_material("Agent One", Quoting::Masked), &resume_options(32_000))
            .unwrap()
            .text;
    assert!(!text.contains(&SECRET[4..20]), "{text}");
}

#[test]
fn a_secret_is_known_by_what_another_sentence_says() {
    let said = "Always deploy with this, please, it is the password:\n    Xk29!fjw-Lq8\nNever use another one.";
    let tale = new_history().user(said).agent("Done.");
    let brief = tale.brief_in(&make_workspace());
    assert!(!serde_json::to_string(&brief).unwrap().contains("Xk29!fjw"), "{brief:?}");
}

#[test]
fn an_address_is_masked_before_it_is_cut() {
    let secret = "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA";
    let address = format!("https://files.acme.org/{}?x=1&sig={secret}", "a".repeat(260));
    let brief = new_history().user(&format!("see {address} first")).agent("Done.").brief_in(&make_workspace());
    assert!(!serde_json::to_string(&brief.references).unwrap().contains(&secret[..6]), "{:?}", brief.references);
}

#[test]
fn escapes_of_terminals_hide_no_secret() {
    let hidden = format!("{}\u{1b}[0m{}", &SECRET[..12], &SECRET[12..]);
    let tale = new_history().user(&format!("use {hidden}")).write("a.env", &format!("T={hidden}")).agent("Done.");
    let captured = session_json(&tale.brief_in(&make_workspace()), &tale.history, &make_workspace(), Quoting::Masked);
    let text = serde_json::to_string(&captured).unwrap();
    assert!(text.contains("[redacted: github-pat]") && !text.contains(&SECRET[12..]), "{text}");
}

#[test]
fn names_of_files_are_masked_wherever_they_are_told() {
    let names = [format!("gone-{SECRET}.txt"), format!("changed-{SECRET}.txt")];
    let now = |name: &String, exists: bool| CurrentFile {
        path: format!("/home/me/shop/{name}"),
        exists,
        modified_at: exists.then(|| minute(700)),
        text: None,
    };
    let workspace =
        Workspace { files: vec![now(&names[0], false), now(&names[1], true)], ..make_workspace() }.redacted();
    let tale = new_history().user("write them").write(&names[0], "// TODO a").edit(&names[1], "a", "b").agent("Done.");
    let brief = tale.brief_in(&workspace);
    assert_eq!(brief.drift.files.len(), 2);
    for text in [
        serde_json::to_string(&brief).unwrap(),
        handoff_of(&brief, Protocol::Ask),
        prompt_of(&tale, &workspace, 32_000).unwrap().text,
        serde_json::to_string(&session_json(&brief, &tale.history, &workspace, Quoting::Masked)).unwrap(),
    ] {
        assert!(text.contains("[redacted: github-pat]") && !text.contains(&SECRET[4..20]), "{text}");
    }
}

#[test]
fn a_title_shows_no_secret_of_the_prompt_that_it_was_made_of() {
    let cut = format!("{} DB_PASSWORD=Qm7Zt4LkX9wBv2RsHd6JpYc3NfGa8UeT and more {}", "so ".repeat(56), "x ".repeat(90));
    for prompt in ["| user | password |\n|---|---|\n| ci | hunter2!x |", &cut] {
        let mut tale = new_history().user(prompt).agent("Done.");
        tale.history.header.title = Some(crate::plain::one_line(prompt, 200));
        let title = tale.brief_in(&make_workspace()).title.unwrap();
        assert!(!title.contains("hunter2") && !title.contains("Qm7"), "{title}");
    }
}

#[test]
fn hidden_characters_are_not_handed_over() {
    let smuggled: String = "obey".bytes().map(|byte| char::from_u32(0xe_0000 + u32::from(byte)).unwrap()).collect();
    let hidden = format!(
        "fix{smuggled} it\u{200b}\u{ad}\u{2060}\u{3164}\u{115f}\u{1160}\u{2028}\u{2029}\u{feff} now 👩\u{200d}💻"
    );
    let tale = new_history().user(&hidden).run(&hidden, 1, &hidden).agent(&hidden);
    let brief = tale.brief_in(&make_workspace());
    for text in [handoff_of(&brief, Protocol::Ask), prompt_of(&tale, &make_workspace(), 32_000).unwrap().text] {
        assert!(text.contains("fix it now 👩\u{200d}💻"), "{text}");
        assert!(!text.contains('\u{200b}') && !text.contains(&smuggled), "{text}");
    }
}
