//! Which files a script writes that a command hands to an interpreter, where that is in plain sight.

use super::effects::{has_ending, is_plain_path};

/// Calls that name a file by their first argument.
const PATH_CALLS: &[&str] = &["Path(", "open("];
/// Calls that write the file which their first argument names.
const WRITE_CALLS: &[&str] = &["writeFileSync(", "writeFile(", "File.write("];
/// Methods that write a file which has a name in the script.
const WRITE_METHODS: &[&str] = &[".write_text(", ".write("];

pub(super) fn is_interpreter(program: &str) -> bool {
    program.starts_with("python") || matches!(program, "node" | "ruby" | "deno" | "bun")
}

/// The files that a script names where it writes them, or gives a name by which it writes them.
pub(super) fn written_files(script: &str) -> Vec<&str> {
    let by_call = WRITE_CALLS.iter().flat_map(|call| first_arguments(script, call)).map(|(_, path)| path);
    let named = PATH_CALLS.iter().flat_map(|call| first_arguments(script, call));
    let by_name = named.filter(|(at, path)| is_written(script, *at, path)).map(|(_, path)| path);
    let mut written: Vec<&str> = by_call.chain(by_name).collect();
    written.sort_unstable();
    written.dedup();
    written
}

/// Whether the file that a call names is written: at once, by its mode, or by the name that it is given.
fn is_written(script: &str, at: usize, path: &str) -> bool {
    let behind = script[at..].split_once(path).map_or("", |(_, behind)| behind);
    let behind = behind.trim_start_matches(['\'', '"']);
    let mode = behind.trim_start_matches([',', ' ']).trim_start_matches("mode=");
    let is_opened =
        mode.len() < behind.len() && mode.starts_with(['\'', '"']) && mode[1..].starts_with(['w', 'a', 'x']);
    let line = script[..at].rsplit('\n').next().unwrap_or_default();
    let name = line.split_once('=').map(|(name, _)| name.trim()).filter(|name| !name.is_empty());
    let is_by_name = |name: &str| WRITE_METHODS.iter().any(|write| script.contains(&format!("{name}{write}")));
    is_opened || behind.starts_with(").write_text(") || name.is_some_and(is_by_name)
}

/// The literal paths that calls have as their first argument, each with where its call stands.
fn first_arguments<'s>(script: &'s str, call: &'static str) -> impl Iterator<Item = (usize, &'s str)> {
    let calls = script.match_indices(call);
    let named = calls.filter_map(|(at, call)| Some((at, leading_literal(&script[at + call.len()..])?)));
    named.filter(|(_, path)| has_ending(path) && is_plain_path(path))
}

/// A string between quotes at the beginning of a text.
fn leading_literal(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let inner = &text[1..];
    inner.find(quote).map(|end| &inner[..end]).filter(|literal| literal.len() < 256)
}

#[cfg(test)]
mod tests {
    use super::written_files;

    #[test]
    fn a_script_writes_what_it_names_where_it_writes() {
        for (script, written) in [
            ("p = Path('src/a.py')\np.write_text(p.read_text().replace('x', 'y'))", vec!["src/a.py"]),
            ("with open(\"a.txt\", \"w\") as f: f.write('x')", vec!["a.txt"]),
            ("print(open('a.txt').read())", vec![]),
            ("a = open('a.txt').read()\nopen('b.txt', 'w').write(a)", vec!["b.txt"]),
            ("a = Path('a.ts')\nb = Path('b.ts')\nb.write_text(a.read_text())", vec!["b.ts"]),
            ("Path('c.md').write_text('x')", vec!["c.md"]),
            ("const t = fs.readFileSync('a.ts'); fs.writeFileSync('b.ts', t)", vec!["b.ts"]),
            ("sys.stdout.write('x.py')", vec![]),
        ] {
            assert_eq!(written_files(script), written, "{script}");
        }
    }
}
