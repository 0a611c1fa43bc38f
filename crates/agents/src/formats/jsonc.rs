//! JSON with comments, as people write settings.

/// Blanks out the comments and the last commas that clients allow in their settings.
pub(crate) fn strip_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut in_string = false;
    while let Some(letter) = letters.next() {
        match (in_string, letter, letters.peek()) {
            (true, '\\', _) => {
                out.push(letter);
                out.extend(letters.next());
                continue;
            }
            (_, '"', _) => in_string = !in_string,
            (false, '/', Some('/')) => {
                while letters.peek().is_some_and(|letter| *letter != '\n') {
                    letters.next();
                }
                continue;
            }
            (false, '/', Some('*')) => {
                let mut before = ' ';
                for letter in letters.by_ref().skip(1) {
                    if before == '*' && letter == '/' {
                        break;
                    }
                    before = letter;
                }
                continue;
            }
            (false, '}' | ']', _) => {
                let end = out.trim_end().len();
                if out[..end].ends_with(',') {
                    out.truncate(end - 1);
                }
            }
            _ => {}
        }
        out.push(letter);
    }
    out
}
