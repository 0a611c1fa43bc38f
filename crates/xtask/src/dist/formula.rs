//! The Homebrew formula.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::archive::sha256_of;
use super::product::{Product, TARGETS};

/// Writes the formula for the archives that lie there; none where nobody told where they will be found.
pub(super) fn write_formula(product: &Product) -> Result<Option<PathBuf>, Box<dyn Error>> {
    let Some(base_url) = &product.base_url else { return Ok(None) };
    // System, then processor, then where the archive is and its checksum.
    let mut systems: BTreeMap<&str, BTreeMap<&str, (String, String)>> = BTreeMap::new();
    for (target, (system, processor)) in TARGETS.iter().filter_map(|target| Some((target, target.brew?))) {
        let name = product.archive_name(target);
        let path = product.folder.join(&name);
        if path.is_file() {
            let place = (format!("{base_url}/{name}"), sha256_of(&path)?);
            systems.entry(system).or_default().insert(processor, place);
        }
    }
    if systems.is_empty() {
        return Ok(None);
    }
    let path = product.folder.join(format!("{}.rb", product.name));
    fs_err::write(&path, render_formula(product, &systems)?)?;
    Ok(Some(path))
}

fn render_formula(
    product: &Product,
    systems: &BTreeMap<&str, BTreeMap<&str, (String, String)>>,
) -> Result<String, Box<dyn Error>> {
    let name = &product.name;
    let mut text = format!("class {} < Formula\n", class_name(name));
    writeln!(text, "  desc {}", quote(&product.description))?;
    writeln!(
        text,
        "  homepage {}",
        quote(product.homepage.as_ref().or(product.base_url.as_ref()).map_or("", |url| url))
    )?;
    writeln!(text, "  version {}", quote(&product.version))?;
    let licences: Vec<String> = product.license.split(" OR ").map(quote).collect();
    writeln!(text, "  license any_of: [{}]", licences.join(", "))?;
    for (system, processors) in systems {
        writeln!(text, "\n  {system} do")?;
        for (processor, (url, sha256)) in processors {
            writeln!(text, "    {processor} do\n      url {}\n      sha256 {}\n    end", quote(url), quote(sha256))?;
        }
        writeln!(text, "  end")?;
    }
    write!(
        text,
        "
  def install
    bin.install \"bin/{name}\"
    man1.install Dir[\"share/man/man1/*.1\"]
    bash_completion.install \"share/bash-completion/completions/{name}\"
    zsh_completion.install \"share/zsh/site-functions/_{name}\"
    fish_completion.install \"share/fish/vendor_completions.d/{name}.fish\"
  end

  test do
    assert_match version.to_s, shell_output(\"#{{bin}}/{name} --version\")
  end
end
"
    )?;
    Ok(text)
}

fn class_name(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Text in Ruby: neither escapes nor interpolation get into it from a fact.
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('#', "\\#"))
}
