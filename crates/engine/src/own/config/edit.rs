//! Changing one key without touching what stands around it.

use std::path::Path;

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

use super::keys::{self, ValueKind};
use super::{Config, ConfigError, check, file_path, place, read_document};
use crate::own::files;

/// Sets a dotted key. Lists are given with commas; the file is checked as it would be read before it is written.
pub fn set(home: &Path, key: &str, value: &str) -> Result<Config, ConfigError> {
    let path = file_path(home);
    let known = keys::find_by_name(key).ok_or_else(|| check::unknown_key(key))?;
    let value = parse_value(key, known.kind, value)?;
    let mut document = read_document(&path)?;
    let (table, name) = table_for(&mut document, key, &path)?;
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
    let config = check::check_document(&document).map_err(|error| match error.wrong_key() {
        // What is asked for is wrong; any other key was so before.
        Some((wrong, _)) if wrong == key => error,
        _ => place::in_file(&path, error),
    })?;
    write_document(&path, &document)?;
    Ok(config)
}

/// Removes a dotted key, so that its default holds again. What else is wrong in the file stays for its own turn: this is
/// the way out of a file that cannot be used.
pub fn unset(home: &Path, key: &str) -> Result<(), ConfigError> {
    let path = file_path(home);
    let mut document = read_document(&path)?;
    let known = keys::find_by_name(key).is_some();
    let (table, name) = match key.rsplit_once('.') {
        None => (Some(document.as_table_mut() as &mut dyn TableLike), key),
        Some((tables, name)) => (find_table(document.as_table_mut(), tables), name),
    };
    // A table of settings is none itself; what stands in its place is a mistake.
    let is_table = |item: &Item| item.is_table_like() && keys::is_table(key);
    match table {
        Some(table) if table.get(name).is_some_and(|item| !is_table(item)) => {
            table.remove(name);
            write_document(&path, &document)
        }
        _ if known => Ok(()),
        _ => Err(check::unknown_key(key)),
    }
}

/// Removes a remote, with the table that it stands in. Answers whether it was there.
pub fn remove_remote(home: &Path, name: &str) -> Result<bool, ConfigError> {
    const TABLE: &str = "remotes";
    let path = file_path(home);
    let mut document = read_document(&path)?;
    let Some(remotes) = document.get_mut(TABLE).and_then(Item::as_table_like_mut) else { return Ok(false) };
    let was_there = remotes.remove(name).is_some();
    if remotes.is_empty() {
        document.remove(TABLE);
    }
    if was_there {
        write_document(&path, &document)?;
    }
    Ok(was_there)
}

/// The table that a dotted key stands in, made if it is not there, and the key's last name.
fn table_for<'d, 'k>(
    document: &'d mut DocumentMut,
    key: &'k str,
    path: &Path,
) -> Result<(&'d mut dyn TableLike, &'k str), ConfigError> {
    let Some((tables, name)) = key.rsplit_once('.') else {
        return Ok((document.as_table_mut(), key));
    };
    let wrong = || place::in_file(path, check::wrong_type(tables, "a table"));
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in tables.split('.') {
        let item = table.entry(part).or_insert_with(|| Item::Table(implicit_table()));
        table = item.as_table_like_mut().ok_or_else(wrong)?;
    }
    Ok((table, name))
}

/// One that is written only where something stands in it itself.
fn implicit_table() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

/// The table of a dotted name, if it is there.
fn find_table<'d>(mut table: &'d mut dyn TableLike, tables: &str) -> Option<&'d mut dyn TableLike> {
    for part in tables.split('.') {
        table = table.get_mut(part)?.as_table_like_mut()?;
    }
    Some(table)
}

fn parse_value(key: &str, kind: ValueKind, text: &str) -> Result<Value, ConfigError> {
    let wrong = || check::wrong_type(key, kind.expected());
    let words = || text.split(',').map(str::trim).filter(|word| !word.is_empty());
    match kind {
        ValueKind::Agent => Ok(check::resolve_agent(key, text.trim())?.into()),
        ValueKind::Agents => {
            let ids: Result<Vec<&str>, _> = words().map(|word| check::resolve_agent(key, word)).collect();
            Ok(Value::Array(ids?.into_iter().collect::<Array>()))
        }
        ValueKind::Address | ValueKind::Notification | ValueKind::Protocol => Ok(text.trim().into()),
        ValueKind::Paths | ValueKind::Recipients => Ok(Value::Array(words().collect::<Array>())),
        ValueKind::Switch => Ok(text.trim().parse::<bool>().map_err(|_| wrong())?.into()),
        ValueKind::Count | ValueKind::Days | ValueKind::Port | ValueKind::Seconds | ValueKind::Tokens => {
            Ok(text.trim().replace('_', "").parse::<i64>().map_err(|_| wrong())?.into())
        }
    }
}

fn write_document(path: &Path, document: &DocumentMut) -> Result<(), ConfigError> {
    files::write_private(path, document.to_string().as_bytes())
        .map_err(|source| ConfigError::Write { path: path.to_owned(), source })
}
