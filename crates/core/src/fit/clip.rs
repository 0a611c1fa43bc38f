//! Taking out the middle of a text.

/// At most `cap` bytes of a longer text: its beginning, a line that says what is missing, its end.
pub(super) fn cut_middle(text: &str, cap: usize, show: &str) -> String {
    let mark = |bytes: usize| format!("\n[… {bytes} bytes left out; `{show}` shows them …]\n");
    let room = cap.saturating_sub(mark(text.len()).len());
    // The beginning says what was done, the end how it went; the beginning of an output is rarely repeated.
    let head = text.floor_char_boundary(room * 3 / 5);
    let tail = text.ceil_char_boundary(text.len() - (room - room * 3 / 5));
    format!("{}{}{}", &text[..head], mark(tail - head), &text[tail..])
}
