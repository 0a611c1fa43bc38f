//! Rules as data: where to look, what to look for, what it is called.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use regex::bytes::{Captures, Match, Regex, RegexBuilder};
use serde::Deserialize;

use super::check;
use super::keywords::{self, Hit, Keywords};
use super::own::{self, OwnRule};
use super::reading::Reading;
use super::table;
use super::value;

/// So much is looked at before a keyword, and so much after it.
const BEFORE_BYTES: usize = 256;
const AFTER_BYTES: usize = 2_048;
/// So much around a match is looked at to judge it, and no keyword is longer.
const MAX_CONTEXT_BYTES: usize = 512;

/// Rules of gitleaks that are not taken: `own.toml` has narrower ones, because transcripts are full of words like `key`,
/// or they are about a file's name.
const REPLACED_RULES: &[&str] =
    &["generic-api-key", "jwt", "private-key", "twilio-api-key", "pkcs12-file", "kubernetes-secret-yaml"];

#[derive(Deserialize)]
struct GitleaksFile {
    allowlist: Allowlist,
    rules: Vec<RuleData>,
}

#[derive(Deserialize)]
struct RuleData {
    id: String,
    regex: Option<String>,
    entropy: Option<f64>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    allowlists: Vec<Allowlist>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Allowlist {
    #[serde(default)]
    regexes: Vec<String>,
    regex_target: Option<String>,
    #[serde(default)]
    stopwords: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
}

/// The condition on which a match is a secret.
enum RuleCheck {
    /// Enough bits per character, and on none of the lists of exceptions.
    Listed {
        entropy: Option<f64>,
        allowlists: Vec<Arc<Exceptions>>,
    },
    Own(check::Check),
}

/// Exceptions of a rule, or of all; compiled when a rule first finds something.
struct Exceptions {
    patterns: Vec<String>,
    compiled: OnceLock<Vec<Regex>>,
    whole: bool,
    stopwords: Vec<String>,
}

/// What has to follow a keyword, so that a pattern can match where it stands.
struct Follow {
    pattern: String,
    compiled: OnceLock<Option<Regex>>,
    /// Which keywords stand in the part of the pattern before it.
    keywords: Vec<bool>,
}

/// What belongs to a name behind its keyword, with the last byte of that: `pass` is the keyword of `passphrase`.
const NAME_END: &str = concat!(
    r"\A(?s:.)(?i:word|wd|wort|phrase|code|wrd|ord|ordet|entials?|[a-z\x80-\xFF]{0,4})",
    r"(?i:[ _.-]?(?:key(?:_base)?|id))?",
);

impl Follow {
    fn new(rest: &str) -> Self {
        // The rest begins with the flags of its pattern.
        let pattern = format!("{NAME_END}{rest}");
        Self { pattern, compiled: OnceLock::new(), keywords: Vec::new() }
    }

    fn fits(&self, text: &[u8]) -> bool {
        let regex = self.compiled.get_or_init(|| compile(&self.pattern));
        regex.as_ref().is_none_or(|regex| regex.is_match(text))
    }
}

/// One rule; its expression is compiled when its keyword is first met.
pub(super) struct Rule {
    kind: String,
    pattern: String,
    compiled: OnceLock<Option<Regex>>,
    check: RuleCheck,
    follow: Option<Follow>,
    before: usize,
    after: usize,
}

impl Rule {
    pub(super) fn from_own(own: OwnRule) -> Self {
        Self {
            follow: own.rest.as_deref().map(Follow::new),
            kind: own.kind,
            pattern: own.pattern,
            compiled: OnceLock::new(),
            check: RuleCheck::Own(own.check),
            before: own.before,
            after: own.after,
        }
    }

    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    /// Farther away, nothing matters to what is found in a window.
    pub(super) fn reach(&self) -> usize {
        self.before + self.after + MAX_CONTEXT_BYTES
    }

    /// Whether its pattern can match in a window: what has to follow a keyword does so, for one of those in it.
    pub(super) fn may_match(&self, text: &str, window: &Range<usize>, hits: &[Hit]) -> bool {
        let Some(follow) = &self.follow else { return true };
        let bytes = &text.as_bytes()[..window.end];
        let from = hits.partition_point(|hit| hit.end < window.start);
        let in_window = hits[from..].iter().take_while(|hit| hit.end <= window.end);
        let mut names = in_window.filter(|hit| hit.start >= window.start && follow.keywords[hit.keyword]);
        names.any(|hit| follow.fits(&bytes[hit.end - 1..]))
    }

    pub(super) fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| compile(&self.pattern)).as_ref()
    }

    /// The secret in a match: the first group that took part, else the whole.
    #[expect(clippy::unused_self, reason = "what is secret in a match is a matter of its rule")]
    pub(super) fn secret_group<'t>(&self, captures: &Captures<'t>) -> Option<Match<'t>> {
        captures.iter().skip(1).flatten().find(|group| !group.is_empty()).or_else(|| captures.get(0))
    }

    /// The part of a match that is the secret, if it is one.
    pub(super) fn find_secret(&self, text: &str, secret: Range<usize>, whole: Range<usize>) -> Option<Range<usize>> {
        if is_in_resource_name(text, whole.start) {
            return None;
        }
        let (entropy, allowlists) = match &self.check {
            RuleCheck::Own(check) => return check.find_secret(text, secret, whole),
            RuleCheck::Listed { entropy, allowlists } => (entropy, allowlists),
        };
        let value = &text[secret.clone()];
        // Without anything around it that names it, a hash is a hash.
        let bare = whole.len() <= secret.len() + 2 && value::is_name_like(value);
        let random = entropy.is_none_or(|least| value::entropy(value) >= least);
        let bytes = &text.as_bytes()[whole];
        let bare = bare || value::is_placeholder(value.trim_matches(['"', '\'', '`']));
        let is_secret = random && !bare && !allowlists.iter().any(|allowed| allowed.allows(value, bytes));
        is_secret.then_some(secret)
    }
}

impl Exceptions {
    fn from_list(list: &Allowlist) -> Option<Self> {
        // Exceptions by the file's name do not apply to text.
        if !list.paths.is_empty() && list.regexes.is_empty() && list.stopwords.is_empty() {
            return None;
        }
        Some(Self {
            patterns: list.regexes.clone(),
            compiled: OnceLock::new(),
            whole: list.regex_target.is_some(),
            stopwords: list.stopwords.clone(),
        })
    }

    fn allows(&self, secret: &str, whole: &[u8]) -> bool {
        let target = if self.whole { whole } else { secret.as_bytes() };
        let lower = secret.to_ascii_lowercase();
        let regexes =
            self.compiled.get_or_init(|| self.patterns.iter().filter_map(|pattern| compile(pattern)).collect());
        regexes.iter().any(|regex| regex.is_match(target))
            || self.stopwords.iter().any(|word| lower.contains(word.as_str()))
    }
}

/// Whether a place is inside of a name like `arn:aws:…:secret:prod/db`, which tells where a secret is and not what.
fn is_in_resource_name(text: &str, at: usize) -> bool {
    let before = &text[text.floor_char_boundary(at.saturating_sub(256))..at];
    let word = before.rsplit([' ', '\t', '\n', '"', '\'', '=']).next().unwrap_or_default();
    word.starts_with("arn:")
}

pub(super) fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).size_limit(64 << 20).dfa_size_limit(1 << 20).build().ok()
}

/// All rules, and the keywords that lead to them.
pub(super) struct RuleSet {
    rules: Vec<Rule>,
    keywords: Keywords,
    /// The rules of each keyword.
    rules_by_keyword: Vec<Vec<usize>>,
    /// Whether a keyword is a word of the headings that tell secrets.
    heading_words: Vec<bool>,
}

impl RuleSet {
    pub(super) fn get() -> &'static Self {
        static SET: LazyLock<RuleSet> = LazyLock::new(RuleSet::load_rules);
        &SET
    }

    fn load_rules() -> Self {
        let mut by_keyword: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut rules = Vec::new();
        for own in own::load_rules() {
            for keyword in &own.keywords {
                by_keyword.entry(keyword.to_ascii_lowercase()).or_default().push(rules.len());
            }
            rules.push(Rule::from_own(own));
        }
        // The file is part of the program, and a test reads it: there is nobody to tell here that it is broken.
        let file: Option<GitleaksFile> = toml_edit::de::from_str(include_str!("gitleaks.toml")).ok();
        let everywhere = file.as_ref().and_then(|file| Exceptions::from_list(&file.allowlist)).map(Arc::new);
        for (data, pattern) in file.iter().flat_map(used_rules) {
            // Two letters stand in every sentence.
            for keyword in data.keywords.iter().filter(|keyword| keyword.len() > 2 || keyword.contains('~')) {
                by_keyword.entry(keyword.to_ascii_lowercase()).or_default().push(rules.len());
            }
            let own = data.allowlists.iter().filter_map(Exceptions::from_list).map(Arc::new);
            rules.push(Rule {
                kind: data.id.clone(),
                pattern: pattern.to_owned(),
                compiled: OnceLock::new(),
                check: RuleCheck::Listed { entropy: data.entropy, allowlists: own.chain(everywhere.clone()).collect() },
                follow: None,
                before: BEFORE_BYTES,
                after: AFTER_BYTES,
            });
        }
        note_names(&mut rules, &by_keyword);
        let keywords = Keywords::new(by_keyword.keys().map(String::as_str));
        let heading_words = by_keyword.keys().map(|word| table::HEADING_WORDS.contains(&word.as_str())).collect();
        Self { rules, keywords, rules_by_keyword: by_keyword.into_values().collect(), heading_words }
    }

    /// Where keywords stand in a text.
    pub(super) fn find_keywords(&self, text: &str) -> Vec<Hit> {
        self.keywords.find_all(text.as_bytes())
    }

    /// Where keywords stand in a reading, of which those in what it was made of are known.
    pub(super) fn find_keywords_again(&self, reading: &Reading<'_>, known: &[Hit]) -> Vec<Hit> {
        let text = reading.text.as_bytes();
        let mut hits = Vec::new();
        let mut at = 0;
        for kept in reading.kept_pieces() {
            // What begins here does not belong to the piece alone.
            self.keywords.add_beginning(text, at..kept.to.start, &mut hits);
            let first = known.partition_point(|hit| hit.end <= kept.from.start);
            let inside = known[first..].iter().take_while(|hit| hit.end <= kept.from.end);
            let inside = inside.filter(|hit| hit.start >= kept.from.start);
            let moved = |at: usize| at - kept.from.start + kept.to.start;
            hits.extend(inside.map(|hit| Hit { start: moved(hit.start), end: moved(hit.end), ..*hit }));
            // A keyword may begin in the piece, and go on behind it.
            at = kept.to.end.saturating_sub(self.keywords.max_bytes()).max(kept.to.start);
            let mut crossing = Vec::new();
            self.keywords.add_beginning(text, at..kept.to.end, &mut crossing);
            hits.extend(crossing.into_iter().filter(|hit| hit.end > kept.to.end));
            at = kept.to.end;
        }
        self.keywords.add_beginning(text, at..text.len(), &mut hits);
        keywords::sort_hits(&mut hits);
        hits
    }

    /// Where words of headings stand, among the keywords of a text.
    pub(super) fn heading_places(&self, hits: &[Hit]) -> Vec<usize> {
        let mut places: Vec<usize> =
            hits.iter().filter(|hit| self.heading_words[hit.keyword]).map(|hit| hit.start).collect();
        places.sort_unstable();
        places
    }

    /// Where each rule has to look; windows of one rule do not overlap.
    pub(super) fn find_windows(&self, text: &str, hits: &[Hit]) -> Vec<(&Rule, Vec<Range<usize>>)> {
        let mut windows: Vec<Vec<Range<usize>>> = vec![Vec::new(); self.rules.len()];
        for hit in hits {
            for index in &self.rules_by_keyword[hit.keyword] {
                let rule = &self.rules[*index];
                let start = hit.start.saturating_sub(rule.before);
                let end = (hit.end + rule.after).min(text.len());
                let windows = &mut windows[*index];
                match windows.last_mut() {
                    Some(last) if start <= last.end => last.end = last.end.max(end),
                    _ => windows.push(start..end),
                }
            }
        }
        self.rules.iter().zip(windows).filter(|(_, windows)| !windows.is_empty()).collect()
    }

    #[cfg(test)]
    pub(super) fn all_rules(&self) -> &[Rule] {
        &self.rules
    }
}

/// Notes which keywords stand in the names that rules begin with: their own, and all that tell passwords and keys.
fn note_names(rules: &mut [Rule], by_keyword: &BTreeMap<String, Vec<usize>>) {
    for (index, rule) in rules.iter_mut().enumerate() {
        if let Some(follow) = &mut rule.follow {
            let is_name = |of: &Vec<usize>| of.contains(&index) || of.iter().any(|rule| *rule < own::NAME_RULES);
            follow.keywords = by_keyword.values().map(is_name).collect();
        }
    }
}

fn used_rules(file: &GitleaksFile) -> impl Iterator<Item = (&RuleData, &str)> {
    let wanted = |rule: &&RuleData| !REPLACED_RULES.contains(&rule.id.as_str());
    file.rules.iter().filter(wanted).filter_map(|rule| rule.regex.as_deref().map(|pattern| (rule, pattern)))
}
