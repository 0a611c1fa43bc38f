//! The picture: all screens below each other on a film that is moved behind a window. It has no script and no font of
//! its own, and where nothing moves it stands at the screen that tells most.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::Recording;
use super::scenario::{COLUMNS, ROWS};
use super::screen::{CellStyle, Color, Row, Run};

/// A cell, in units of the picture.
const CELL_WIDTH: f64 = 8.43;
const CELL_HEIGHT: f64 = 18.0;
const FONT_SIZE: f64 = 14.0;
/// Where the letters stand in a cell.
const BASELINE: f64 = 13.5;

/// The frame around the screen, with a bar above it.
const MARGIN: f64 = 16.0;
const BAR_HEIGHT: f64 = 30.0;

const FOREGROUND: &str = "#d6deeb";
const BACKGROUND: &str = "#111722";

/// The first 16 colours: eight, and the same in bright.
const PALETTE: [&str; 16] = [
    "#3b4252", "#f07178", "#8fce72", "#ecc36a", "#74a8f5", "#c792ea", "#62cfd8", "#d6deeb", "#7a8699", "#ff8b92",
    "#a9e08c", "#ffd98a", "#93bfff", "#ddb3ff", "#86e6ee", "#ffffff",
];

/// A film moves on to the next screen at once.
pub(super) fn render(recording: &Recording) -> String {
    let (width, height) = (as_units(COLUMNS) * CELL_WIDTH, as_units(ROWS) * CELL_HEIGHT);
    let (full_width, full_height) = (width + 2.0 * MARGIN, height + BAR_HEIGHT + MARGIN);
    let mut drawing = Drawing::default();
    let film = drawing.draw_film(recording, height);
    let poster = as_units(recording.poster) * height;
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full_width:.0} {full_height:.0}" width="{full_width:.0}" role="img" aria-label="carryover in a terminal">
<!-- Recorded from the program by `cargo xtask record`. -->
<style>
text{{font:{FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;fill:{FOREGROUND};white-space:pre}}
.o{{font-weight:700}}.i{{font-style:italic}}.u{{text-decoration:underline}}.d{{opacity:.62}}
{colors}#film{{animation:film {seconds:.2}s step-end infinite}}
@keyframes film{{{keyframes}}}
@media (prefers-reduced-motion:reduce){{#film{{animation:none}}}}
</style>
<defs>
{rows}</defs>
<rect x=".5" y=".5" width="{inner_width:.0}" height="{inner_height:.0}" rx="9" fill="{BACKGROUND}" stroke="#3d4759"/>
<circle cx="20" cy="16" r="5" fill="#f07178"/><circle cx="38" cy="16" r="5" fill="#ecc36a"/><circle cx="56" cy="16" r="5" fill="#8fce72"/>
<svg x="{MARGIN}" y="{BAR_HEIGHT}" width="{width:.0}" height="{height:.0}">
<g id="film" transform="translate(0 -{poster:.0})">
{film}</g>
</svg>
</svg>
"##,
        colors = drawing.color_rules(),
        seconds = f64::from(total_millis(recording)) / 1000.0,
        keyframes = render_keyframes(recording, height),
        rows = drawing.definitions,
        inner_width = full_width - 1.0,
        inner_height = full_height - 1.0,
    )
}

fn total_millis(recording: &Recording) -> u32 {
    recording.frames.iter().map(|frame| frame.millis).sum::<u32>().max(1)
}

fn render_keyframes(recording: &Recording, height: f64) -> String {
    let total = f64::from(total_millis(recording));
    let mut rules = String::new();
    let mut elapsed = 0;
    for (index, frame) in recording.frames.iter().enumerate() {
        let percent = f64::from(elapsed) / total * 100.0;
        // A string takes everything.
        write!(rules, "{percent:.2}%{{transform:translateY(-{:.0}px)}}", as_units(index) * height).ok();
        elapsed += frame.millis;
    }
    rules
}

/// The rows that were drawn, each once however often it is shown.
#[derive(Default)]
struct Drawing {
    definitions: String,
    names: HashMap<Row, usize>,
    colors: Vec<u8>,
}

impl Drawing {
    fn draw_film(&mut self, recording: &Recording, height: f64) -> String {
        let mut film = String::new();
        for (index, frame) in recording.frames.iter().enumerate() {
            write!(film, "<g transform=\"translate(0 {:.0})\">", as_units(index) * height).ok();
            for (row, runs) in frame.screen.rows.iter().enumerate().filter(|(_, runs)| !is_blank(runs)) {
                let name = self.define_row(runs);
                write!(film, "<use href=\"#r{name}\" y=\"{:.0}\"/>", as_units(row) * CELL_HEIGHT).ok();
            }
            film.push_str("</g>\n");
        }
        film
    }

    fn define_row(&mut self, runs: &Row) -> usize {
        if let Some(name) = self.names.get(runs) {
            return *name;
        }
        let name = self.names.len();
        self.names.insert(runs.clone(), name);
        write!(self.definitions, "<g id=\"r{name}\">").ok();
        for run in runs {
            self.define_run(run);
        }
        self.definitions.push_str("</g>\n");
        name
    }

    fn define_run(&mut self, run: &Run) {
        let (foreground, background) = shown_colors(run.style);
        if let Some(fill) = background {
            let (x, width) = (as_units(run.column) * CELL_WIDTH, as_units(run.width) * CELL_WIDTH);
            write!(
                self.definitions,
                "<rect x=\"{x:.1}\" width=\"{width:.1}\" height=\"{CELL_HEIGHT}\" fill=\"{fill}\"/>"
            )
            .ok();
        }
        let look = self.look_of(run.style, foreground);
        for (column, width, text) in split_at_gaps(run) {
            // Each piece has its place and its length, so that columns stand below each other in any font.
            let x = as_units(column) * CELL_WIDTH;
            let length = as_units(width) * CELL_WIDTH;
            write!(
                self.definitions,
                "<text x=\"{x:.1}\" y=\"{BASELINE}\" textLength=\"{length:.1}\"{look}>{}</text>",
                escape(&text)
            )
            .ok();
        }
    }

    /// The attributes of a style.
    fn look_of(&mut self, style: CellStyle, foreground: Option<Fill>) -> String {
        let mut classes = Vec::new();
        let marks = [(style.bold, "o"), (style.dim, "d"), (style.italic, "i"), (style.underlined, "u")];
        classes.extend(marks.into_iter().filter(|(is_set, _)| *is_set).map(|(_, class)| class.to_owned()));
        let mut look = String::new();
        match foreground {
            Some(Fill::Palette(index)) => {
                if !self.colors.contains(&index) {
                    self.colors.push(index);
                }
                classes.push(format!("c{index}"));
            }
            // An attribute is weaker than any rule, a style is not.
            Some(Fill::Exact(color)) => look = format!(" style=\"fill:{color}\""),
            None => {}
        }
        if !classes.is_empty() {
            write!(look, " class=\"{}\"", classes.join(" ")).ok();
        }
        look
    }

    fn color_rules(&self) -> String {
        let mut colors = self.colors.clone();
        colors.sort_unstable();
        colors.iter().fold(String::new(), |mut rules, index| {
            writeln!(rules, ".c{index}{{fill:{}}}", PALETTE[usize::from(*index)]).ok();
            rules
        })
    }
}

/// A colour as it is drawn.
enum Fill {
    /// One of the first 16, as a class.
    Palette(u8),
    Exact(String),
}

impl std::fmt::Display for Fill {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Palette(index) => out.write_str(PALETTE[usize::from(*index) % PALETTE.len()]),
            Self::Exact(color) => out.write_str(color),
        }
    }
}

/// The colours of letters and ground; reversed, they change places.
fn shown_colors(style: CellStyle) -> (Option<Fill>, Option<Fill>) {
    let (foreground, background) = (style.foreground.map(fill_for), style.background.map(fill_for));
    if style.reversed {
        let ground = foreground.unwrap_or_else(|| Fill::Exact(FOREGROUND.to_owned()));
        return (Some(background.unwrap_or_else(|| Fill::Exact(BACKGROUND.to_owned()))), Some(ground));
    }
    (foreground, background)
}

fn fill_for(color: Color) -> Fill {
    match color {
        Color::Indexed(index @ 0..=15) => Fill::Palette(index),
        // Six steps of each colour, then 24 of grey.
        Color::Indexed(index @ 16..=231) => {
            let step = |place: u8| [0, 95, 135, 175, 215, 255][usize::from((index - 16) / place % 6)];
            Fill::Exact(format!("#{:02x}{:02x}{:02x}", step(36), step(6), step(1)))
        }
        Color::Indexed(index) => {
            let grey = 8 + 10 * (index - 232);
            Fill::Exact(format!("#{grey:02x}{grey:02x}{grey:02x}"))
        }
        Color::Rgb(red, green, blue) => Fill::Exact(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

/// The pieces of a run between gaps of two blanks and more, with their columns and widths.
fn split_at_gaps(run: &Run) -> Vec<(usize, usize, String)> {
    use unicode_width::UnicodeWidthStr;
    let mut pieces = Vec::new();
    let mut column = run.column;
    for (index, piece) in run.text.split("  ").enumerate() {
        column += if index == 0 { 0 } else { 2 };
        let text = piece.trim();
        if !text.is_empty() {
            let indent = piece.width() - piece.trim_start().width();
            pieces.push((column + indent, text.width(), text.to_owned()));
        }
        column += piece.width();
    }
    pieces
}

fn is_blank(runs: &Row) -> bool {
    runs.iter().all(|run| run.text.trim().is_empty() && run.style.background.is_none() && !run.style.reversed)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A count of cells or screens as a length; no screen is bigger than that.
fn as_units(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
