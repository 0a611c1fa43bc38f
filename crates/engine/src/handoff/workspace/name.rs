//! The name of a project: by its manifest, else by its folder.

use std::path::Path;

use serde::Deserialize;

use super::read_inside;

const MAX_MANIFEST_BYTES: u64 = 256 << 10;

#[derive(Deserialize)]
struct NamedTable {
    name: String,
}

#[derive(Deserialize)]
struct Manifest {
    package: Option<NamedTable>,
    project: Option<NamedTable>,
}

pub(super) fn for_project(project: &Path) -> Option<String> {
    let read = |name: &str| read_inside(project, &project.join(name), MAX_MANIFEST_BYTES);
    let json = || serde_json::from_str::<NamedTable>(&read("package.json")?).ok();
    let toml = |name: &str| {
        let manifest: Manifest = toml_edit::de::from_str(&read(name)?).ok()?;
        manifest.package.or(manifest.project)
    };
    let module = || {
        let text = read("go.mod")?;
        let module = text.lines().find_map(|line| line.strip_prefix("module "))?;
        module.trim().rsplit('/').next().map(|name| NamedTable { name: name.to_owned() })
    };
    let manifest = toml("Cargo.toml").or_else(json).or_else(|| toml("pyproject.toml")).or_else(module);
    let folder = || project.file_name().map(|name| name.to_string_lossy().into_owned());
    manifest.map(|named| named.name).filter(|name| !name.is_empty()).or_else(folder)
}
