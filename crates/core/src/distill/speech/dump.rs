//! Text that was pasted and not said: code, logs, traces, diffs, tables. Judged line by line, dropped by paragraph.

use super::heading;

/// The paragraphs that somebody said. Where nothing but a dump is there, nothing is left.
pub(in crate::distill) fn without(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in crate::plain::lines(text) {
        let trimmed = line.trim_start();
        if let Some(open) = fence {
            if trimmed.starts_with(open) && trimmed.trim_end().trim_matches(['`', '~']).is_empty() {
                fence = None;
            }
            continue;
        }
        if let Some(open) = fence_of(trimmed) {
            flush(&mut paragraph, &mut kept);
            fence = Some(open);
            continue;
        }
        if trimmed.is_empty() {
            flush(&mut paragraph, &mut kept);
            kept.push("");
        } else {
            paragraph.push(line);
        }
    }
    flush(&mut paragraph, &mut kept);
    kept.join("\n")
}

/// The marks of a fence that begins here.
pub(in crate::distill) fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.bytes().take_while(|byte| char::from(*byte) == mark).count();
    let is_inline = mark == '`' && line[length..].contains('`');
    (length >= 3 && !is_inline).then(|| &line[..length])
}

fn flush<'a>(paragraph: &mut Vec<&'a str>, kept: &mut Vec<&'a str>) {
    let dumped = paragraph.iter().filter(|line| is_dump(line)).count();
    let is_pasted = match paragraph.len() {
        0 => false,
        1 => dumped == 1,
        all => dumped * 5 >= all * 3,
    };
    if is_pasted {
        // What leads over to the dump was said.
        kept.extend(paragraph.iter().take_while(|line| !is_dump(line)));
    } else {
        kept.extend(paragraph.iter().filter(|line| !is_certain(line)));
    }
    paragraph.clear();
}

/// Whether a line looks like the output of a program or like code.
pub(in crate::distill) fn is_dump(line: &str) -> bool {
    is_certain(line) || is_code(line.trim())
}

/// Lines that nobody types.
fn is_certain(line: &str) -> bool {
    let text = line.trim();
    // Nearly every line begins with a letter that no dump begins with.
    let may_be = text.bytes().next().is_some_and(|first| FIRSTS.contains(&first.to_ascii_lowercase()));
    may_be && {
        let lower = text[..text.floor_char_boundary(48)].to_ascii_lowercase();
        is_frame(text, &lower) || has_clock(text) || is_marked(text, &lower)
    } || is_ruler(text)
        || (text.len() > 160 && !text.contains(' ') && !text.contains("://"))
}

/// What the lines begin with that are told by their beginning, in lower case.
const FIRSTS: &[u8] = b"aftg#c.din-+@ew[$%|(0123456789";

/// A frame of a stack, in the forms of the common runtimes.
pub(in crate::distill) fn is_frame(text: &str, lower: &str) -> bool {
    (lower.starts_with("at ") && text.ends_with(')') && text.contains('(') && text.contains(':'))
        || (lower.starts_with("at ") && text.contains(".rs:"))
        || (lower.starts_with("file \"") && lower.contains("line "))
        || (text.contains(" line ") && text.starts_with("File \""))
        || lower.starts_with("traceback (most recent")
        || (lower.starts_with("goroutine ") && text.ends_with(':'))
        || (lower.starts_with('#') && text[1..].starts_with(|c: char| c.is_ascii_digit()) && text.contains(" in "))
        || lower.starts_with("caused by: java")
        || lower.starts_with("... ") && lower.ends_with(" more")
}

/// A time of day at the beginning, as logs have it.
fn has_clock(text: &str) -> bool {
    let text = text.trim_start_matches(['[', '(']).as_bytes();
    if !text.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let head = &text[..text.len().min(24)];
    let is_date = head.len() >= 10
        && head[..4].iter().all(u8::is_ascii_digit)
        && matches!(head[4], b'-' | b'/')
        && head[5].is_ascii_digit();
    let is_clock = |at: &[u8]| {
        at.len() >= 8
            && at[0].is_ascii_digit()
            && at[1].is_ascii_digit()
            && at[2] == b':'
            && at[3].is_ascii_digit()
            && at[5] == b':'
    };
    (is_date && head.windows(8).any(is_clock)) || is_clock(head)
}

fn is_marked(text: &str, lower: &str) -> bool {
    const STARTS: &[&str] = &[
        "diff --git",
        "index ",
        "--- a/",
        "+++ b/",
        "@@ -",
        "npm err!",
        "npm warn",
        "error[e",
        "warning: unused",
        "info:",
        "debug:",
        "warn:",
        "trace:",
        "[info]",
        "[debug]",
        "[warn",
        "[error]",
        "[trace]",
        "info ",
        "debug ",
        "error ts",
        "e   ",
        "$ ",
        "% ",
        "#include",
        "#!/",
    ];
    let is_level = |start: &str| lower.starts_with(start) && (!start.ends_with(' ') || text.len() > start.len());
    let shouted = ["INFO ", "DEBUG ", "WARN ", "ERROR ", "TRACE ", "FATAL "];
    let plain =
        STARTS.iter().filter(|start| !matches!(**start, "info " | "debug " | "index ")).any(|start| is_level(start));
    plain
        || shouted.iter().any(|level| text.starts_with(level))
        || (lower.starts_with("index ") && text.contains(".."))
        || is_table(text)
        || text.starts_with("-->")
}

/// A row of a table.
pub(in crate::distill) fn is_table(text: &str) -> bool {
    text.starts_with('|') && text.ends_with('|') && text.len() > 2 && heading::labelled_row(text).is_none()
}

fn is_ruler(text: &str) -> bool {
    text.len() > 4 && text.chars().all(|c| matches!(c, '=' | '-' | '*' | '_' | '^' | '~' | ' ' | '+' | '|'))
}

/// Signs that code is full of.
const IS_SYMBOL: [bool; 256] = {
    let (mut is_symbol, mut at) = ([false; 256], 0);
    let symbols = b"{}();=<>[]|\\\"$";
    while at < symbols.len() {
        is_symbol[symbols[at] as usize] = true;
        at += 1;
    }
    is_symbol
};

/// A line of code in one of the usual languages.
fn is_code(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "import ",
        "from ",
        "def ",
        "class ",
        "fn ",
        "pub ",
        "const ",
        "let ",
        "var ",
        "function ",
        "return ",
        "if (",
        "for (",
        "while (",
        "else ",
        "package ",
        "using ",
        "struct ",
        "enum ",
        "impl ",
        "async ",
        "await ",
        "export ",
        "public ",
        "private ",
        "static ",
        "void ",
        "int ",
        "#[",
        "@",
        "//",
        "/*",
        "* ",
        "<?",
        "</",
        "SELECT ",
        "INSERT ",
        "UPDATE ",
    ];
    let ends = text.ends_with(['{', '}', ';', '(']) || text.ends_with("=>") || text.ends_with("},");
    if ends {
        return true;
    }
    let symbols = text.bytes().filter(|byte| IS_SYMBOL[usize::from(*byte)]).count();
    if symbols == 0 {
        return false;
    }
    // `Static linking (it is smaller)` is said; nobody calls a function with a space before its arguments.
    let is_remarks = || symbols == 2 * text.matches(" (").count() && !text.contains(['=', '{', '<', '"', ';']);
    let begins = || STARTS.iter().any(|start| text.starts_with(start)) && !is_remarks();
    let is_more_than = |letters: usize| symbols * 5 > letters;
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    symbols >= 3 && is_more_than(letters) && is_more_than(letters + others(text))
        || !text.ends_with(['.', '?', '!']) && begins()
}

/// How many letters are not of ASCII.
fn others(text: &str) -> usize {
    if text.is_ascii() { 0 } else { text.chars().filter(|c| !c.is_ascii() && c.is_alphabetic()).count() }
}
