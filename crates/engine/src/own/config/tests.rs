use carryover_agents::AGENTS;

use super::*;

fn temp_home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn write_config(home: &Path, text: &str) {
    files::write_private(&file_path(home), text.as_bytes()).unwrap();
}

fn load_error(text: &str) -> (String, Option<String>) {
    let home = temp_home();
    write_config(home.path(), text);
    let error = load(home.path(), Path::new("/home/me")).unwrap_err();
    (
        error.to_string().replace(&file_path(home.path()).display().to_string(), "[config]"),
        error.suggestion().map(Into::into),
    )
}

#[test]
fn no_file_means_defaults() {
    assert_eq!(load(temp_home().path(), Path::new("/")).unwrap(), Config::default());
}

#[test]
fn keys_are_read_and_aliases_become_ids() {
    let home = temp_home();
    let facts = AGENTS[0].facts();
    let text = format!("agents = [\"{}\"]\n[stores]\n{} = [\"~/x\", \"/y\"]\n", facts.aliases[0], facts.id);
    write_config(home.path(), &text);
    let config = load(home.path(), Path::new("/home/me")).unwrap();
    assert_eq!(config.agents, [facts.id]);
    assert_eq!(config.stores[facts.id], [PathBuf::from("/home/me/x"), "/y".into()]);
    assert_eq!(format_value(&config, "agents").as_deref(), Some(facts.id));
    assert_eq!(format_value(&config, &format!("stores.{}", facts.id)).as_deref(), Some("/home/me/x,/y"));
    assert_eq!(format_value(&config, "resume.tokens"), None);
}

#[test]
fn what_is_wrong_is_named_with_what_may_have_been_meant() {
    let check = |text: &str, message: &str, suggestion: Option<&str>| {
        let line = text.lines().count();
        assert_eq!(load_error(text), (format!("[config]:{line}: {message}"), suggestion.map(Into::into)), "{text}");
    };
    check("agent = []", "unknown key `agent`", Some("agents"));
    check("[resume]\ntoken = 4", "unknown key `resume.token`", Some("resume.tokens"));
    check("colour = 1", "unknown key `colour`", None);
    check("[resume]\ntokens = -4", "`resume.tokens` must be a whole number above zero", None);
    check("[resume]\ntokens = \"4\"", "`resume.tokens` must be a whole number above zero", None);
    check("resume = 3", "`resume` must be a table", None);
    check("agents = [1]", "`agents` must be a list of agents' names", None);
    check("agents = [\"zzzzzzz\"]", "`agents` names `zzzzzzz`, which is no agent that carryover knows", None);
}

#[test]
fn syntax_errors_keep_their_place() {
    let home = temp_home();
    write_config(home.path(), "agents = [\n");
    let error = load(home.path(), Path::new("/")).unwrap_err();
    assert!(matches!(error, ConfigError::Syntax { .. }));
    files::write_private(&file_path(home.path()), &[0xff, 0xfe]).unwrap();
    assert!(matches!(load(home.path(), Path::new("/")), Err(ConfigError::Read { .. })));
}

#[test]
fn setting_keeps_comments_and_order() {
    let home = temp_home();
    write_config(home.path(), "# mine\n[resume] # here\ntokens = 5 # five\n\n# end\n");
    set(home.path(), "resume.tokens", "70_000").unwrap();
    set(home.path(), "agents", AGENTS[0].facts().aliases[0]).unwrap();
    let text = fs_err::read_to_string(file_path(home.path())).unwrap();
    assert!(text.contains("[resume] # here\ntokens = 70000 # five\n\n# end\n"), "{text}");
    let config = load(home.path(), Path::new("/")).unwrap();
    assert_eq!(config.resume.tokens, Some(70_000));
    unset(home.path(), "resume.tokens").unwrap();
    assert_eq!(load(home.path(), Path::new("/")).unwrap().resume.tokens, None);
}

#[test]
fn a_wrong_value_leaves_the_file_alone() {
    let home = temp_home();
    write_config(home.path(), "[resume]\ntokens = 5\n");
    for (key, value) in [("resume.tokens", "0"), ("resume.tokens", "x"), ("agents", "nobody"), ("resume.tokns", "5")] {
        assert!(set(home.path(), key, value).is_err(), "{key} {value}");
    }
    assert_eq!(fs_err::read_to_string(file_path(home.path())).unwrap(), "[resume]\ntokens = 5\n");
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let home = temp_home();
    let ours = home.path().join("ours");
    set(&ours, "resume.tokens", "5").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&ours), 0o700);
    assert_eq!(mode(&file_path(&ours)), 0o600);
}

#[test]
fn the_schema_follows_the_keys() {
    let schema = json_schema();
    assert_eq!(schema["properties"]["resume"]["properties"]["tokens"]["type"], "integer");
    assert_eq!(schema["properties"]["resume"]["additionalProperties"], false);
    assert!(schema["properties"]["stores"]["patternProperties"].is_object());
}

#[test]
fn what_is_wrong_in_a_file_is_taken_out_by_its_name() {
    let home = temp_home();
    write_config(home.path(), "colour = 1 # why\nwatch = 3\n[resume]\ntoken = 4\ntokens = 5\n[stores]\nnobody = []\n");
    for wrong in ["colour", "watch", "resume.token", "stores.nobody"] {
        let error = load(home.path(), Path::new("/")).unwrap_err();
        assert_eq!(error.wrong_key().unwrap().0, wrong);
        unset(home.path(), wrong).unwrap();
    }
    assert_eq!(load(home.path(), Path::new("/")).unwrap().resume.tokens, Some(5));
    // A table of settings is no setting.
    for key in ["resume", "colour", "resume.token", "no.such.key"] {
        assert!(
            matches!(unset(home.path(), key), Err(ConfigError::UnknownKey { place: Place::Argument, .. })),
            "{key}"
        );
    }
    unset(home.path(), "watch.interval").unwrap();
}

#[test]
fn remotes_are_tables_of_names_and_their_addresses_hold_no_password() {
    let home = temp_home();
    write_config(home.path(), "# mine\n[watch]\ninterval = 5\n");
    for (name, url) in [("origin", "s3://team/carryover"), ("usb", "/mnt/usb")] {
        set(home.path(), &format!("remotes.{name}.url"), url).unwrap();
    }
    let text = fs_err::read_to_string(file_path(home.path())).unwrap();
    assert!(
        text.ends_with("[remotes.origin]\nurl = \"s3://team/carryover\"\n\n[remotes.usb]\nurl = \"/mnt/usb\"\n"),
        "{text}"
    );
    let config = load(home.path(), Path::new("/")).unwrap();
    assert_eq!(config.remotes.keys().collect::<Vec<_>>(), ["origin", "usb"]);
    assert_eq!(format_value(&config, "remotes.usb.url").as_deref(), Some("/mnt/usb"));
    for (key, url) in [
        ("origin", "https://me:secret@host/x"),
        ("origin", "s3://team/x?sig=secret"),
        ("origin", ""),
        ("Team", "/mnt"),
        ("..", "/mnt"),
    ] {
        assert!(set(home.path(), &format!("remotes.{key}.url"), url).is_err(), "{key} {url}");
    }
    assert!(set(home.path(), "remotes.origin.key", "x").is_err() && set(home.path(), "remotes.origin", "x").is_err());
    assert_eq!(set(home.path(), "remotes.git.url", "ssh://git@host/x").unwrap().remotes.len(), 3);
    for name in ["origin", "usb", "git"] {
        assert!(remove_remote(home.path(), name).unwrap() && !remove_remote(home.path(), name).unwrap());
    }
    assert_eq!(fs_err::read_to_string(file_path(home.path())).unwrap().trim_end(), "# mine\n[watch]\ninterval = 5");
}
