//! What is typed in the recording, and how long it is looked at.

/// One thing that happens.
pub(super) enum Step {
    /// Words are typed, one after the other.
    Type(&'static str),
    /// A key is pressed, by tmux's name for it (`Enter`, `Down`, `C-l`, `Escape`, `j`), and something is waited for.
    Press(&'static str, Until),
    /// The screen is looked at for so many milliseconds.
    Hold(u32),
    /// What is on the screen now is the picture for those who do not see it move.
    Poster,
}

/// What is waited for after a key.
pub(super) enum Until {
    /// The shell asks for the next command.
    Prompt,
    /// These words are on the screen. For programs that draw: words that were not there before the key.
    Shown(&'static str),
}

/// How big the terminal is.
pub(super) const COLUMNS: usize = 100;
pub(super) const ROWS: usize = 30;

/// The time at which all of it happens: some minutes after the newest bundled session ended.
pub(super) const NOW: &str = "2026-11-15T09:07:40Z";

pub(super) const SCENARIO: &[Step] = &[
    Step::Hold(700),
    Step::Type("carryover"),
    Step::Hold(300),
    Step::Press("Enter", Until::Shown("Then the changelog")),
    Step::Hold(3600),
    Step::Press("Enter", Until::Shown("Copilot in VS Code")),
    Step::Hold(3600),
    Step::Poster,
    Step::Press("Enter", Until::Prompt),
    Step::Hold(4200),
    Step::Press("C-l", Until::Prompt),
    Step::Type("carryover show @last --source codex"),
    Step::Hold(400),
    Step::Press("Enter", Until::Shown("assert add(1, 2) == 3")),
    Step::Hold(4200),
    Step::Press("Space", Until::Shown("Then the changelog, please.")),
    Step::Hold(4200),
    Step::Press("q", Until::Prompt),
    Step::Press("C-l", Until::Prompt),
    Step::Type("carryover undo"),
    Step::Hold(300),
    Step::Press("Enter", Until::Prompt),
    Step::Hold(2800),
];
