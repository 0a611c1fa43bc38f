//! How a client is led through a recording proxy, without a change to its user's files.
//!
//! A client talks to model services, each at an address that its user's settings name or its vendor documents. For one
//! run it is told of another address, by what it takes for one run alone: variables, arguments, a module to load.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::formats::file::{self, MAX_SETTINGS_BYTES};
use crate::{Env, SettingsView};

/// Stands for the address in words that a client is told.
pub(crate) const ADDRESS_MARK: &str = "{address}";

/// A client that is about to be started.
#[derive(Debug, Clone, Copy)]
pub struct LaunchView<'a> {
    pub settings: SettingsView<'a>,
    /// Its user's arguments.
    pub args: &'a [String],
}

impl LaunchView<'_> {
    /// The value of an option, as `--name value` or `--name=value`; the last one counts.
    pub(crate) fn option(&self, names: &[&str]) -> Option<&str> {
        self.option_values(names).into_iter().next_back()
    }

    /// All values of an option.
    pub(crate) fn option_values(&self, names: &[&str]) -> Vec<&str> {
        let mut values = Vec::new();
        let mut words = self.args.iter();
        while let Some(word) = words.next() {
            if names.contains(&word.as_str()) {
                values.extend(words.next().map(String::as_str));
            } else if let Some((name, value)) = word.split_once('=')
                && names.contains(&name)
            {
                values.push(value);
            }
        }
        values
    }

    /// A variable of the process, else of the first of these files of variables that has it.
    pub(crate) fn var_or_dotenv(&self, name: &str, files: &[PathBuf]) -> Option<String> {
        let set = self.settings.env.var(name).map(str::to_owned);
        set.or_else(|| files.iter().find_map(|path| read_dotenv(path, name)))
    }
}

/// The services of a client that is about to be started, or why it cannot be recorded.
pub type FindServices = fn(&LaunchView<'_>) -> Result<Vec<ModelService>, String>;

/// A model service that a client talks to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelService {
    pub name: String,
    /// The base address that the client would use by itself.
    pub upstream: String,
    /// Another one, for requests that have this header: one client talks to two services at one address.
    pub by_header: Option<(&'static str, &'static str)>,
    /// How the client is told of another address.
    pub told: Vec<AddressForm>,
}

impl ModelService {
    pub(crate) fn new(name: &str, upstream: &str, told: Vec<AddressForm>) -> Self {
        Self { name: name.to_owned(), upstream: upstream.to_owned(), by_header: None, told }
    }
}

/// How a client takes an address for one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressForm {
    Variable(&'static str),
    /// Arguments before the user's own, in which `{address}` stands for it.
    Arguments(Vec<String>),
    /// A place in the JSON that a variable holds, beside what its user has put there.
    JsonVariable {
        name: &'static str,
        path: Vec<String>,
    },
    /// A module of the client's own kind, and the argument that loads it.
    Module {
        argument: &'static str,
        file: &'static str,
        text: String,
    },
}

/// The difference between a client as its user starts it and the same, led to other addresses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaunchChanges {
    pub vars: BTreeMap<String, String>,
    /// They go before the user's own.
    pub args: Vec<String>,
    /// Files to be written for the run.
    pub modules: Vec<LaunchModule>,
}

/// A file that a client loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchModule {
    pub file: &'static str,
    pub text: String,
    /// The argument that its path follows.
    pub argument: &'static str,
}

impl LaunchChanges {
    /// Leads each service to its address.
    pub fn new<'a>(routes: impl IntoIterator<Item = (&'a ModelService, String)>, env: &Env) -> Self {
        let mut changes = Self::default();
        for (service, address) in routes {
            for form in &service.told {
                changes.tell(form, &address, env);
            }
        }
        changes.keep_from_proxies(env);
        changes
    }

    fn tell(&mut self, form: &AddressForm, address: &str, env: &Env) {
        match form {
            AddressForm::Variable(name) => {
                self.vars.insert((*name).to_owned(), address.to_owned());
            }
            AddressForm::Arguments(words) => {
                self.args.extend(words.iter().map(|word| word.replace(ADDRESS_MARK, address)));
            }
            AddressForm::JsonVariable { name, path } => {
                let before = self.vars.get(*name).map(String::as_str).or_else(|| env.var(name));
                let mut value = before.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
                put_text(&mut value, path, address);
                self.vars.insert((*name).to_owned(), value.to_string());
            }
            AddressForm::Module { argument, file, text } => {
                self.modules.push(LaunchModule { file, text: text.replace(ADDRESS_MARK, address), argument });
            }
        }
    }

    /// A user's own proxy cannot reach this machine's loopback.
    fn keep_from_proxies(&mut self, env: &Env) {
        const PROXIES: &[&str] = &["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy"];
        if PROXIES.iter().all(|name| env.var(name).is_none()) {
            return;
        }
        for name in ["NO_PROXY", "no_proxy"] {
            let hosts = env.var(name).map_or_else(|| "127.0.0.1".to_owned(), |hosts| format!("{hosts},127.0.0.1"));
            self.vars.insert(name.to_owned(), hosts);
        }
    }
}

/// Puts a text into a JSON value, with the objects that lead there.
fn put_text(value: &mut Value, path: &[String], text: &str) {
    match path.split_first() {
        None => *value = Value::from(text),
        Some((name, rest)) => {
            if !value.is_object() {
                *value = Value::Object(Map::new());
            }
            put_text(&mut value[name.as_str()], rest, text);
        }
    }
}

/// A variable in a file of lines `NAME=value`, as clients load them at their start.
fn read_dotenv(path: &std::path::Path, name: &str) -> Option<String> {
    let text = file::read_text(path, MAX_SETTINGS_BYTES).ok()?;
    let value = text.lines().rev().find_map(|line| {
        let line = line.trim().strip_prefix("export ").unwrap_or(line.trim());
        let (key, value) = line.split_once('=')?;
        (key.trim() == name).then(|| value.trim().trim_matches(['"', '\'']).to_owned())
    });
    value.filter(|value| !value.is_empty())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;
    use crate::write_fixtures::sample_env;
    use crate::{AGENTS, Store, agent_by_name};

    /// A home in which a client is started.
    struct Home {
        folder: tempfile::TempDir,
        env: Env,
    }

    impl Home {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let env = Env { home: folder.path().to_owned(), ..sample_env() };
            Self { folder, env }
        }

        fn file(self, path: &str, text: &str) -> Self {
            let path = self.folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
            self
        }

        fn var(mut self, name: &str, value: &str) -> Self {
            self.env.vars.insert(name.to_owned(), value.to_owned());
            self
        }

        fn find(&self, agent: &str, store: &str, args: &[&str]) -> Result<Vec<ModelService>, String> {
            let store = Store { root: self.folder.path().join(store) };
            let project = self.folder.path().join("p");
            let settings = SettingsView { env: &self.env, store: &store, project: &project };
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            let find = agent_by_name(agent).unwrap().facts().recording.unwrap();
            find(&LaunchView { settings, args: &args })
        }

        /// Where requests go, and what the client is told instead.
        fn lead(&self, agent: &str, store: &str, args: &[&str]) -> (String, LaunchChanges) {
            let services = self.find(agent, store, args).unwrap();
            let routes = services.iter().map(|service| (service, "http://here/t/0".to_owned()));
            (services[0].upstream.clone(), LaunchChanges::new(routes, &self.env))
        }
    }

    fn one_var(name: &str, value: &str) -> LaunchChanges {
        LaunchChanges { vars: BTreeMap::from([(name.to_owned(), value.to_owned())]), ..LaunchChanges::default() }
    }

    fn args(words: &[&str]) -> LaunchChanges {
        LaunchChanges { args: words.iter().map(|word| (*word).to_owned()).collect(), ..LaunchChanges::default() }
    }

    #[test]
    fn requests_go_where_the_users_own_setting_says() {
        let (upstream, told) = Home::new().lead("claude", ".claude", &[]);
        assert_eq!(upstream, "https://api.anthropic.com");
        assert_eq!(told, one_var("ANTHROPIC_BASE_URL", "http://here/t/0"));
        let home = Home::new().var("ANTHROPIC_BASE_URL", "http://gateway/a");
        assert_eq!(home.lead("claude", ".claude", &[]).0, "http://gateway/a");
        let home = home.file(".claude/settings.json", r#"{"env":{"ANTHROPIC_BASE_URL":"http://other"}}"#);
        let (upstream, told) = home.lead("claude", ".claude", &[]);
        assert_eq!(upstream, "http://other");
        assert_eq!(told.args, ["--settings", r#"{"env":{"ANTHROPIC_BASE_URL":"http://here/t/0"}}"#]);
        let cloud = Home::new().var("CLAUDE_CODE_USE_BEDROCK", "1").find("claude", ".claude", &[]);
        assert!(cloud.unwrap_err().starts_with("CLAUDE_CODE_USE_BEDROCK is set"));
    }

    #[test]
    fn a_provider_of_the_users_own_is_led_and_no_other() {
        let config = "model_provider = \"own\"\n[model_providers.own]\nbase_url = \"http://own/v1\"\n";
        let home = Home::new().file(".codex/config.toml", config);
        let (upstream, told) = home.lead("codex", ".codex", &["exec"]);
        assert_eq!(upstream, "http://own/v1");
        assert_eq!(told, args(&["-c", "model_providers.own.base_url=\"http://here/t/0\""]));
        let built_in = home.find("codex", ".codex", &["-c", "model_provider=openai"]).unwrap().remove(0);
        assert_eq!(built_in.upstream, "https://api.openai.com/v1");
        assert_eq!(built_in.by_header.unwrap().0, "chatgpt-account-id");
        assert!(home.find("codex", ".codex", &["-c", "model_provider=none"]).is_err());
        let configured = Home::new().file(".codex/config.toml", "openai_base_url = \"http://gateway/v1\"\n");
        let configured = configured.find("codex", ".codex", &[]).unwrap().remove(0);
        assert_eq!((configured.upstream.as_str(), configured.by_header), ("http://gateway/v1", None));
    }

    #[test]
    fn settings_for_one_run_keep_what_their_user_put_there() {
        let config = r#"{ // mine
            "model": "own/m", "provider": {"own": {"options": {"baseURL": "http://own/v1"}}}}"#;
        let home = Home::new().file(".config/opencode/opencode.json", config);
        let home = home.var("OPENCODE_CONFIG_CONTENT", r#"{"theme":"x","provider":{"own":{"name":"n"}}}"#);
        let (upstream, told) = home.lead("opencode", ".local/share/opencode", &[]);
        assert_eq!(upstream, "http://own/v1");
        let inline = r#"{"theme":"x","provider":{"own":{"name":"n","options":{"baseURL":"http://here/t/0"}}}}"#;
        assert_eq!(told, one_var("OPENCODE_CONFIG_CONTENT", inline));
        let other = home.find("opencode", ".local/share/opencode", &["run", "-m", "anthropic/x"]).unwrap();
        let names: Vec<&str> = other.iter().map(|service| service.name.as_str()).collect();
        assert_eq!(names, ["anthropic", "own"]);
    }

    #[test]
    fn a_client_that_would_sign_in_otherwise_is_left_alone() {
        assert!(Home::new().find("gemini", ".gemini", &[]).is_err());
        let chosen = r#"{"security":{"auth":{"selectedType":"gemini-api-key"}}}"#;
        let home = Home::new().file(".gemini/settings.json", chosen);
        assert_eq!(home.lead("gemini", ".gemini", &[]).0, "https://generativelanguage.googleapis.com");
        let home = home.file("p/.env", "export GOOGLE_GEMINI_BASE_URL='http://gateway'\n");
        assert_eq!(home.lead("gemini", ".gemini", &[]).0, "http://gateway");
    }

    #[test]
    fn each_client_is_told_in_its_own_way() {
        let home = Home::new().file("p/.aider.conf.yml", "openai-api-base: http://own/v1 # mine\n");
        let (upstream, told) = home.lead("aider", "p", &[]);
        assert_eq!(upstream, "http://own/v1");
        assert_eq!(told.args, ["--openai-api-base=http://here/t/0"]);
        let home = Home::new().var("OPENAI_BASE_URL", "http://own/v1");
        assert_eq!(home.lead("qwen", ".qwen", &[]).1, one_var("OPENAI_BASE_URL", "http://here/t/0"));
        assert!(Home::new().find("qwen", ".qwen", &[]).is_err());
        assert!(Home::new().find("copilot", ".copilot", &[]).is_err());
        let models = r#"{"providers":{"own\"x":{"baseUrl":"http://own/v1"}}}"#;
        let home = Home::new().file(".pi/models.json", models);
        let (_, told) = home.lead("pi", ".pi", &["--provider", "own\"x"]);
        let module = "export default function (pi) {\n  pi.registerProvider(\"own\\\"x\", {\"baseUrl\":\"http://here/t/0\"});\n}\n";
        assert_eq!((told.modules[0].argument, told.modules[0].text.as_str()), ("--extension", module));
    }

    #[test]
    fn a_users_proxy_does_not_stand_between_a_client_and_this_machine() {
        let home = Home::new().var("HTTPS_PROXY", "http://proxy:1").var("NO_PROXY", "example");
        let (_, told) = home.lead("claude", ".claude", &[]);
        assert_eq!(told.vars["NO_PROXY"], "example,127.0.0.1");
        assert_eq!(told.vars["no_proxy"], "127.0.0.1");
    }

    #[test]
    fn who_cannot_be_led_says_so_and_the_others_are_told_something() {
        let home = Home::new();
        for agent in AGENTS.iter().filter(|agent| agent.facts().recording.is_some()) {
            let Ok(services) = home.find(agent.facts().id, "store", &[]) else { continue };
            assert!(services.iter().all(|service| !service.told.is_empty()), "{}", agent.facts().id);
        }
    }
}
