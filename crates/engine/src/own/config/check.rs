//! From a TOML document to a configuration, key by key.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use carryover_agents::{AGENTS, agent_by_name};
use toml_edit::{DocumentMut, Item, TableLike};

use super::keys::{self, ValueKind, all_keys};
use super::{Config, ConfigError, Place, RemoteConfig};
use crate::share::keys::Recipient;
use crate::share::remote::is_remote_name;

/// Checks a whole document; the first thing that is wrong is told, by whoever knows where it stands.
pub(super) fn check_document(document: &DocumentMut) -> Result<Config, ConfigError> {
    let mut check = Checker { config: Config::default() };
    check.check_table(document.as_table(), "")?;
    Ok(check.config)
}

struct Checker {
    config: Config,
}

impl Checker {
    fn check_table(&mut self, table: &dyn TableLike, prefix: &str) -> Result<(), ConfigError> {
        for (name, item) in table.iter() {
            let dotted = format!("{prefix}{name}");
            let below = format!("{dotted}.");
            let is_table = keys::is_table(&dotted);
            match item.as_table_like() {
                Some(inner) if is_table => self.check_table(inner, &below)?,
                None if is_table => return Err(wrong_type(&dotted, "a table")),
                _ => self.check_value(&dotted, item)?,
            }
        }
        Ok(())
    }

    fn check_value(&mut self, dotted: &str, item: &Item) -> Result<(), ConfigError> {
        let key = keys::find_by_name(dotted).ok_or_else(|| unknown_key(dotted))?;
        let wrong = || wrong_type(dotted, key.kind.expected());
        let number = |least, most| whole_number(item, least..=most).ok_or_else(wrong);
        match key.kind {
            ValueKind::Address => {
                self.add_remote(dotted, item.as_str().filter(|url| is_address(url)).ok_or_else(wrong)?)?;
            }
            ValueKind::Agent => {
                let agent = resolve_agent(dotted, item.as_str().ok_or_else(wrong)?)?;
                self.config.resume.target = Some(agent.to_owned());
            }
            ValueKind::Tokens => {
                let tokens = Some(number(1, u64::MAX)?);
                if dotted == "resume.tokens" {
                    self.config.resume.tokens = tokens;
                } else {
                    self.config.handoff.tokens = tokens;
                }
            }
            ValueKind::Protocol => {
                let known = item.as_str().filter(|word| keys::PROTOCOLS.contains(word));
                self.config.handoff.protocol = Some(known.ok_or_else(wrong)?.to_owned());
            }
            ValueKind::Notification => {
                let known = item.as_str().filter(|word| keys::NOTIFICATIONS.contains(word));
                self.config.watch.notify = Some(known.ok_or_else(wrong)?.to_owned());
            }
            ValueKind::Seconds => {
                self.config.watch.interval = Some(number(1, keys::MAX_INTERVAL_SECONDS)?);
            }
            ValueKind::Days => {
                let days = Some(number(0, keys::MAX_RETENTION_DAYS)?);
                match key.name {
                    "ledger.retention" => self.config.ledger.retention = days,
                    _ => self.config.handoff.max_age = days,
                }
            }
            ValueKind::Count => {
                self.config.conversations.recent_messages = Some(number(0, keys::MAX_COUNT)?);
            }
            ValueKind::Port => {
                let port = item.as_integer().and_then(|port| u16::try_from(port).ok());
                self.config.daemon.port = Some(port.ok_or_else(wrong)?);
            }
            ValueKind::Switch => {
                let on = Some(item.as_bool().ok_or_else(wrong)?);
                match key.name {
                    "ledger.enabled" => self.config.ledger.enabled = on,
                    "handoff.pointers" => self.config.handoff.pointers = on,
                    "conversations.suggest" => self.config.conversations.suggest = on,
                    "resume.into_editor" => self.config.resume.into_editor = on,
                    _ => self.config.resume.launch = on,
                }
            }
            ValueKind::Agents => {
                let names = string_items(item).ok_or_else(wrong)?.into_iter();
                let ids = names.map(|name| resolve_agent(dotted, name).map(str::to_owned));
                let ids = ids.collect::<Result<_, _>>()?;
                if dotted == "agents" {
                    self.config.agents = ids;
                } else {
                    self.config.watch.agents = ids;
                }
            }
            ValueKind::Recipients => {
                let keys = string_items(item).ok_or_else(wrong)?;
                if keys.iter().any(|key| Recipient::parse(key).is_err()) {
                    return Err(wrong());
                }
                self.config.conversations.recipients = keys.into_iter().map(str::to_owned).collect();
            }
            ValueKind::Paths => {
                let paths = string_items(item).ok_or_else(wrong)?.into_iter().map(PathBuf::from).collect();
                let (_, name) = dotted.split_once('.').unwrap_or_default();
                self.config.stores.insert(resolve_agent(dotted, name)?.to_owned(), paths);
            }
        }
        Ok(())
    }

    fn add_remote(&mut self, dotted: &str, url: &str) -> Result<(), ConfigError> {
        let name = dotted.split('.').nth(1).filter(|name| is_remote_name(name));
        let name = name.ok_or_else(|| wrong_type(dotted, "of a name of small letters, digits, - and _"))?;
        self.config.remotes.insert(name.to_owned(), RemoteConfig { url: url.to_owned() });
        Ok(())
    }
}

/// A number that is in a range.
fn whole_number(item: &Item, range: RangeInclusive<u64>) -> Option<u64> {
    item.as_integer().and_then(|number| u64::try_from(number).ok()).filter(|number| range.contains(number))
}

/// Whether something is an address that may stand in a file: what opens the place is not to be in it.
pub fn is_address(url: &str) -> bool {
    let is_plain = !url.is_empty() && !url.chars().any(char::is_control);
    // Paths may hold anything.
    is_plain
        && url.split_once("://").is_none_or(|(_, rest)| {
            let authority = rest.split('/').next().unwrap_or_default();
            let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
            !rest.contains(['?', '#']) && !user.contains(':')
        })
}

pub(super) fn wrong_type(key: &str, expected: &'static str) -> ConfigError {
    ConfigError::WrongType { place: Place::Argument, key: key.to_owned(), expected }
}

fn string_items(item: &Item) -> Option<Vec<&str>> {
    item.as_array()?.iter().map(|value| value.as_str()).collect()
}

/// The id of an agent that was named by id or alias.
pub(super) fn resolve_agent(key: &str, name: &str) -> Result<&'static str, ConfigError> {
    agent_by_name(name).map(|agent| agent.facts().id).ok_or_else(|| {
        let ids = AGENTS.iter().flat_map(|agent| std::iter::once(&agent.facts().id).chain(agent.facts().aliases));
        ConfigError::UnknownAgent {
            place: Place::Argument,
            key: key.to_owned(),
            agent: name.to_owned(),
            suggestion: find_nearest(name, ids.map(|id| (*id).to_owned())),
        }
    })
}

/// The error for a key that is asked for and not known.
pub fn unknown_key(key: &str) -> ConfigError {
    let suggestion = find_nearest(key, all_keys().iter().map(|key| key.name.to_owned()));
    ConfigError::UnknownKey { place: Place::Argument, key: key.to_owned(), suggestion }
}

/// The candidate that is a few typing errors away, if there is one.
pub fn find_nearest(name: &str, candidates: impl Iterator<Item = String>) -> Option<String> {
    let allowed = 1 + name.chars().count() / 4;
    let scored = candidates.map(|candidate| (edit_distance(name, &candidate), candidate));
    scored.filter(|(distance, _)| *distance <= allowed).min().map(|(_, candidate)| candidate)
}

/// How many characters must be put in, taken out or changed (Levenshtein).
pub(crate) fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (column, b) in to.iter().enumerate() {
            let change = diagonal + usize::from(a != *b);
            diagonal = row[column + 1];
            row[column + 1] = change.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}
