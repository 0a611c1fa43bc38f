//! `cargo xtask docs`: pages that are written from the code, so that they cannot drift from it.

mod agents;
mod cli;
mod configuration;
mod hooks;

use std::error::Error;
use std::path::Path;

use crate::{diagram, write_line};

/// A page, and what it should hold.
struct Page {
    path: &'static str,
    text: String,
}

/// Writes every page.
pub(crate) fn write_pages(root: &Path) -> Result<(), Box<dyn Error>> {
    for page in build_pages(root)? {
        let path = root.join(page.path);
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        fs_err::write(path, page.text)?;
    }
    Ok(())
}

/// Fails where a page is not what would be written, or a picture was drawn from another source.
pub(crate) fn check_pages(root: &Path) -> Result<(), Box<dyn Error>> {
    let mut outdated = 0;
    for page in build_pages(root)? {
        let path = root.join(page.path);
        if !path.is_file() || fs_err::read_to_string(&path)? != page.text {
            write_line(&format!("{} is not what the code says", page.path));
            outdated += 1;
        }
    }
    if outdated > 0 {
        return Err("run `cargo xtask docs` and commit what it writes".into());
    }
    match diagram::find_outdated(root)?.first() {
        None => Ok(()),
        Some(picture) => {
            Err(format!("{} is not drawn from its source: run `cargo xtask diagram`", picture.display()).into())
        }
    }
}

fn build_pages(root: &Path) -> Result<Vec<Page>, Box<dyn Error>> {
    let read = |path: &str| fs_err::read_to_string(root.join(path));
    let schema = serde_json::to_string_pretty(&carryover_engine::own::config::json_schema())?;
    Ok(vec![
        Page { path: "docs/cli.md", text: cli::render_page()? },
        Page { path: "docs/agents.md", text: agents::render_page()? },
        Page { path: "docs/configuration.md", text: configuration::render_page()? },
        Page { path: "docs/schemas/config.schema.json", text: schema + "\n" },
        Page { path: "README.md", text: replace_marked(&read("README.md")?, "agents", &agents::render_table()?)? },
        Page {
            path: "docs/handoffs.md",
            text: replace_marked(&read("docs/handoffs.md")?, "hooks", &hooks::render_table()?)?,
        },
    ])
}

/// Replaces what stands between the markers of that name.
fn replace_marked(page: &str, name: &str, text: &str) -> Result<String, Box<dyn Error>> {
    let (begin, end) = (format!("<!-- {name}: written by `cargo xtask docs` -->\n"), format!("<!-- /{name} -->"));
    let lost = |what: &str| format!("a page has lost the {what} marker of its {name}");
    let start = page.find(&begin).map(|at| at + begin.len()).ok_or_else(|| lost("opening"))?;
    let end = page[start..].find(&end).map(|at| at + start).ok_or_else(|| lost("closing"))?;
    Ok(format!("{}{text}{}", &page[..start], &page[end..]))
}
