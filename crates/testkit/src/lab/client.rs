//! A real client: where it comes from, in which versions it is run, and how it is driven.

use crate::client::runner::{ListingQuery, PromptRequest, Runner};
use crate::client::{Client, ClientError, Provider, Sandbox, Setup};
use crate::scenario::{Ability, Driver, Tools};

/// Everything that is needed to run a client and to make sessions in it.
pub(crate) struct ClientLab {
    pub(crate) package: Package,
    /// The newest first; an older one only where its format is another.
    pub(crate) pins: &'static [PinnedVersion],
    /// How it runs without a terminal: its environment, settings and arguments.
    pub(crate) runner: &'static dyn Runner,
    /// The calls by which its model has something done.
    pub(crate) tools: &'static dyn Tools,
    /// Begins a session that is made step by step.
    pub(crate) start_driver: StartDriver,
    /// Steps that it can be driven through without a person; the others are left out of its sessions.
    pub(crate) abilities: &'static [Ability],
    /// The name of a usage limit in the API of its model.
    pub(crate) limit_code: &'static str,
    pub(crate) compaction: Compaction,
    /// The folder below the home whose databases hold absolute paths of session files: left alone, the client in a copy of
    /// the home would append to the original.
    pub(crate) path_index: Option<&'static str>,
}

impl ClientLab {
    /// No client of it runs here. Its list of versions is empty, so that whatever goes over versions passes it by.
    pub(crate) const NOT_RUN: Self = Self {
        package: Package::npm("", ""),
        pins: &[],
        runner: &MissingClient,
        tools: &MissingClient,
        start_driver: |_, _, _, _| Err(ClientError::NotRun),
        abilities: &[],
        limit_code: "",
        compaction: Compaction::PLAIN,
        path_index: None,
    };
}

/// Stands in for a client that does not run here, and is never asked.
struct MissingClient;

impl Runner for MissingClient {
    fn env(&self, _sandbox: &Sandbox, _setup: &Setup, _port: u16) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn prompt_args(&self, _sandbox: &Sandbox, _ask: &PromptRequest<'_>) -> Vec<String> {
        Vec::new()
    }

    fn lists_session(&self, _look: &ListingQuery<'_>) -> Result<Option<bool>, ClientError> {
        Err(ClientError::NotRun)
    }
}

impl Tools for MissingClient {}

/// Starts a client in a sandbox, with the model on a port.
pub(crate) type StartDriver =
    for<'a> fn(&'a Client, &'a Sandbox, &'a Setup, u16) -> Result<Box<dyn Driver + 'a>, ClientError>;

/// How the model is asked for a summary when a session is compacted.
pub(crate) struct Compaction {
    /// The element that the summary stands in.
    pub(crate) element: &'static str,
    /// How many requests one compaction takes.
    pub(crate) requests: usize,
}

impl Compaction {
    pub(crate) const PLAIN: Self = Self { element: "summary", requests: 1 };
}

/// Where a package comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registry {
    Npm,
    PyPi,
}

/// How a client is had.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Package {
    pub(crate) registry: Registry,
    pub(crate) name: &'static str,
    pub(crate) binary: &'static str,
    /// A script that the package runs after an install, for machines where npm does not run it.
    pub(crate) install_step: Option<&'static str>,
    /// It needs a newer Node than machines commonly have.
    pub(crate) newer_node: bool,
}

impl Package {
    pub(crate) const fn npm(name: &'static str, binary: &'static str) -> Self {
        Self { registry: Registry::Npm, name, binary, install_step: None, newer_node: false }
    }

    pub(crate) const fn pypi(name: &'static str, binary: &'static str) -> Self {
        Self { registry: Registry::PyPi, ..Self::npm(name, binary) }
    }

    pub(crate) const fn with_install_step(mut self, script: &'static str) -> Self {
        self.install_step = Some(script);
        self
    }

    pub(crate) const fn with_newer_node(mut self) -> Self {
        self.newer_node = true;
        self
    }
}

/// A client in one version.
#[derive(Clone, Copy, Debug)]
pub struct PinnedVersion {
    pub version: &'static str,
    /// Why this version is in the matrix.
    pub why: &'static str,
    /// Models and providers that it is run with besides its own.
    pub variants: &'static [Variant],
}

impl PinnedVersion {
    pub(crate) const fn new(version: &'static str, why: &'static str) -> Self {
        Self { version, why, variants: &[] }
    }
}

/// A model or a provider with which a client behaves otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    pub model: Option<&'static str>,
    pub provider: Provider,
}
