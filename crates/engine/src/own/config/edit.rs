//! Changing one key without touching what stands around it.

use std::path::Path;

use toml_edit::{Array, DocumentMut, Item, Table, Value};

use super::keys::{self, Kind};
use super::{Config, ConfigError, check, path, read};
use crate::own::files;

/// Sets a dotted key. Lists are given with commas; the file is checked as it would be read before it is written.
pub fn set(home: &Path, key: &str, value: &str) -> Result<Config, ConfigError> {
    let path = path(home);
    let known = keys::find(key).ok_or_else(|| check::unknown_key(&path, key))?;
    let value = parse(&path, key, known.kind, value)?;
    let mut document = read(&path)?;
    let (table, name) = table_of(&mut document, key, &path)?;
    match table.get_mut(name).and_then(Item::as_value_mut) {
        // The comment behind the old value stays behind the new one.
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(name, Item::Value(value));
        }
    }
    write(&path, &document)
}

/// Removes a dotted key, so that its default holds again.
pub fn unset(home: &Path, key: &str) -> Result<Config, ConfigError> {
    let path = path(home);
    keys::find(key).ok_or_else(|| check::unknown_key(&path, key))?;
    let mut document = read(&path)?;
    let (table, name) = table_of(&mut document, key, &path)?;
    table.remove(name);
    write(&path, &document)
}

/// The table that a dotted key stands in, made if it is not there, and the key's last name.
fn table_of<'d, 'k>(
    document: &'d mut DocumentMut,
    key: &'k str,
    path: &Path,
) -> Result<(&'d mut dyn toml_edit::TableLike, &'k str), ConfigError> {
    let Some((table, name)) = key.rsplit_once('.') else {
        return Ok((document.as_table_mut(), key));
    };
    let item = document.entry(table).or_insert_with(|| Item::Table(Table::new()));
    let wrong = || ConfigError::WrongType { path: path.to_owned(), key: table.to_owned(), expected: "a table" };
    item.as_table_like_mut().map(|table| (table, name)).ok_or_else(wrong)
}

fn parse(path: &Path, key: &str, kind: Kind, text: &str) -> Result<Value, ConfigError> {
    let wrong = || ConfigError::WrongType { path: path.to_owned(), key: key.to_owned(), expected: kind.expected() };
    let words = || text.split(',').map(str::trim).filter(|word| !word.is_empty());
    match kind {
        Kind::Agent => Ok(check::agent(path, key, text.trim())?.into()),
        Kind::Agents => {
            let ids: Result<Vec<&str>, _> = words().map(|word| check::agent(path, key, word)).collect();
            Ok(Value::Array(ids?.into_iter().collect::<Array>()))
        }
        Kind::Protocol => Ok(text.trim().into()),
        Kind::Paths => Ok(Value::Array(words().collect::<Array>())),
        Kind::Seconds | Kind::Tokens => Ok(text.trim().replace('_', "").parse::<i64>().map_err(|_| wrong())?.into()),
    }
}

fn write(path: &Path, document: &DocumentMut) -> Result<Config, ConfigError> {
    let config = check::check(document, path)?;
    files::write_private(path, document.to_string().as_bytes())
        .map_err(|source| ConfigError::Write { path: path.to_owned(), source })?;
    Ok(config)
}
