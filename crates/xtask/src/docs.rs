//! `cargo xtask docs`: pages that are written from the code, so that they cannot drift from it.

mod agents;
mod cli;
mod configuration;

use std::error::Error;
use std::path::Path;

use crate::say;

/// A page, and what it should hold.
struct Page {
    path: &'static str,
    text: String,
}

/// Writes every page.
pub(crate) fn write(root: &Path) -> Result<(), Box<dyn Error>> {
    for page in pages(root)? {
        let path = root.join(page.path);
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        fs_err::write(path, page.text)?;
    }
    Ok(())
}

/// Fails where a page is not what would be written.
pub(crate) fn check(root: &Path) -> Result<(), Box<dyn Error>> {
    let mut outdated = 0;
    for page in pages(root)? {
        let path = root.join(page.path);
        if !path.is_file() || fs_err::read_to_string(&path)? != page.text {
            say(&format!("{} is not what the code says", page.path));
            outdated += 1;
        }
    }
    if outdated == 0 { Ok(()) } else { Err("run `cargo xtask docs` and commit what it writes".into()) }
}

fn pages(root: &Path) -> Result<Vec<Page>, Box<dyn Error>> {
    let readme = fs_err::read_to_string(root.join("README.md"))?;
    let schema = serde_json::to_string_pretty(&carryover_engine::own::config::schema())?;
    Ok(vec![
        Page { path: "docs/cli.md", text: cli::page()? },
        Page { path: "docs/agents.md", text: agents::page()? },
        Page { path: "docs/configuration.md", text: configuration::page()? },
        Page { path: "docs/schemas/config.schema.json", text: schema + "\n" },
        Page { path: "README.md", text: between_markers(&readme, &agents::table()?)? },
    ])
}

const BEGIN: &str = "<!-- agents: written by `cargo xtask docs` -->\n";
const END: &str = "<!-- /agents -->";

/// Replaces what stands between the markers.
fn between_markers(page: &str, text: &str) -> Result<String, Box<dyn Error>> {
    let start = page.find(BEGIN).map(|at| at + BEGIN.len()).ok_or("README.md has lost its opening marker")?;
    let end = page[start..].find(END).map(|at| at + start).ok_or("README.md has lost its closing marker")?;
    Ok(format!("{}{text}{}", &page[..start], &page[end..]))
}
