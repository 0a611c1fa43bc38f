//! The licences of what is built into the program: most ask to be passed on with it.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::product::Product;
use crate::test::cargo_program;

pub(super) const FILE_NAME: &str = "THIRD-PARTY-LICENSES.txt";

/// How the files are called, in whatever case and with whatever ending.
const NAMES: &[&str] = &["license", "licence", "copying", "notice", "unlicense", "copyright"];

/// One text with every package and its licence; texts that several packages share stand there once.
pub(super) fn render_third_party(root: &Path, product: &Product) -> Result<String, Box<dyn Error>> {
    let metadata = read_metadata(root, product)?;
    let mut by_text: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut page = format!("{} is made with these packages, which others wrote.\n\n", product.name);
    for package in linked_packages(&metadata, &product.name)? {
        let name = format!("{} {}", as_text(&package["name"]), as_text(&package["version"]));
        writeln!(page, "{name}: {}", as_text(&package["license"]))?;
        let manifest = Path::new(as_text(&package["manifest_path"]));
        for text in read_licences(manifest.parent().unwrap_or(manifest))? {
            by_text.entry(text).or_default().insert(name.clone());
        }
    }
    for (text, names) in by_text {
        let names: Vec<String> = names.into_iter().collect();
        write!(page, "\n{}\n{}\n\n{}\n", "-".repeat(80), names.join(", "), text.trim_end())?;
    }
    Ok(page)
}

/// The packages of others that end up in the program, by name and version.
fn linked_packages<'a>(metadata: &'a Value, name: &str) -> Result<Vec<&'a Value>, Box<dyn Error>> {
    let packages = as_list(&metadata["packages"]);
    let nodes: BTreeMap<&str, &Value> =
        as_list(&metadata["resolve"]["nodes"]).iter().map(|node| (as_text(&node["id"]), node)).collect();
    let own = packages.iter().find(|package| package["name"] == name && package["source"].is_null());
    let mut open = vec![as_text(&own.ok_or("the program is no package")?["id"])];
    let mut linked = BTreeSet::new();
    while let Some(id) = open.pop() {
        if linked.insert(id) {
            let used = nodes.get(id).map_or(&[][..], |node| as_list(&node["deps"])).iter();
            // A dependency without a kind is an ordinary one; the others are for building and testing.
            let used = used.filter(|used| as_list(&used["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()));
            open.extend(used.map(|used| as_text(&used["pkg"])));
        }
    }
    let foreign = packages.iter().filter(|package| !package["source"].is_null());
    Ok(foreign.filter(|package| linked.contains(as_text(&package["id"]))).collect())
}

fn read_licences(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_file() && NAMES.iter().any(|wanted| name.starts_with(wanted)) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths.iter().filter_map(|path| fs_err::read_to_string(path).ok()).collect())
}

fn read_metadata(root: &Path, product: &Product) -> Result<Value, Box<dyn Error>> {
    let args = ["metadata", "--format-version", "1", "--locked", "--filter-platform", product.target.triple];
    let output = Command::new(cargo_program()).args(args).current_dir(root).output()?;
    if !output.status.success() {
        return Err(format!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn as_text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn as_list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
