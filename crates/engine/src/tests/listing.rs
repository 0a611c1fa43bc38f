use std::ops::ControlFlow;

use super::fake::{ALPHA, BETA, BOTH, DELTA};
use super::world::{SAMPLE_RECORDS, World};
use crate::sessions::list::{Filter, Listing, list_among, list_among_with};
use crate::sessions::select::{Query, SelectError, Selected, select_among};

fn list_fake(world: &World, filter: &Filter) -> Listing {
    list_among(BOTH, &world.context, filter)
}

fn session_ids(listing: &Listing) -> Vec<&str> {
    listing.sessions.iter().map(|session| session.found.id.0.as_str()).collect()
}

fn select_fake(world: &World, words: Option<&str>) -> Result<Selected, SelectError> {
    select_among(BOTH, &world.context, &Query { words: words.map(Into::into), ..Query::default() })
}

fn picked_id(world: &World, words: Option<&str>) -> String {
    select_fake(world, words).map_or_else(|error| error.to_string(), |selected| selected.session.found.id.0)
}

/// Sessions in this project, below it, beside it, and in none.
fn populated_world() -> World {
    let world = World::new();
    world.write_session(&ALPHA, "aaaa1111", r#","at":1,"title":"Fix the parser""#, &[]);
    world.write_session(&BETA, "bbbb2222", r#","at":2,"title":"Write the docs""#, &[]);
    let beside = |id: &str, project: &str, at: u32, title: &str| {
        let project = world.path(project);
        let head = format!(r#","project":"{}","at":{at},"title":"{title}""#, project.display());
        world.write_session(&ALPHA, id, &head, &[]);
    };
    beside("cccc3333", "elsewhere", 9, "Parser of dates");
    beside("cccc4444", "project/below", 3, "A new lexer");
    beside("dddd5555", "gone", 4, "Deploy");
    world
}

#[test]
fn this_project_comes_first_then_the_newest() {
    let world = populated_world();
    assert_eq!(
        session_ids(&list_fake(&world, &Filter::default())),
        ["bbbb2222", "aaaa1111", "cccc3333", "dddd5555", "cccc4444"]
    );
    let here = Filter { project: Some(world.path("project")), ..Filter::default() };
    assert_eq!(session_ids(&list_fake(&world, &here)), ["bbbb2222", "aaaa1111"]);
    world.write_file("project/.git/HEAD", "");
    assert_eq!(session_ids(&list_fake(&world, &here)), ["cccc4444", "bbbb2222", "aaaa1111"]);
    let below = Filter { project: Some(world.path("project/below")), ..Filter::default() };
    assert_eq!(session_ids(&list_fake(&world, &below)), ["cccc4444", "bbbb2222", "aaaa1111"]);
    world.write_file("project/below/.git", "gitdir: elsewhere");
    assert_eq!(session_ids(&list_fake(&world, &here)), ["bbbb2222", "aaaa1111"], "another repository inside this one");
}

#[test]
fn agents_are_limited_by_the_configuration_and_by_name() {
    let mut world = populated_world();
    world.context.config.agents = vec!["beta".into()];
    assert_eq!(session_ids(&list_fake(&world, &Filter::default())), ["bbbb2222"]);
    let named = Filter { agent: Some(&ALPHA), ..Filter::default() };
    assert_eq!(list_fake(&world, &named).sessions.len(), 4);
}

#[test]
fn an_agent_that_keeps_its_sessions_with_the_work_is_found_by_the_projects_of_others() {
    let agents: &[&dyn carryover_agents::Agent] = &[&DELTA, &ALPHA];
    let world = populated_world();
    for (project, id) in [("project", "ffff1111"), ("elsewhere", "ffff2222"), ("unknown", "ffff3333")] {
        let head =
            format!(r#"{{"t":"head","agent":"delta","id":"{id}","project":"{}"}}"#, world.path(project).display());
        world.write_file(&format!("{project}/.delta/sessions/{id}.delta.jsonl"), &head);
    }
    let found = |filter: &Filter| {
        let listing = list_among(agents, &world.context, filter);
        let ids: Vec<String> =
            session_ids(&listing).into_iter().filter(|id| id.starts_with('f')).map(str::to_owned).collect();
        ids
    };
    assert_eq!(found(&Filter::default()), ["ffff1111", "ffff2222"]);
    // Alone it is found by the same projects.
    assert_eq!(found(&Filter { agent: Some(&DELTA), ..Filter::default() }), ["ffff1111", "ffff2222"]);
    assert_eq!(found(&Filter { agent: Some(&ALPHA), ..Filter::default() }), Vec::<String>::new());
    assert_eq!(found(&Filter { agent: None, project: Some(world.path("unknown")), ..Filter::default() }), ["ffff3333"]);
    let query = |project: Option<&str>| Query {
        words: Some("ffff3333".to_owned()),
        project: project.map(|project| world.path(project)),
        ..Query::default()
    };
    assert!(select_among(agents, &world.context, &query(None)).is_err());
    assert!(select_among(agents, &world.context, &query(Some("unknown"))).is_ok());
}

#[cfg(unix)]
#[test]
fn a_store_that_is_reached_twice_counts_once() {
    let world = populated_world();
    fs_err::os::unix::fs::symlink(world.path("home/.alpha"), world.path("home/same-as-alpha")).unwrap();
    assert_eq!(list_fake(&world, &Filter::default()).sessions.len(), 5);
}

#[test]
fn a_broken_store_is_told_and_hides_no_other() {
    let world = populated_world();
    world.write_file("home/.alpha/broken", "");
    let listing = list_fake(&world, &Filter::default());
    assert_eq!(session_ids(&listing), ["bbbb2222"]);
    assert_eq!(listing.failures.len(), 1);
}

#[test]
fn worktrees_of_one_repository_are_one_project() {
    let world = World::new();
    let place = |id: &str, project: &str| {
        fs_err::create_dir_all(world.path(project)).unwrap();
        let head = format!(r#","project":"{}","at":1"#, world.path(project).display());
        world.write_session(&ALPHA, id, &head, &[]);
    };
    let link = |project: &str, git: &str| {
        world.write_file(&format!("{project}/.git"), &format!("gitdir: {}\n", world.path(git).display()));
        world.write_file(&format!("{git}/gitdir"), &format!("{}\n", world.path(project).join(".git").display()));
    };
    for (id, project) in
        [("main", "repo"), ("tree", "beside/src"), ("inner", "repo/trees/x"), ("module", "repo/lib"), ("liar", "liar")]
    {
        place(id, project);
    }
    world.write_file("repo/.git/HEAD", "ref: refs/heads/main\n");
    link("beside", "repo/.git/worktrees/beside");
    link("repo/trees/x", "repo/.git/worktrees/x");
    link("repo/lib", "repo/.git/modules/lib");
    // It names a worktree that is another's.
    world.write_file("liar/.git", &format!("gitdir: {}\n", world.path("repo/.git/worktrees/x").display()));
    let here = |project: &str| {
        let filter = Filter { project: Some(world.path(project)), ..Filter::default() };
        let listing = list_fake(&world, &filter);
        let mut ids: Vec<String> = session_ids(&listing).into_iter().map(str::to_owned).collect();
        ids.sort();
        ids
    };
    for folder in ["repo", "repo/trees", "repo/trees/x", "beside", "beside/src"] {
        assert_eq!(here(folder), ["inner", "main", "tree"], "{folder}");
    }
    assert_eq!(here("repo/lib"), ["module"]);
    assert_eq!(here("liar"), ["liar"]);
    for hostile in ["gitdir: ", "gitdir: /dev/zero", "gitdir: ../liar/.git", "\0", "gitdir: worktrees/x", "worktrees"] {
        world.write_file("liar/.git", hostile);
        assert_eq!(here("liar"), ["liar"], "{hostile:?}");
    }
}

#[test]
fn sessions_are_told_as_they_are_found_until_it_is_enough() {
    let world = populated_world();
    let filter = Filter { words: vec!["PARSER".to_owned()], ..Filter::default() };
    let mut told = Vec::new();
    let listing = list_among_with(BOTH, &world.context, &filter, &mut |session| {
        told.push(session.found.id.0.clone());
        ControlFlow::Continue(())
    });
    told.sort();
    assert_eq!(told, ["aaaa1111", "cccc3333"]);
    assert_eq!(session_ids(&listing), ["aaaa1111", "cccc3333"]);
    let first = list_among_with(BOTH, &world.context, &Filter::default(), &mut |_| ControlFlow::Break(()));
    assert_eq!(first.sessions.len(), 1);
}

#[test]
fn ids_win_over_beginnings_and_beginnings_over_titles() {
    let world = populated_world();
    assert_eq!(picked_id(&world, Some("aaaa1111")), "aaaa1111");
    assert_eq!(picked_id(&world, Some("BBBB2")), "bbbb2222");
    assert_eq!(picked_id(&world, Some("cccc")), "`cccc` fits 2 sessions");
    assert_eq!(picked_id(&world, Some("bbb")), "no session matches `bbb`");
    assert_eq!(picked_id(&world, Some("@last")), "cccc3333");
}

#[test]
fn words_are_found_in_any_order_and_scattered_letters_are_none() {
    let world = populated_world();
    assert_eq!(picked_id(&world, Some("the DOCS")), "bbbb2222");
    assert_eq!(picked_id(&world, Some("parser")), "`parser` fits 2 sessions");
    assert_eq!(picked_id(&world, Some("docs write")), "bbbb2222");
    assert_eq!(picked_id(&world, Some("wrt dcs")), "no session matches `wrt dcs`");
    assert_eq!(picked_id(&world, Some("zebra")), "no session matches `zebra`");
}

#[test]
fn without_words_it_is_the_newest_of_this_project() {
    let mut world = populated_world();
    let selected = select_fake(&world, None).unwrap();
    assert_eq!(selected.session.found.id.0, "bbbb2222");
    assert_eq!(selected.why, Some("the newest session of this project"));
    world.context.cwd = world.path("nowhere");
    assert!(matches!(select_fake(&world, None), Err(SelectError::NoneHere)));
    assert!(matches!(select_fake(&World::new(), None), Err(SelectError::NoAgent)));
    assert!(matches!(select_fake(&World::new(), Some("words")), Err(SelectError::NoAgent)));
}

#[test]
fn a_path_is_recognised_by_its_content() {
    let world = populated_world();
    let head = |agent: &str| format!("{{\"t\":\"head\",\"agent\":\"{agent}\",\"id\":\"loose\"}}\n");
    let path = world.write_file("project/copy.jsonl", &head("alpha"));
    assert_eq!(picked_id(&world, Some("copy.jsonl")), "loose");
    assert_eq!(picked_id(&world, Some(&path.display().to_string())), "loose");
    let only_beta = Query { words: Some("copy.jsonl".into()), agent: Some(&BETA), ..Query::default() };
    assert!(matches!(select_among(BOTH, &world.context, &only_beta), Err(SelectError::NotRecognised(_))));
    world.write_file("project/any.jsonl", &head("any"));
    let error = select_fake(&world, Some("any.jsonl")).err().unwrap();
    assert!(matches!(&error, SelectError::SeveralAgents { agents, .. } if *agents == ["alpha", "beta"]));
    assert!(matches!(select_fake(&world, Some("./missing.jsonl")), Err(SelectError::Agent(_))));
}

#[test]
fn an_avoided_agent_comes_last_and_so_do_copies_that_nobody_used() {
    let mut world = World::new();
    world.write_session(&ALPHA, "aaaa1111", r#","at":1"#, SAMPLE_RECORDS);
    let query = Query { avoided: Some("alpha"), ..Query::default() };
    let pick = |world: &World| select_among(BOTH, &world.context, &query).unwrap().session.found.id.0;
    assert_eq!(pick(&world), "aaaa1111", "there is no other");
    let copy = world.resume("aaaa1111", &BETA);
    assert_eq!(pick(&world), "aaaa1111", "its copy is no other session");
    World::append_lines(&copy.files[0], &[r#"{"t":"prompt","s":"used"}"#]);
    assert_eq!(pick(&world), copy.session.0);
    world.write_session(&BETA, "bbbb1111", r#","at":9000000000000"#, SAMPLE_RECORDS);
    assert_eq!(pick(&world), "bbbb1111");
}
