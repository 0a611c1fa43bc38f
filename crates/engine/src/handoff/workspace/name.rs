//! What a project is called: by its manifest, else by its folder.

use std::path::Path;

use serde::Deserialize;

use super::text;

const MAX_MANIFEST: u64 = 256 << 10;

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Manifest {
    package: Option<Named>,
    project: Option<Named>,
}

pub(super) fn of(project: &Path) -> Option<String> {
    let read = |name: &str| text(project, &project.join(name), MAX_MANIFEST);
    let json = || serde_json::from_str::<Named>(&read("package.json")?).ok();
    let toml = |name: &str| {
        let manifest: Manifest = toml_edit::de::from_str(&read(name)?).ok()?;
        manifest.package.or(manifest.project)
    };
    let module = || {
        let text = read("go.mod")?;
        let module = text.lines().find_map(|line| line.strip_prefix("module "))?;
        module.trim().rsplit('/').next().map(|name| Named { name: name.to_owned() })
    };
    let manifest = toml("Cargo.toml").or_else(json).or_else(|| toml("pyproject.toml")).or_else(module);
    let folder = || project.file_name().map(|name| name.to_string_lossy().into_owned());
    manifest.map(|named| named.name).filter(|name| !name.is_empty()).or_else(folder)
}
