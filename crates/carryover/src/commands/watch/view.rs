//! The screen of the watcher: a board gives a frame. Nothing here waits, reads or writes.

use std::path::Path;

use carryover_engine::context::Context;
use carryover_engine::watch::ACTIVE_MINUTES;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr;

use super::board::{Board, Row};
use super::words::{describe_doing, describe_usage, is_at_limit};
use super::{handoff_command, resume_command};
use crate::picker::cells::{plain_line, wrap};
use crate::relative_time::format_ago;
use crate::session_row::{abbreviate_home, cut_to_width};

/// The column in which everything but the agent begins.
const INDENT: usize = 15;

/// From so many columns on, the id is shown, too.
const WIDTH_WITH_ID: usize = 100;

/// From so many columns on, the head says what "active" means.
const WIDTH_WITH_SPAN: usize = 80;

/// The most lines in which a limit is told.
const MAX_LIMIT_LINES: usize = 4;

/// What a frame depends on besides the board; the time in it is that of the frame.
pub(super) struct Surroundings<'a> {
    pub(super) context: &'a Context,
    pub(super) has_colors: bool,
}

pub(super) fn draw(frame: &mut Frame<'_>, board: &Board, surroundings: &Surroundings<'_>) {
    let painter = Painter { surroundings, width: usize::from(frame.area().width) };
    let layout = Layout::vertical([Constraint::Length(2), Constraint::Min(0), Constraint::Length(1)]);
    let [head, body, foot] = layout.areas(frame.area());
    frame.render_widget(Paragraph::new(painter.head_line(board)), head);
    let (lines, hidden) = painter.body_lines(board, usize::from(body.height));
    frame.render_widget(Paragraph::new(lines), body);
    frame.render_widget(Paragraph::new(painter.foot_line(board, hidden)), foot);
}

struct Painter<'a> {
    surroundings: &'a Surroundings<'a>,
    width: usize,
}

impl Painter<'_> {
    fn colored(&self, color: Color) -> Style {
        if self.surroundings.has_colors { Style::new().fg(color) } else { Style::new() }
    }

    fn bad(&self) -> Style {
        self.colored(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// A text and another that stands to the right, for which there is always room.
    fn two_ends<'l>(&self, left: Vec<Span<'l>>, right: String, style: Style) -> Line<'l> {
        let used: usize = left.iter().map(Span::width).sum();
        let gap = self.width.saturating_sub(used + right.width());
        let mut spans = left;
        spans.extend([Span::raw(" ".repeat(gap)), Span::styled(right, style)]);
        Line::from(spans)
    }

    fn head_line<'l>(&self, board: &Board) -> Line<'l> {
        let now = self.surroundings.context.env.now;
        let n_stopped = board.rows.iter().filter(|row| is_at_limit(&row.activity.doing, now)).count();
        let n_active = board.rows.iter().filter(|row| !row.has_ended).count();
        let since =
            if self.width < WIDTH_WITH_SPAN { String::new() } else { format!(" in the last {ACTIVE_MINUTES} min") };
        let mut count = format!("{n_active} active{since}");
        if n_stopped > 0 {
            count = format!("{count}, {n_stopped} at a limit");
        }
        let name = "carryover watch";
        let room = self.width.saturating_sub(name.len() + count.width() + 4);
        let agents = cut_to_width(&board.agents.join(", "), room);
        let left = vec![Span::styled(name, bold()), Span::styled(format!("  {agents}"), dim())];
        self.two_ends(left, count, if n_stopped > 0 { self.bad() } else { Style::new() })
    }

    fn foot_line<'l>(&self, board: &Board, hidden: usize) -> Line<'l> {
        let keys = "q leaves";
        let more = if hidden > 0 { format!(", ↓ {hidden} more") } else { String::new() };
        let above = if board.offset > 0 { format!(", ↑ {} more", board.offset) } else { String::new() };
        let keys = format!("{keys}{above}{more}");
        let room = self.width.saturating_sub(keys.width() + 2);
        let trouble = board.trouble.as_deref().map(|message| format!("warning: {}", plain_line(message)));
        let left = trouble.map(|trouble| Span::styled(cut_to_width(&trouble, room), self.colored(Color::Yellow)));
        match left {
            Some(left) => self.two_ends(vec![left], keys, dim()),
            None => Line::from(Span::styled(keys, dim())),
        }
    }

    /// The lines of the sessions for which there is room, and how many more there are.
    fn body_lines<'l>(&self, board: &Board, height: usize) -> (Vec<Line<'l>>, usize) {
        if board.rows.is_empty() {
            let quiet = format!("no session was active in the last {ACTIVE_MINUTES} min");
            let words = if board.agents.is_empty() { "looking for sessions".to_owned() } else { quiet };
            return (vec![Line::from(Span::styled(words, dim()))], 0);
        }
        let blocks: Vec<Vec<Line<'_>>> =
            board.rows.iter().skip(board.offset).map(|row| self.row_lines(board, row)).collect();
        let n_lines: usize = blocks.iter().map(Vec::len).sum();
        let gap = usize::from(n_lines + blocks.len() <= height);
        let n_blocks = blocks.len();
        let mut lines = Vec::new();
        let mut shown = 0;
        for block in blocks {
            // What does not fit whole is cut only where it is all that there is.
            if shown > 0 && lines.len() + block.len() > height {
                break;
            }
            lines.extend(block);
            lines.extend(std::iter::repeat_n(Line::default(), gap));
            shown += 1;
        }
        (lines, n_blocks - shown)
    }

    fn row_lines<'l>(&self, board: &Board, row: &Row) -> Vec<Line<'l>> {
        let is_stopped = is_at_limit(&row.activity.doing, self.surroundings.context.env.now);
        let mut lines = vec![self.title_line(board, row, is_stopped)];
        lines.extend(self.doing_lines(row, is_stopped));
        if is_stopped {
            lines.push(self.command_line(board, row));
        }
        lines
    }

    /// `! claude-code  ~/calc  Fix the bug                                2 min ago`.
    fn title_line<'l>(&self, board: &Board, row: &Row, is_stopped: bool) -> Line<'l> {
        let activity = &row.activity;
        let age = format_ago(activity.at, self.surroundings.context.env.now);
        let mark = if is_stopped { "! " } else { "  " };
        let agent = format!("{:<width$}", activity.agent, width = INDENT - mark.len());
        let mut left = vec![Span::styled(mark, self.bad()), Span::styled(agent, self.colored(Color::Cyan))];
        if self.width >= WIDTH_WITH_ID {
            let id = plain_line(board.ids.shorten(&activity.session.0));
            left.push(Span::styled(format!("{}  ", cut_to_width(&id, 16)), dim()));
        }
        let used: usize = left.iter().map(Span::width).sum();
        let room = self.width.saturating_sub(used + age.width() + 2);
        let project = self.format_project(activity.project.as_deref());
        let project = format!("{}  ", cut_to_width(&project, room / 2));
        let title = activity.title.as_deref().map_or_else(|| "(no title)".to_owned(), plain_line);
        let title = cut_to_width(&title, room.saturating_sub(project.width()));
        left.extend([Span::styled(project, dim()), Span::styled(title, bold())]);
        self.two_ends(left, age, dim())
    }

    /// What it does in one line, a limit in several: when it ends may stand at the end of the service's words.
    fn doing_lines<'l>(&self, row: &Row, is_stopped: bool) -> Vec<Line<'l>> {
        let activity = &row.activity;
        let env = &self.surroundings.context.env;
        let doing = plain_line(&describe_doing(&activity.doing, activity.at, env));
        let room = self.width.saturating_sub(INDENT);
        let (parts, is_near) = describe_usage(&activity.usage, env.now);
        let usage = join_fitting(&parts, room.saturating_sub(doing.width().min(room * 2 / 3) + 2));
        let gap = if usage.is_empty() { 0 } else { usage.width() + 2 };
        let style = if is_stopped { self.bad() } else { Style::new() };
        let max_lines = if is_stopped { MAX_LIMIT_LINES } else { 1 };
        let left = |text: String| vec![Span::raw(" ".repeat(INDENT)), Span::styled(text, style)];
        let mut texts = wrap(&doing, room.saturating_sub(gap), max_lines).into_iter();
        let first = left(texts.next().unwrap_or_default());
        let first = self.two_ends(first, usage, if is_near { self.colored(Color::Yellow) } else { dim() });
        std::iter::once(first).chain(texts.map(|text| Line::from(left(text)))).collect()
    }

    /// The command that goes on, whole: with a shorter id, or from the edge, where there is no room for it.
    fn command_line<'l>(&self, board: &Board, row: &Row) -> Line<'l> {
        let id = row.activity.session.0.as_str();
        let context = self.surroundings.context;
        let (label, make): (_, &dyn Fn(&str) -> String) = match row.target {
            Some(target) => ("go on: ", &move |id| resume_command(context, id, target)),
            None => ("hand over: ", &|id| handoff_command(context, id)),
        };
        let commands = [make(id), make(board.ids.shorten(id))];
        let places = commands.iter().flat_map(|command| [(INDENT, command), (2, command)]);
        let fits = |(indent, command): &(usize, &String)| indent + label.len() + command.width() <= self.width;
        let (indent, command) = places.into_iter().find(fits).unwrap_or((0, &commands[1]));
        Line::from(vec![
            Span::raw(" ".repeat(indent)),
            Span::styled(label, dim()),
            Span::styled(command.clone(), self.colored(Color::Cyan)),
        ])
    }

    fn format_project(&self, project: Option<&Path>) -> String {
        let project = project.map(|project| abbreviate_home(self.surroundings.context, project));
        project.map_or_else(|| "an unknown project".to_owned(), |project| plain_line(&project))
    }
}

/// The first parts for which there is room.
fn join_fitting(parts: &[String], room: usize) -> String {
    let joined = (0..=parts.len()).rev().map(|count| parts[..count].join(", "));
    joined.into_iter().find(|text| text.width() <= room).unwrap_or_default()
}

fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

#[cfg(test)]
pub(super) mod tests;
