//! Where a client would look for its settings, so that the model which will run is known before it does.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::formats::file::{self, MAX_SETTINGS_BYTES};
use crate::{Env, Store};

/// The surroundings in which a client would be started.
#[derive(Debug, Clone, Copy)]
pub struct SettingsView<'a> {
    pub env: &'a Env,
    pub store: &'a Store,
    pub project: &'a Path,
}

impl SettingsView<'_> {
    /// A variable that names the model.
    pub(crate) fn var(&self, name: &str) -> Option<String> {
        self.env.var(name).map(str::to_owned)
    }

    /// Files of settings by their place in the project and, after them, in the store.
    pub(crate) fn setting_files(&self, in_project: &[&str], in_store: &str) -> Vec<PathBuf> {
        let there = in_project.iter().map(|name| self.project.join(name));
        there.chain([self.store.root.join(in_store)]).collect()
    }
}

/// The first of some files that has this setting as text.
pub(crate) fn first_setting(files: &[PathBuf], pointer: &str) -> Option<String> {
    files.iter().find_map(|file| file::read_setting(file, pointer))
}

/// Settings that are JSON; what cannot be read says nothing.
pub(crate) fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_str(&file::read_text(path, MAX_SETTINGS_BYTES).ok()?).ok()
}

/// The number of tokens that a list of models gives to one of them, under the first of the names that it has.
pub(crate) fn find_model_window<'v>(
    models: impl IntoIterator<Item = &'v Value>,
    model: &str,
    pointers: &[&str],
) -> Option<u64> {
    let entry = models.into_iter().find(|entry| entry.get("id").and_then(Value::as_str) == Some(model))?;
    pointers.iter().find_map(|pointer| entry.pointer(pointer)?.as_u64()).filter(|tokens| *tokens > 0)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use crate::write_fixtures::sample_env;
    use crate::{AGENTS, Env, SettingsView, Store, agent_by_name};

    /// A home with settings in it, and what an agent makes of them.
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

        fn look(&self, agent: &str, store: &str) -> (Option<String>, Option<u64>) {
            let agent = agent_by_name(agent).unwrap();
            let store = Store { root: self.folder.path().join(store) };
            let project = self.folder.path().join("p");
            let at = SettingsView { env: &self.env, store: &store, project: &project };
            let model = agent.current_model(&at);
            let window = agent.configured_window(&at, model.as_deref());
            (model, window)
        }
    }

    fn found(model: &str, window: impl Into<Option<u64>>) -> (Option<String>, Option<u64>) {
        (Some(model.to_owned()), window.into())
    }

    #[test]
    fn without_settings_nothing_is_known() {
        for agent in AGENTS {
            let (model, window) = Home::new().look(agent.facts().id, "store");
            assert!(window.is_none(), "{}: {model:?}", agent.facts().id);
        }
    }

    #[test]
    fn a_variable_counts_before_the_project_and_that_before_the_user() {
        let home = Home::new().file(".claude/settings.json", r#"{"model":"opus[1m]"}"#);
        assert_eq!(home.look("claude", ".claude"), found("opus[1m]", None));
        let home = home.file("p/.claude/settings.local.json", r#"{"model":"haiku"}"#);
        assert_eq!(home.look("claude", ".claude"), found("haiku", None));
        let home = home.var("ANTHROPIC_MODEL", "sonnet").var("CLAUDE_CODE_DISABLE_1M_CONTEXT", "1");
        assert_eq!(home.look("claude", ".claude"), found("sonnet", 200_000));
        let home = Home::new().file(".gemini/settings.json", r#"{"model":{"name":"a"}}"#);
        assert_eq!(home.look("gemini", ".gemini"), found("a", None));
        assert_eq!(home.var("GEMINI_MODEL", "b").look("gemini", ".gemini"), found("b", None));
        let home = Home::new().file(".copilot/settings.json", r#"{"model":"a"}"#).var("COPILOT_MODEL", "b");
        assert_eq!(home.look("copilot", ".copilot"), found("b", None));
        let home = Home::new().file("p/.aider.conf.yml", "model: a # it\n").var("AIDER_MODEL", "b");
        assert_eq!(home.look("aider", "p"), found("b", None));
    }

    #[test]
    fn the_user_may_say_how_large_the_window_is() {
        let codex = "model = \"gpt-5.5\"\nmodel_context_window = 900000\n";
        assert_eq!(Home::new().file(".codex/config.toml", codex).look("codex", ".codex"), found("gpt-5.5", 900_000));
        let qwen = r#"{"model":{"name":"m","generationConfig":{"contextWindowSize":64000}}}"#;
        assert_eq!(Home::new().file(".qwen/settings.json", qwen).look("qwen", ".qwen"), found("m", 64_000));
        let qwen = r#"{"model":{"name":"m","generationConfig":{"contextWindowSize":64000}},"modelProviders":{"openai":
            [{"id":"x"},{"id":"m","generationConfig":{"contextWindowSize":500000}}]}}"#;
        assert_eq!(Home::new().file(".qwen/settings.json", qwen).look("qwen", ".qwen"), found("m", 500_000));
        let pi = r#"{"providers":{"local":{"models":[{"id":"m","contextWindow":300000}]}}}"#;
        let home = Home::new().file(".pi/models.json", pi).file(".pi/settings.json", r#"{"defaultModel":"m"}"#);
        assert_eq!(home.look("pi", ".pi"), found("m", 300_000));
        let opencode = r#"{"model":"local/m","provider":{"local":{"models":{"m":{"limit":{"context":700000}}}}}}"#;
        let home = Home::new().file(".config/opencode/opencode.json", opencode);
        assert_eq!(home.look("opencode", ".local/share/opencode"), found("m", 700_000));
        let claw = r#"{"agents":{"defaults":{"model":"local/m"}},"models":{"providers":{"local":{"models":
            [{"id":"m","contextWindow":400000,"contextTokens":300000}]}}}}"#;
        assert_eq!(
            Home::new().file(".openclaw/openclaw.json", claw).look("openclaw", ".openclaw"),
            found("m", 300_000)
        );
        let aider = r#"{"local/m":{"max_input_tokens":150000}}"#;
        let home = Home::new().file(".aider.model.metadata.json", aider).file("p/.aider.conf.yml", "model: local/m\n");
        assert_eq!(home.look("aider", "p"), found("local/m", 150_000));
    }
}
