//! Estimates tokens without a vocabulary: one walk over the characters, each charged by its class and by what it follows.
//!
//! No character is charged less than nothing, so a longer text never counts less than its beginning, and a text that is
//! cut into pieces at spaces or lines counts about as much as the sum of the pieces.

/// The parts of a token in which rates are given.
const RATE_PER_TOKEN: u64 = 100;

/// The tokens of a text, about as many as the vocabulary `o200k` makes of it.
pub fn estimate(text: &str) -> u64 {
    let mut walk = Walk::default();
    text.chars().map(|character| walk.charge_char(character)).sum::<u64>().div_ceil(RATE_PER_TOKEN)
}

/// The same where it is not more than `limit`; looks no further than needed.
pub fn estimate_within(text: &str, limit: u64) -> Option<u64> {
    let limit = limit.saturating_mul(RATE_PER_TOKEN);
    let mut walk = Walk::default();
    let sum = text.chars().try_fold(0, |sum, character| {
        let sum = sum + walk.charge_char(character);
        (sum <= limit).then_some(sum)
    })?;
    Some(sum.div_ceil(RATE_PER_TOKEN))
}

/// The rates, in hundredths of a token.
///
/// Fitted to counts by `o200k` over pieces of 2,000 tokens of some sixty kinds of text: sources in nine languages, prose
/// and messages in twenty, JSON, logs, tables, paths, and generated hex, base64, numbers and emoji. One half of each
/// kind was fitted, by squares of the relative error and then by its outer percentiles; the other half was measured, and
/// some figures were moved by hand where plain prose or long rows were missed. They lean to counting a few hundredths
/// too much, since a budget that is missed costs more than one that is not used up. The comments say which habit of the
/// vocabulary a figure stands for.
mod rate {
    /// A word takes the space before it into its token.
    pub(super) const WORD_AFTER_SPACE: u64 = 88;
    /// A word may share a token with a single sign before it, as in `.len` and `_id`.
    pub(super) const WORD_AFTER_SIGN: u64 = 14;
    /// A word that has nothing to join, as at the start of a line.
    pub(super) const WORD_ALONE: u64 = 117;
    /// Letters after digits, mostly in hex.
    pub(super) const WORD_AFTER_DIGIT: u64 = 120;
    /// A capital after small letters: `camelCase`, and base64, which needs more than a name does.
    pub(super) const WORD_INSIDE_WORD: u64 = 168;
    /// Further letters by their place in the word: short words are one token, long ones are put together from parts.
    pub(super) const LETTER_TO_THIRD: u64 = 0;
    pub(super) const LETTER_TO_EIGHTH: u64 = 8;
    pub(super) const LETTER_BEYOND: u64 = 65;
    /// The same for Cyrillic, of which the vocabulary knows the short words, too.
    pub(super) const CYRILLIC_WORD: u64 = 106;
    pub(super) const CYRILLIC_TO_EIGHTH: u64 = 10;
    pub(super) const CYRILLIC_BEYOND: u64 = 80;
    pub(super) const CAPITAL_AFTER_CAPITAL: u64 = 26;
    /// The rate of an accent: those of western Europe are better known to the vocabulary than the others.
    pub(super) const WESTERN_ACCENT: u64 = 50;
    pub(super) const OTHER_ACCENT: u64 = 145;
    /// Digits go in threes and, unlike words, leave the space before them to a token of its own.
    pub(super) const THREE_DIGITS: u64 = 100;
    pub(super) const SPACE_BEFORE_DIGIT: u64 = 100;
    /// Signs in a row mostly share a token, equal ones in a long row nearly always.
    pub(super) const SIGN: u64 = 102;
    pub(super) const OTHER_SIGN_IN_ROW: u64 = 7;
    pub(super) const SAME_SIGN_IN_ROW: u64 = 18;
    pub(super) const SAME_SIGN_IN_LONG_ROW: u64 = 1;
    /// A single space joins what follows; of several, all but the last are a token.
    pub(super) const SECOND_SPACE: u64 = 60;
    pub(super) const FURTHER_SPACE: u64 = 1;
    /// The end of a line joins signs before it and other line ends.
    pub(super) const LINE_END: u64 = 130;
    pub(super) const LINE_END_JOINED: u64 = 5;
    /// A drawn line is few tokens, however long.
    pub(super) const DRAWING: u64 = 163;
    pub(super) const SAME_DRAWING: u64 = 4;
}

/// The class of a character, as far as it decides the rate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Small,
    Capital,
    WesternAccent,
    OtherAccent,
    Digit,
    Space,
    LineEnd,
    Sign,
    /// Lines and blocks that boxes are drawn with.
    Drawing,
    Cyrillic,
    /// Any other, by the two rates in [`SCRIPTS`].
    Script(u8, u8),
}

/// Other scripts and blocks of symbols: from, to, and the rates of the first and of the further characters in a row.
const SCRIPTS: [(char, char, u8, u8); 18] = [
    ('\u{80}', '\u{bf}', 70, 70),         // Signs of western Europe.
    ('\u{300}', '\u{36f}', 100, 100),     // Combining accents.
    ('\u{370}', '\u{3ff}', 20, 48),       // Greek.
    ('\u{590}', '\u{5ff}', 35, 49),       // Hebrew.
    ('\u{600}', '\u{6ff}', 47, 38),       // Arabic.
    ('\u{900}', '\u{dff}', 20, 49),       // Devanagari and the other scripts of India.
    ('\u{e00}', '\u{e7f}', 43, 43),       // Thai.
    ('\u{1f00}', '\u{1fff}', 20, 48),     // Greek with old accents.
    ('\u{2000}', '\u{206f}', 70, 70),     // Quotes, dashes and other punctuation.
    ('\u{2070}', '\u{24ff}', 150, 150),   // Arrows and mathematics.
    ('\u{2600}', '\u{27bf}', 171, 171),   // Dingbats.
    ('\u{3000}', '\u{3040}', 54, 54),     // Punctuation of Chinese and Japanese.
    ('\u{3041}', '\u{30ff}', 72, 72),     // Kana.
    ('\u{3400}', '\u{9fff}', 77, 77),     // Han.
    ('\u{ac00}', '\u{d7af}', 130, 43),    // Hangul.
    ('\u{fe00}', '\u{fe0f}', 20, 20),     // What selects the form of an emoji.
    ('\u{ff00}', '\u{ffef}', 54, 54),     // Full-width forms.
    ('\u{1f000}', '\u{1ffff}', 221, 221), // Emoji.
];

/// The rate of a character of a script that is not listed.
const UNKNOWN_SCRIPT_RATE: u8 = 200;

impl CharClass {
    fn from_char(character: char) -> Self {
        match character {
            '\0'..='\x7f' => ASCII_CLASSES[character as usize],
            '\u{c0}'..='\u{ff}' => Self::WesternAccent,
            '\u{100}'..='\u{24f}' => Self::OtherAccent,
            '\u{400}'..='\u{52f}' => Self::Cyrillic,
            // The letters of Vietnamese, with accents that the vocabulary takes as they come.
            '\u{1e00}'..='\u{1eff}' => Self::Small,
            '\u{2500}'..='\u{259f}' => Self::Drawing,
            _ => Self::from_script(character),
        }
    }

    fn from_script(character: char) -> Self {
        let listed = SCRIPTS.iter().find(|(from, to, ..)| (*from..=*to).contains(&character));
        listed.map_or(Self::Script(UNKNOWN_SCRIPT_RATE, UNKNOWN_SCRIPT_RATE), |(.., first, further)| {
            Self::Script(*first, *further)
        })
    }

    const fn from_ascii(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' => Self::Small,
            b'A'..=b'Z' => Self::Capital,
            b'0'..=b'9' => Self::Digit,
            b' ' | b'\t' => Self::Space,
            b'\n' | b'\r' => Self::LineEnd,
            _ => Self::Sign,
        }
    }

    fn is_letter(self) -> bool {
        matches!(self, Self::Small | Self::Capital | Self::WesternAccent | Self::OtherAccent)
    }
}

/// The classes of ASCII, looked up since nearly all of most texts is ASCII.
const ASCII_CLASSES: [CharClass; 128] = {
    let mut classes = [CharClass::Sign; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = CharClass::from_ascii(byte);
        byte += 1;
    }
    classes
};

/// Where the walk stands: what came last, and how it came to it.
struct Walk {
    last: char,
    class: CharClass,
    /// The class before the row of characters of one class that the last one belongs to.
    before: CharClass,
    /// How many characters the row has, or the word for letters.
    row: u32,
}

impl Default for Walk {
    /// A text begins as a line does.
    fn default() -> Self {
        Self { last: '\n', class: CharClass::LineEnd, before: CharClass::LineEnd, row: 1 }
    }
}

impl Walk {
    /// The rate of the next character.
    fn charge_char(&mut self, character: char) -> u64 {
        let class = CharClass::from_char(character);
        if class == CharClass::Small && self.class == CharClass::Small {
            // Most characters are small letters within a word, and they change nothing but its length.
            let rate = self.rate_of_letter(class, false);
            self.row += 1;
            return rate;
        }
        let starts = self.starts_row(class);
        let rate = match class {
            CharClass::Small => self.rate_of_letter(class, starts),
            CharClass::WesternAccent => self.rate_of_letter(class, starts) + rate::WESTERN_ACCENT,
            CharClass::OtherAccent => self.rate_of_letter(class, starts) + rate::OTHER_ACCENT,
            CharClass::Capital if starts => self.rate_of_word(class),
            CharClass::Capital => rate::CAPITAL_AFTER_CAPITAL,
            CharClass::Digit => self.rate_of_digit(),
            CharClass::Space => self.rate_of_space(),
            CharClass::LineEnd => self.rate_of_line_end(),
            CharClass::Sign => self.rate_of_sign(character),
            CharClass::Drawing if character == self.last => rate::SAME_DRAWING,
            CharClass::Drawing => rate::DRAWING,
            CharClass::Cyrillic => self.rate_of_cyrillic(starts),
            CharClass::Script(first, _) if starts => u64::from(first),
            CharClass::Script(_, further) => u64::from(further),
        };
        if starts {
            self.before = self.class;
            self.row = 0;
        }
        self.row += 1;
        self.last = character;
        self.class = class;
        rate
    }

    /// A row ends with its class; a word ends at a capital that follows a small letter, too.
    fn starts_row(&self, class: CharClass) -> bool {
        if class.is_letter() && self.class.is_letter() {
            class == CharClass::Capital && self.class != CharClass::Capital
        } else {
            class != self.class
        }
    }

    fn rate_of_word(&self, class: CharClass) -> u64 {
        match self.class {
            CharClass::Space => rate::WORD_AFTER_SPACE,
            CharClass::Sign if self.row == 1 && self.before != CharClass::Space => rate::WORD_AFTER_SIGN,
            CharClass::Digit if class == CharClass::Capital => rate::WORD_INSIDE_WORD,
            CharClass::Digit => rate::WORD_AFTER_DIGIT,
            last if last.is_letter() => rate::WORD_INSIDE_WORD,
            _ => rate::WORD_ALONE,
        }
    }

    fn rate_of_letter(&self, class: CharClass, starts: bool) -> u64 {
        match self.row {
            _ if starts => self.rate_of_word(class),
            0..=2 => rate::LETTER_TO_THIRD,
            3..=7 => rate::LETTER_TO_EIGHTH,
            _ => rate::LETTER_BEYOND,
        }
    }

    fn rate_of_cyrillic(&self, starts: bool) -> u64 {
        match self.row {
            _ if starts => rate::CYRILLIC_WORD,
            0..=7 => rate::CYRILLIC_TO_EIGHTH,
            _ => rate::CYRILLIC_BEYOND,
        }
    }

    fn rate_of_digit(&self) -> u64 {
        match self.class {
            CharClass::Space => rate::THREE_DIGITS + rate::SPACE_BEFORE_DIGIT,
            CharClass::Digit if !self.row.is_multiple_of(3) => 0,
            _ => rate::THREE_DIGITS,
        }
    }

    fn rate_of_space(&self) -> u64 {
        match (self.class, self.row) {
            (CharClass::Space, 1) => rate::SECOND_SPACE,
            (CharClass::Space, _) => rate::FURTHER_SPACE,
            _ => 0,
        }
    }

    fn rate_of_line_end(&self) -> u64 {
        match self.class {
            CharClass::Sign | CharClass::LineEnd => rate::LINE_END_JOINED,
            _ => rate::LINE_END,
        }
    }

    fn rate_of_sign(&self, sign: char) -> u64 {
        match self.class {
            CharClass::Sign if sign != self.last => rate::OTHER_SIGN_IN_ROW,
            CharClass::Sign if self.row < 4 => rate::SAME_SIGN_IN_ROW,
            CharClass::Sign => rate::SAME_SIGN_IN_LONG_ROW,
            _ => rate::SIGN,
        }
    }
}

#[cfg(test)]
mod tests;
