//! The one question of an installation: which agents. A state, what a key makes of it, and how it is drawn.

use carryover_agents::Facts;
use carryover_engine::install::detection::{Detected, Presence};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::session_row::cut_to_width;

const DIM: Style = Style::new().add_modifier(Modifier::DIM);
const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);

/// An agent that can be chosen.
struct Row {
    facts: &'static Facts,
    /// How it was found.
    detail: String,
    is_checked: bool,
}

pub(super) struct Checklist {
    rows: Vec<Row>,
    cursor: usize,
}

/// What a key asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Stay,
    Done,
    Leave,
    Suspend,
    Redraw,
}

impl Checklist {
    pub(super) fn new(detected: &[Detected], is_checked: impl Fn(&Detected) -> bool) -> Self {
        let row = |found: &Detected| Row {
            facts: found.facts,
            detail: describe_presence(&found.presence),
            is_checked: is_checked(found),
        };
        Self { rows: detected.iter().map(row).collect(), cursor: 0 }
    }

    pub(super) fn checked(&self) -> Vec<&'static Facts> {
        self.rows.iter().filter(|row| row.is_checked).map(|row| row.facts).collect()
    }

    pub(super) fn update(&mut self, key: KeyEvent) -> Step {
        let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let last = self.rows.len().saturating_sub(1);
        match key.code {
            _ if key.kind == KeyEventKind::Release => {}
            KeyCode::Char('c') if with_control => return Step::Leave,
            KeyCode::Char('z') if with_control => return Step::Suspend,
            KeyCode::Char('l') if with_control => return Step::Redraw,
            KeyCode::Char('q') | KeyCode::Esc => return Step::Leave,
            KeyCode::Enter => return Step::Done,
            KeyCode::Up | KeyCode::Char('k') => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.cursor = (self.cursor + 1).min(last),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = last,
            KeyCode::Char(' ') => {
                if let Some(row) = self.rows.get_mut(self.cursor) {
                    row.is_checked = !row.is_checked;
                }
            }
            KeyCode::Char('a') => {
                let is_checked = !self.rows.iter().all(|row| row.is_checked);
                self.rows.iter_mut().for_each(|row| row.is_checked = is_checked);
            }
            _ => {}
        }
        Step::Stay
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>) {
        let layout = Layout::vertical([Constraint::Length(2), Constraint::Min(0), Constraint::Length(2)]);
        let [head, body, foot] = layout.areas(frame.area());
        let width = usize::from(frame.area().width);
        frame.render_widget(Paragraph::new(Line::styled("Which agents shall call carryover?", BOLD)), head);
        let height = usize::from(body.height).max(1);
        let first = self.cursor.saturating_sub(height - 1);
        let rows = self.rows.iter().enumerate().skip(first).take(height);
        let lines: Vec<Line<'_>> = rows.map(|(index, row)| self.row_line(index, row, width)).collect();
        frame.render_widget(Paragraph::new(lines), body);
        let keys = "↑↓ move · space check · a all · enter go on · q leave";
        frame.render_widget(Paragraph::new(vec![Line::default(), Line::styled(keys, DIM)]), foot);
    }

    fn row_line(&self, index: usize, row: &Row, width: usize) -> Line<'_> {
        let mark = if row.is_checked { "[x]" } else { "[ ]" };
        let name_width = self.rows.iter().map(|row| row.facts.name.len()).max().unwrap_or_default();
        let (pointer, style) = if index == self.cursor { (">", BOLD) } else { (" ", Style::new()) };
        let start = format!("{pointer} {mark} {:name_width$}  ", row.facts.name);
        let detail = cut_to_width(&row.detail, width.saturating_sub(start.len()));
        Line::from(vec![Span::styled(start, style), Span::styled(detail, DIM)])
    }
}

fn describe_presence(presence: &Presence) -> String {
    match presence {
        Presence::Client(client) => client.version.map_or_else(|| "found".to_owned(), |version| version.to_string()),
        Presence::Folder(_) => "found by its folder, version not known".to_owned(),
        Presence::Absent => "not found".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use carryover_agents::{Version, all_facts};
    use carryover_engine::client::Client;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    fn checklist() -> Checklist {
        let presences = [
            Presence::Client(Client { program: "/bin/a".into(), version: Some(Version(2, 1, 3)) }),
            Presence::Folder("/home/you/.b".into()),
            Presence::Absent,
        ];
        let found = |(facts, presence)| Detected { facts, presence };
        let detected: Vec<Detected> = all_facts().zip(presences).map(found).collect();
        Checklist::new(&detected, |found| found.presence.is_present())
    }

    fn press(checklist: &mut Checklist, keys: &[KeyCode]) -> Step {
        keys.iter().fold(Step::Stay, |_, key| checklist.update(KeyEvent::from(*key)))
    }

    #[test]
    fn what_is_here_is_checked_beforehand() {
        let mut terminal = Terminal::new(TestBackend::new(60, 8)).unwrap();
        terminal.draw(|frame| checklist().draw(frame)).unwrap();
        insta::assert_snapshot!(terminal.backend(), @r#"
        "Which agents shall call carryover?                          "
        "                                                            "
        "> [x] Claude Code  2.1.3                                    "
        "  [x] Codex CLI    found by its folder, version not known   "
        "  [ ] Gemini CLI   not found                                "
        "                                                            "
        "                                                            "
        "↑↓ move · space check · a all · enter go on · q leave       "
        "#);
    }

    #[test]
    fn keys_move_check_and_end() {
        let names = |checklist: &Checklist| checklist.checked().iter().map(|facts| facts.id).collect::<Vec<_>>();
        let all: Vec<&str> = all_facts().take(3).map(|facts| facts.id).collect();
        let mut checklist = checklist();
        assert_eq!(press(&mut checklist, &[KeyCode::Char(' '), KeyCode::Down, KeyCode::Down]), Step::Stay);
        assert_eq!(names(&checklist), [all[1]]);
        press(&mut checklist, &[KeyCode::Down, KeyCode::Char(' ')]);
        assert_eq!(names(&checklist), [all[1], all[2]], "the last one stays the last");
        press(&mut checklist, &[KeyCode::Char('a')]);
        assert_eq!(names(&checklist), all);
        press(&mut checklist, &[KeyCode::Char('a')]);
        assert_eq!(names(&checklist), Vec::<&str>::new());
        assert_eq!(press(&mut checklist, &[KeyCode::Enter]), Step::Done);
        assert_eq!(press(&mut checklist, &[KeyCode::Char('q')]), Step::Leave);
    }
}
