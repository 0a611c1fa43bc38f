use std::collections::BTreeMap;

use carryover_core::time::Timestamp;
use tempfile::TempDir;

use super::*;
use crate::{Os, PathBase, PathRule};

const PLACES: &[PathRule] = &[
    PathRule { on: &[], base: PathBase::Project, path: &["own"] },
    PathRule { on: &[], base: PathBase::Home, path: &["all"] },
];

struct World {
    folder: TempDir,
    files: CommandFiles,
}

impl World {
    fn new(form: CommandForm, files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        for (place, text) in files {
            let path = folder.path().join(place);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        Self { folder, files: CommandFiles { folders: PLACES, own_folders: &[], form, are_calls_written_down: false } }
    }

    fn find(&self, prompt: &str) -> Option<(String, Option<String>)> {
        let env = Env {
            home: self.folder.path().join("home"),
            vars: BTreeMap::new(),
            os: Os::Linux,
            now: Timestamp::from_millis(0),
            zone: jiff::tz::TimeZone::UTC,
            stores: BTreeMap::new(),
            projects: vec![self.folder.path().join("project")],
        };
        self.files.find_called(&env, prompt).map(|called| (called.name, called.arguments))
    }
}

fn called(name: &str, arguments: &str) -> (String, Option<String>) {
    (name.to_owned(), Some(arguments.to_owned()).filter(|arguments| !arguments.is_empty()))
}

const PLAN: &str = "---\ndescription: Begin\n---\n\nMake a plan with the user for: $ARGUMENTS\n\nLook first.\n";

#[test]
fn a_template_is_known_by_its_own_words() {
    let world = World::new(
        CommandForm::Markdown,
        &[
            ("home/all/workspace.plan.md", PLAN),
            ("home/all/lab/tidy.md", "Tidy the list of things in this place, and say what is gone.\r\n"),
            ("home/all/twice.md", "Sort these: $ARGUMENTS\nand once more, by their length: $ARGUMENTS"),
            ("home/all/end.md", "Tell me in one word what this is: $ARGUMENTS\n"),
        ],
    );
    // As OpenCode 1.18.33 sends them.
    let plan = "Make a plan with the user for: the move,\n\nall of it\n\nLook first.";
    assert_eq!(world.find(plan), Some(called("/workspace.plan", "the move,\n\nall of it")));
    assert_eq!(world.find("Make a plan with the user for: \n\nLook first."), Some(called("/workspace.plan", "")));
    let tidy = "Tidy the list of things in this place, and say what is gone.";
    assert_eq!(world.find(tidy), Some(called("/lab:tidy", "")));
    assert_eq!(world.find(&format!("{tidy}\n\n\"all of it\"")), Some(called("/lab:tidy", "\"all of it\"")));
    assert_eq!(world.find("Sort these: ä b\nand once more, by their length: ä b"), Some(called("/twice", "ä b")));
    assert_eq!(world.find("Tell me in one word what this is:"), Some(called("/end", "")));
    for other in [
        "",
        "Look first.",
        "Make a plan with the user for: the move",
        "Make a plan for: the move\n\nLook first.",
        "Sort these: ä b\nand once more, by their length: ö b",
        "Sort these: ä b\nand once more, by their length: ä bc",
        "Tidy the list of things in this place, and say what is gone. And more.",
    ] {
        assert_eq!(world.find(other), None, "{other}");
    }
}

#[test]
fn a_text_that_anybody_could_have_typed_is_no_command() {
    let world = World::new(
        CommandForm::Markdown,
        &[
            ("home/all/all.md", "$ARGUMENTS\n"),
            ("home/all/fix.md", "Please fix: $ARGUMENTS"),
            ("home/all/shell.md", "Tell me what stands in this status: !`git status` and $ARGUMENTS"),
            ("home/all/words.md", "Sort all of these $1 by their $2 please, as told"),
        ],
    );
    for prompt in [
        "anything at all that a person may say to an agent",
        "Please fix: the parser",
        "Tell me what stands in this status: clean and more",
        "Sort all of these a by their b please, as told",
    ] {
        assert_eq!(world.find(prompt), None, "{prompt}");
    }
}

#[test]
fn the_most_of_its_own_words_decides_and_the_nearest_of_equals() {
    let long = PLAN.replace("the user for", "the user and the team for");
    let world = World::new(
        CommandForm::Markdown,
        &[
            ("home/all/any.md", "Make a plan with the user $ARGUMENTS\n\nLook first."),
            ("home/all/long.md", &long),
            ("project/own/plan.md", "Make the plan that we talked about, for this: $ARGUMENTS"),
            ("home/all/plan.md", "Make the plan that we talked about, for this: $ARGUMENTS"),
            ("home/all/same-a.md", "Say in a few words what is new here: $ARGUMENTS"),
            ("home/all/same-b.md", "Say in a few words what is new here: $ARGUMENTS"),
        ],
    );
    let prompt = "Make a plan with the user and the team for: x\n\nLook first.";
    assert_eq!(world.find(prompt), Some(called("/long", "x")));
    assert_eq!(world.find("Make the plan that we talked about, for this: y"), Some(called("/plan", "y")));
    assert_eq!(world.find("Say in a few words what is new here: z"), None);
}

#[test]
fn a_toml_command_is_known_with_and_without_its_mark() {
    let world = World::new(
        CommandForm::Toml,
        &[
            ("home/all/plan.toml", "prompt = \"\"\"Make a plan with the user for: {{args}}\nLook first.\n\"\"\""),
            ("project/own/tidy.toml", "prompt = \"Tidy the list of things in this place.\\n\""),
            ("home/all/see.toml", "prompt = \"Tell me what stands in there: @{a.txt} {{args}}\""),
            ("home/all/none.toml", "description = \"no prompt\""),
        ],
    );
    assert_eq!(world.find("Make a plan with the user for: $1\nLook first.\n"), Some(called("/plan", "$1")));
    // As Gemini CLI 0.61.0 sends one without the mark.
    let tidy = "Tidy the list of things in this place.\n\n\n/tidy all of it";
    assert_eq!(world.find(tidy), Some(called("/tidy", "all of it")));
    assert_eq!(world.find("Tidy the list of things in this place.\n"), Some(called("/tidy", "")));
    assert_eq!(world.find("Tidy the list of things in this place.\n\nand more"), None);
    assert_eq!(world.find("Tell me what stands in there: x y"), None);
}

#[test]
fn a_name_is_found_in_another_form() {
    let world = World::new(
        CommandForm::Markdown,
        &[("home/all/workspace.plan.md", "x"), ("home/all/lab/review.md", "x"), ("home/all/plan.md", "x")],
    );
    let folder = world.folder.path().join("home/all");
    let find = |name| world.files.list_alike(&folder, name);
    assert_eq!(find("/workspace-plan"), [folder.join("workspace.plan.md")]);
    assert_eq!(find("/lab-review"), [folder.join("lab/review.md")]);
    assert!(find("/workspace-plans").is_empty());
}

#[test]
fn a_skill_is_known_where_a_prompt_begins_with_it_and_it_is_there() {
    let world = World::new(
        CommandForm::Skill,
        &[
            ("home/all/workspace-plan/SKILL.md", "---\nname: workspace-plan\n---\nPlan."),
            ("project/own/tidy-up/SKILL.md", "Tidy."),
        ],
    );
    // As Codex CLI 0.166.0 writes it.
    assert_eq!(world.find("$workspace-plan the move"), Some(called("/workspace-plan", "the move")));
    assert_eq!(world.find("$tidy-up\n"), Some(called("/tidy-up", "")));
    for other in ["use $workspace-plan here", "$PATH is wrong", "$", "$../x y", "/workspace-plan x", "$workspace-pla"] {
        assert_eq!(world.find(other), None, "{other}");
    }
}
