//! The surroundings of a command, built once in `main`.

use std::path::{Path, PathBuf};

use carryover_agents::Env;

use crate::own::config::{self, Config, ConfigError};

/// Everything that a use case may know of the world.
#[derive(Debug, Clone)]
pub struct Context {
    pub env: Env,
    pub config: Config,
    /// Our own folder: `~/.carryover`, or `CARRYOVER_HOME`.
    pub home: PathBuf,
    /// The directory that the command was given in, resolved.
    pub cwd: PathBuf,
    /// Randomness for ids; fixed in tests.
    pub seed: u128,
}

impl Context {
    /// Finds our own folder, reads the configuration, and lets agents know the stores that it names.
    pub fn open(env: Env, cwd: PathBuf, seed: u128) -> Result<Self, ConfigError> {
        let home = own_folder(&env);
        let config = config::load(&home, &env.home)?;
        Ok(Self::with_config(env, config, home, cwd, seed))
    }

    /// The same with a configuration that was read already.
    pub fn with_config(mut env: Env, config: Config, home: PathBuf, cwd: PathBuf, seed: u128) -> Self {
        for (agent, stores) in &config.stores {
            env.stores.entry(agent.clone()).or_default().extend(stores.iter().cloned());
        }
        env.projects.push(cwd.clone());
        Self { env, config, home, cwd, seed }
    }

    /// The folders in which programs are looked for.
    pub fn search_path(&self) -> Vec<PathBuf> {
        let path = self.env.var("PATH").unwrap_or_default();
        let separator = if self.env.os == carryover_agents::Os::Windows { ';' } else { ':' };
        path.split(separator).filter(|folder| !folder.is_empty()).map(PathBuf::from).collect()
    }

    /// The same, with one more project to look in.
    #[must_use]
    pub fn with_project(&self, project: Option<&Path>) -> Self {
        let mut context = self.clone();
        context.env.projects.extend(project.map(Path::to_owned));
        context
    }

    /// The project that a command is about: the one given, else the working directory.
    pub fn project_or_cwd<'a>(&'a self, given: Option<&'a Path>) -> &'a Path {
        given.unwrap_or(&self.cwd)
    }
}

/// Our own folder: `CARRYOVER_HOME`, else `~/.carryover`.
pub fn own_folder(env: &Env) -> PathBuf {
    env.path_var("CARRYOVER_HOME").unwrap_or_else(|| env.home.join(".carryover"))
}
