//! The state of the picker: everything that a frame is drawn from.

use std::collections::{BTreeMap, BTreeSet};

use carryover_agents::Env;
use ratatui::layout::{Rect, Size};

use super::filter::Filter;
use super::layout::Panes;
use super::model::{Offer, PickerOutcome, Preview, Row, RowKey};
use super::palette::Palette;

/// The most previews that are kept.
const MAX_PREVIEWS: usize = 64;

/// What was read in the background, or why it was not.
pub(crate) type Answer<T> = Result<T, String>;

/// What the keys are for at the moment.
#[derive(Debug, Clone)]
pub(crate) enum Mode {
    List,
    Offers(Offers),
    Help {
        back: Box<Self>,
    },
    Confirm {
        question: String,
        outcome: PickerOutcome,
    },
    /// Something to read; any key goes on.
    Message(String),
}

/// *Continue in…*
#[derive(Debug, Clone)]
pub(crate) struct Offers {
    pub(crate) session: RowKey,
    pub(crate) fork: bool,
    /// None while they are made.
    pub(crate) answer: Option<Answer<Vec<Offer>>>,
    pub(crate) selected: usize,
}

/// What a picker is opened with.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    /// The project's folder as the user would type it.
    pub(crate) project: String,
    pub(crate) palette: Palette,
    /// Clients are started; else their commands are printed.
    pub(crate) launch: bool,
    pub(crate) env: Env,
    pub(crate) size: Size,
}

pub(crate) struct State {
    pub(crate) setup: Setup,
    /// This project's first, newest first.
    rows: Vec<Row>,
    places: BTreeMap<RowKey, usize>,
    pub(crate) filter: String,
    finder: Filter,
    /// Sessions in whose text the words of the filter were found.
    in_text: BTreeSet<RowKey>,
    /// Indexes of those of them that nothing else makes fit.
    only_in_text: BTreeSet<usize>,
    /// Indexes of the rows that fit the filter, and how many of them are of this project.
    shown: Vec<usize>,
    shown_here: usize,
    selected: usize,
    has_moved: bool,
    /// The first line of the list that is on the screen.
    pub(crate) top: usize,
    pub(crate) is_listing: bool,
    pub(crate) warnings: Vec<String>,
    pub(crate) mode: Mode,
    previews: BTreeMap<RowKey, Answer<Preview>>,
    pub(crate) preview_top: usize,
    pub(crate) is_preview_whole: bool,
}

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListLine {
    Project,
    OtherProjects,
    /// The index among the rows that are shown.
    Row(usize),
}

impl State {
    pub(crate) fn new(setup: Setup) -> Self {
        Self {
            setup,
            rows: Vec::new(),
            places: BTreeMap::new(),
            filter: String::new(),
            finder: Filter::default(),
            in_text: BTreeSet::new(),
            only_in_text: BTreeSet::new(),
            shown: Vec::new(),
            shown_here: 0,
            selected: 0,
            has_moved: false,
            top: 0,
            is_listing: true,
            warnings: Vec::new(),
            mode: Mode::List,
            previews: BTreeMap::new(),
            preview_top: 0,
            is_preview_whole: false,
        }
    }

    pub(crate) fn area(&self) -> Rect {
        Rect::new(0, 0, self.setup.size.width, self.setup.size.height)
    }

    pub(crate) fn panes(&self) -> Panes {
        let panes = Panes::arrange(self.area(), self.is_preview_whole && matches!(self.mode, Mode::List));
        // Offers tell all that matters of their own; below them a preview would take their room.
        if matches!(self.mode, Mode::Offers(_)) { panes.without_lower_preview() } else { panes }
    }

    /// Whether offers are on the screen, or below the help.
    pub(crate) fn is_offering(&self) -> bool {
        match &self.mode {
            Mode::Help { back } => matches!(**back, Mode::Offers(_)),
            mode => matches!(mode, Mode::Offers(_)),
        }
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn n_shown(&self) -> usize {
        self.shown.len()
    }

    pub(crate) fn shown_row(&self, index: usize) -> Option<&Row> {
        self.shown.get(index).map(|row| &self.rows[*row])
    }

    pub(crate) fn selected_index(&self) -> usize {
        self.selected
    }

    pub(crate) fn selected_row(&self) -> Option<&Row> {
        self.shown_row(self.selected)
    }

    pub(crate) fn find_row(&self, key: &RowKey) -> Option<&Row> {
        self.places.get(key).map(|place| &self.rows[*place])
    }

    /// Whether a row fits by what was said in the session, and by nothing that is seen of it.
    pub(crate) fn is_found_in_text(&self, row: &Row) -> bool {
        self.places.get(&row.key).is_some_and(|place| self.only_in_text.contains(place))
    }

    pub(crate) fn preview_of(&self, key: &RowKey) -> Option<&Answer<Preview>> {
        self.previews.get(key)
    }

    /// Takes in rows that are new or better known than before.
    pub(super) fn add_rows(&mut self, rows: Vec<Row>) {
        let kept = self.selected_key();
        for row in rows {
            let Some(place) = self.places.get(&row.key) else {
                self.places.insert(row.key.clone(), self.rows.len());
                self.rows.push(row);
                continue;
            };
            let before = &mut self.rows[*place];
            if before.updated_at == row.updated_at {
                before.learn(row);
            } else {
                self.previews.remove(&row.key);
                *before = row;
            }
        }
        self.sort_rows();
        self.refresh_shown(kept);
    }

    /// Leaves out rows that are no longer there.
    pub(super) fn keep_rows(&mut self, found: &BTreeSet<RowKey>) {
        let kept = self.selected_key();
        let before = self.rows.len();
        self.rows.retain(|row| found.contains(&row.key));
        if self.rows.len() != before {
            self.sort_rows();
            self.refresh_shown(kept);
        }
    }

    fn sort_rows(&mut self) {
        let rank = |row: &Row| (!row.is_here, std::cmp::Reverse(row.updated_at));
        self.rows.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.key.cmp(&b.key)));
        self.finder.forget();
        self.places = self.rows.iter().enumerate().map(|(place, row)| (row.key.clone(), place)).collect();
    }

    /// Changes what was typed. The best match is selected, as nobody has seen the others yet.
    pub(super) fn set_filter(&mut self, filter: String) {
        if filter == self.filter {
            return;
        }
        self.filter = filter;
        self.in_text.clear();
        self.has_moved = false;
        self.select_fitting();
        self.select(0);
        self.has_moved = false;
    }

    /// Adds sessions in whose text the words were found.
    pub(super) fn add_text_matches(&mut self, words: &str, found: impl IntoIterator<Item = RowKey>) {
        if words == self.filter {
            self.in_text.extend(found);
            self.refresh_shown(self.selected_key());
        }
    }

    /// The row that stays selected while others come and go; nobody's until somebody has moved.
    fn selected_key(&self) -> Option<RowKey> {
        self.selected_row().filter(|_| self.has_moved).map(|row| row.key.clone())
    }

    fn refresh_shown(&mut self, kept: Option<RowKey>) {
        self.select_fitting();
        let place = kept.and_then(|key| self.places.get(&key).copied());
        let index = place.and_then(|place| self.shown.iter().position(|row| *row == place));
        self.selected = index.unwrap_or(self.selected).min(self.shown.len().saturating_sub(1));
        if !self.has_moved {
            self.selected = 0;
        }
        self.keep_in_view();
    }

    /// Finds the rows that fit.
    fn select_fitting(&mut self) {
        self.only_in_text.clear();
        if self.filter.trim().is_empty() {
            self.shown = (0..self.rows.len()).collect();
        } else {
            let mut fitting = self.finder.find_rows(&self.filter, &self.rows);
            if !self.in_text.is_empty() {
                let found: BTreeSet<usize> = fitting.iter().map(|(row, _)| *row).collect();
                let in_text = self.in_text.iter().filter_map(|key| self.places.get(key).copied());
                self.only_in_text = in_text.filter(|row| !found.contains(row)).collect();
                fitting.extend(self.only_in_text.iter().map(|row| (*row, 0)));
            }
            // Rows are newest first, and so are those that fit equally well; what is seen to fit stands before what is not.
            fitting.sort_by_key(|(row, score)| {
                (!self.rows[*row].is_here, self.only_in_text.contains(row), std::cmp::Reverse(*score), *row)
            });
            self.shown = fitting.into_iter().map(|(row, _)| row).collect();
        }
        self.shown_here = self.shown.iter().filter(|row| self.rows[**row].is_here).count();
    }

    /// Selects a row by its index among those that are shown.
    pub(super) fn select(&mut self, index: usize) {
        let index = index.min(self.shown.len().saturating_sub(1));
        if index != self.selected {
            self.preview_top = 0;
        }
        self.selected = index;
        self.has_moved = true;
        self.keep_in_view();
    }

    pub(super) fn move_selection(&mut self, steps: isize) {
        self.select(self.selected.saturating_add_signed(steps));
    }

    /// How many lines the list has, headings included.
    pub(crate) fn n_lines(&self) -> usize {
        let others = self.shown.len() - self.shown_here;
        self.shown.len() + usize::from(self.shown_here > 0) + usize::from(others > 0)
    }

    pub(crate) fn line_at(&self, line: usize) -> Option<ListLine> {
        let headed = if self.shown_here > 0 { self.shown_here + 1 } else { 0 };
        match line {
            0 if headed > 0 => Some(ListLine::Project),
            line if line < headed => Some(ListLine::Row(line - 1)),
            line if line >= self.n_lines() => None,
            line if line == headed => Some(ListLine::OtherProjects),
            line => Some(ListLine::Row(line - headed - 1 + self.shown_here)),
        }
    }

    fn selected_line(&self) -> usize {
        let is_other = self.selected >= self.shown_here;
        self.selected + usize::from(self.shown_here > 0) + usize::from(is_other)
    }

    /// Scrolls as far as it takes to see the selected row, and the heading above the first one.
    pub(super) fn keep_in_view(&mut self) {
        let height = usize::from(self.panes().list.height).max(1);
        let line = self.selected_line();
        let is_below_heading = line > 0 && !matches!(self.line_at(line - 1), Some(ListLine::Row(_)));
        let from = if is_below_heading && height > 1 { line - 1 } else { line };
        self.top = self.top.min(from).max((line + 1).saturating_sub(height));
        self.top = self.top.min(self.n_lines().saturating_sub(height));
    }

    pub(super) fn keep_preview(&mut self, key: RowKey, answer: Answer<Preview>) {
        if self.previews.len() >= MAX_PREVIEWS {
            self.previews.clear();
        }
        self.previews.insert(key, answer);
    }
}
