use super::fake::{ALPHA, BETA, BOTH, DELTA};
use super::world::World;
use crate::remember_messages;
use crate::sessions::list::{Filter, Listing, list_among};
use crate::sessions::select::{Query, SelectError, Selected, select_among};

fn list(world: &World, filter: &Filter) -> Listing {
    list_among(BOTH, &world.context, filter)
}

fn ids(listing: &Listing) -> Vec<&str> {
    listing.sessions.iter().map(|session| session.found.id.0.as_str()).collect()
}

fn select(world: &World, words: Option<&str>) -> Result<Selected, SelectError> {
    select_among(BOTH, &world.context, &Query { words: words.map(Into::into), ..Query::default() })
}

fn picked(world: &World, words: Option<&str>) -> String {
    select(world, words).map_or_else(|error| error.to_string(), |selected| selected.session.found.id.0)
}

/// Sessions in this project, below it, beside it, and in none.
fn populated() -> World {
    let world = World::new();
    world.session(&ALPHA, "aaaa1111", r#","at":1,"title":"Fix the parser""#, &[]);
    world.session(&BETA, "bbbb2222", r#","at":2,"title":"Write the docs""#, &[]);
    let beside = |id: &str, project: &str, at: u32, title: &str| {
        let project = world.path(project);
        let head = format!(r#","project":"{}","at":{at},"title":"{title}""#, project.display());
        world.session(&ALPHA, id, &head, &[]);
    };
    beside("cccc3333", "elsewhere", 9, "Parser of dates");
    beside("cccc4444", "project/below", 3, "A new lexer");
    beside("dddd5555", "gone", 4, "Deploy");
    world
}

#[test]
fn this_project_comes_first_then_the_newest() {
    let world = populated();
    assert_eq!(ids(&list(&world, &Filter::default())), ["bbbb2222", "aaaa1111", "cccc3333", "dddd5555", "cccc4444"]);
    let here = Filter { project: Some(world.path("project")), ..Filter::default() };
    assert_eq!(ids(&list(&world, &here)), ["bbbb2222", "aaaa1111"]);
    world.write("project/.git/HEAD", "");
    assert_eq!(ids(&list(&world, &here)), ["cccc4444", "bbbb2222", "aaaa1111"]);
    let below = Filter { project: Some(world.path("project/below")), ..Filter::default() };
    assert_eq!(ids(&list(&world, &below)), ["cccc4444", "bbbb2222", "aaaa1111"]);
    world.write("project/below/.git", "gitdir: elsewhere");
    assert_eq!(ids(&list(&world, &here)), ["bbbb2222", "aaaa1111"], "another repository inside this one");
}

#[test]
fn agents_are_limited_by_the_configuration_and_by_name() {
    let mut world = populated();
    world.context.config.agents = vec!["beta".into()];
    assert_eq!(ids(&list(&world, &Filter::default())), ["bbbb2222"]);
    let named = Filter { agent: Some(&ALPHA), ..Filter::default() };
    assert_eq!(list(&world, &named).sessions.len(), 4);
}

#[test]
fn an_agent_that_keeps_its_sessions_with_the_work_is_found_by_the_projects_of_others() {
    let agents: &[&dyn carryover_agents::Agent] = &[&DELTA, &ALPHA];
    let world = populated();
    for (project, id) in [("project", "ffff1111"), ("elsewhere", "ffff2222"), ("unknown", "ffff3333")] {
        let head =
            format!(r#"{{"t":"head","agent":"delta","id":"{id}","project":"{}"}}"#, world.path(project).display());
        world.write(&format!("{project}/.delta/sessions/{id}.delta.jsonl"), &head);
    }
    let found = |filter: &Filter| {
        let listing = list_among(agents, &world.context, filter);
        let ids: Vec<String> = ids(&listing).into_iter().filter(|id| id.starts_with('f')).map(str::to_owned).collect();
        ids
    };
    assert_eq!(found(&Filter::default()), ["ffff1111", "ffff2222"]);
    // Alone it is found by the same projects.
    assert_eq!(found(&Filter { agent: Some(&DELTA), ..Filter::default() }), ["ffff1111", "ffff2222"]);
    assert_eq!(found(&Filter { agent: Some(&ALPHA), ..Filter::default() }), Vec::<String>::new());
    assert_eq!(found(&Filter { agent: None, project: Some(world.path("unknown")), ..Filter::default() }), ["ffff3333"]);
    let query = |project: Option<&str>| Query {
        words: Some("ffff3333".to_owned()),
        agent: None,
        project: project.map(|project| world.path(project)),
    };
    assert!(select_among(agents, &world.context, &query(None)).is_err());
    assert!(select_among(agents, &world.context, &query(Some("unknown"))).is_ok());
}

#[cfg(unix)]
#[test]
fn a_store_that_is_reached_twice_counts_once() {
    let world = populated();
    fs_err::os::unix::fs::symlink(world.path("home/.alpha"), world.path("home/same-as-alpha")).unwrap();
    assert_eq!(list(&world, &Filter::default()).sessions.len(), 5);
}

#[test]
fn a_broken_store_is_told_and_hides_no_other() {
    let world = populated();
    world.write("home/.alpha/broken", "");
    let listing = list(&world, &Filter::default());
    assert_eq!(ids(&listing), ["bbbb2222"]);
    assert_eq!(listing.failures.len(), 1);
}

#[test]
fn message_counts_are_remembered_until_the_file_changes() {
    let world = World::new();
    let path = world.story();
    let found = || list(&world, &Filter::default()).sessions.remove(0).found;
    assert_eq!(found().messages, None);
    remember_messages(&world.context, &found().source, 3).unwrap();
    assert_eq!(found().messages, Some(3));
    World::append(&path, &[r#"{"t":"reply","s":"more"}"#]);
    assert_eq!(found().messages, None);
    remember_messages(&world.context, &found().source, 4).unwrap();
    for broken in ["", "{", "[]", r#"{"schema":"carryover.cache/1","messages":[{"path":5}]}"#, r#"{"schema":"other"}"#]
    {
        world.write("ours/cache.json", broken);
        assert_eq!(found().messages, None, "{broken}");
    }
    remember_messages(&world.context, &found().source, 4).unwrap();
    assert_eq!(found().messages, Some(4));
}

#[test]
fn ids_win_over_beginnings_and_beginnings_over_titles() {
    let world = populated();
    assert_eq!(picked(&world, Some("aaaa1111")), "aaaa1111");
    assert_eq!(picked(&world, Some("BBBB2")), "bbbb2222");
    assert_eq!(picked(&world, Some("cccc")), "`cccc` fits 2 sessions");
    assert_eq!(picked(&world, Some("bbb")), "no session matches `bbb`");
    assert_eq!(picked(&world, Some("@last")), "cccc3333");
}

#[test]
fn titles_are_matched_by_words_then_by_likeness() {
    let world = populated();
    assert_eq!(picked(&world, Some("the DOCS")), "bbbb2222");
    assert_eq!(picked(&world, Some("parser")), "`parser` fits 2 sessions");
    assert_eq!(picked(&world, Some("wrt dcs")), "bbbb2222");
    assert_eq!(picked(&world, Some("zebra")), "no session matches `zebra`");
}

#[test]
fn without_words_it_is_the_newest_of_this_project() {
    let mut world = populated();
    let selected = select(&world, None).unwrap();
    assert_eq!(selected.session.found.id.0, "bbbb2222");
    assert_eq!(selected.why, Some("the newest session of this project"));
    world.context.cwd = world.path("nowhere");
    assert!(matches!(select(&world, None), Err(SelectError::NoneHere)));
    assert!(matches!(select(&World::new(), None), Err(SelectError::NoAgent)));
    assert!(matches!(select(&World::new(), Some("words")), Err(SelectError::NoAgent)));
}

#[test]
fn a_path_is_recognised_by_its_content() {
    let world = populated();
    let head = |agent: &str| format!("{{\"t\":\"head\",\"agent\":\"{agent}\",\"id\":\"loose\"}}\n");
    let path = world.write("project/copy.jsonl", &head("alpha"));
    assert_eq!(picked(&world, Some("copy.jsonl")), "loose");
    assert_eq!(picked(&world, Some(&path.display().to_string())), "loose");
    let only_beta = Query { words: Some("copy.jsonl".into()), agent: Some(&BETA), project: None };
    assert!(matches!(select_among(BOTH, &world.context, &only_beta), Err(SelectError::NotRecognised(_))));
    world.write("project/any.jsonl", &head("any"));
    let error = select(&world, Some("any.jsonl")).err().unwrap();
    assert!(matches!(&error, SelectError::SeveralAgents { agents, .. } if *agents == ["alpha", "beta"]));
    assert!(matches!(select(&world, Some("./missing.jsonl")), Err(SelectError::Agent(_))));
}
