//! Which sentences of the user's are quoted first where room is short. A rank asserts nothing: the words stand as they are.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Words by which a sentence ranks as standing.
struct Phrase {
    words: &'static str,
    place: PhrasePlace,
    weight: u32,
    /// A sentence that ranks by it, and one that does not although it looks alike.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests hold the table by its examples"))]
    example: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests hold the table by its examples"))]
    counter_example: &'static str,
}

/// Where in a sentence the words must stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PhrasePlace {
    /// At its beginning, or behind a comma, `and`, `but` or `please`: a wish, not a tale.
    Begins,
    Anywhere,
}

const fn phrase(
    words: &'static str,
    place: PhrasePlace,
    weight: u32,
    example: &'static str,
    counter_example: &'static str,
) -> Phrase {
    Phrase { words, place, weight, example, counter_example }
}

use PhrasePlace::{Anywhere, Begins};

/// The table. Rules for good weigh most, then choices between two things, then wishes.
#[rustfmt::skip]
const PHRASES: &[Phrase] = &[
    phrase("never", Begins, 3, "Never push to main.", "Nevertheless it works."),
    phrase("never", Anywhere, 1, "It should never push.", "Nevertheless it works."),
    phrase("always", Anywhere, 3, "Always run the linter first.", "The hallways are long."),
    phrase("from now on", Anywhere, 3, "From now on, write in British English.", "It works from now."),
    phrase("must", Anywhere, 3, "It must work offline.", "The mustard is gone."),
    phrase("do not", Begins, 3, "Do not touch the schema.", "I do not see it."),
    phrase("don't", Begins, 3, "and don't add dependencies", "I don't see it"),
    phrase("no longer", Anywhere, 2, "We no longer support Python 3.8.", "It takes no long time."),
    phrase("instead", Anywhere, 2, "Use SQLite instead.", "It is a steadfast tool."),
    phrase("rather than", Anywhere, 2, "a file rather than a database", "I would rather wait."),
    phrase("not", Begins, 2, "not in this release", "It is nothing."),
    phrase("only", Anywhere, 2, "Only change the tests.", "It is lonely."),
    phrase("without", Anywhere, 2, "without any new dependency", "Go with it."),
    phrase("stop", Begins, 2, "Stop adding comments.", "The bus stop is far."),
    phrase("prefer", Anywhere, 2, "I prefer small commits.", "See the preferences."),
    phrase("make sure", Anywhere, 2, "Make sure the tests pass.", "I am sure."),
    phrase("remember", Begins, 2, "Remember to keep the old names.", "I remembered it."),
    phrase("should", Anywhere, 1, "The button should be red.", "A shoulder is not it."),
    phrase("shouldn't", Anywhere, 2, "It shouldn't need a network.", "It should."),
    phrase("let's", Begins, 2, "Let's go with the second one.", "He lets it go."),
    phrase("use", Begins, 2, "Use tabs.", "The users are many."),
    phrase("keep", Begins, 2, "Keep the old API.", "The keeper left."),
    phrase("leave", Begins, 2, "Leave the README alone.", "The leaves fall."),
    phrase("no,", Begins, 2, "No, the other file.", "There is no comma here"),
    phrase("i decided", Anywhere, 3, "I decided on Rust.", "It is undecided."),
    phrase("we decided", Anywhere, 3, "We decided on Rust.", "It is undecided."),
    phrase("nie", Anywhere, 3, "Nie auf main pushen.", "Niemand war da."),
    phrase("niemals", Anywhere, 3, "Das darf niemals passieren.", "Niemand war da."),
    phrase("immer", Anywhere, 3, "Immer zuerst testen.", "Die Zimmer sind leer."),
    phrase("nicht", Begins, 2, "nicht in dieser Version", "Das sehe ich nicht."),
    phrase("bitte nicht", Anywhere, 3, "Das bitte nicht ändern.", "Bitte ändern."),
    phrase("kein", Anywhere, 2, "Es soll kein Server laufen.", "Keineswegs."),
    phrase("keine", Anywhere, 2, "Keine neuen Abhängigkeiten.", "Der kleine Test."),
    phrase("stattdessen", Anywhere, 2, "Nimm stattdessen SQLite.", "Das fand statt."),
    phrase("nur", Anywhere, 2, "Nur die Tests ändern.", "Die Schnur ist lang."),
    phrase("muss", Anywhere, 3, "Es muss offline gehen.", "Die Muschel."),
    phrase("soll", Anywhere, 1, "Der Knopf soll rot sein.", "Die Sollzahl."),
    phrase("jamais", Anywhere, 3, "Ne jamais pousser sur main.", "Le jambon."),
    phrase("toujours", Anywhere, 3, "Toujours lancer les tests.", "Tous les jours."),
    phrase("plutôt", Anywhere, 2, "Utilise plutôt SQLite.", "Plus tôt."),
    phrase("il faut", Anywhere, 3, "Il faut garder l'ancien nom.", "C'est la faute."),
    phrase("seulement", Anywhere, 2, "Change seulement les tests.", "Seul."),
    phrase("nunca", Anywhere, 3, "Nunca toques la rama principal.", "Anuncio."),
    phrase("siempre", Anywhere, 3, "Siempre ejecuta las pruebas.", "Siemens."),
    phrase("en lugar de", Anywhere, 2, "SQLite en lugar de Postgres", "en este lugar"),
    phrase("solo", Anywhere, 2, "Cambia solo las pruebas.", "El suelo."),
    phrase("debe", Anywhere, 3, "Debe funcionar sin red.", "Debajo."),
    phrase("sempre", Anywhere, 3, "Sempre rode os testes.", "Simples."),
    phrase("mai", Begins, 3, "Mai toccare il ramo principale.", "La mail."),
    phrase("nikdy", Anywhere, 3, "Nikdy nepushuj do main.", "Kdy?"),
    phrase("vždy", Anywhere, 3, "Vždy spusť testy.", "Kdy?"),
    phrase("místo", Anywhere, 2, "Použij místo toho SQLite.", "Město."),
    phrase("pouze", Anywhere, 2, "Změň pouze testy.", "Použij to."),
    phrase("musí", Anywhere, 3, "Musí to fungovat offline.", "Muzika."),
    phrase("nechci", Anywhere, 3, "Nechci žádné závislosti.", "Chci to."),
    phrase("никогда", Anywhere, 3, "Никогда не трогай main.", "Когда?"),
    phrase("всегда", Anywhere, 3, "Всегда запускай тесты.", "Когда?"),
    phrase("вместо", Anywhere, 2, "SQLite вместо Postgres", "место"),
    phrase("только", Anywhere, 2, "Меняй только тесты.", "столько"),
    phrase("должно", Anywhere, 3, "Это должно работать без сети.", "долго"),
    phrase("не", Begins, 2, "Не трогай схему.", "Я не вижу."),
    phrase("不要", Anywhere, 3, "不要改动主分支。", "要改。"),
    phrase("必须", Anywhere, 3, "必须离线运行。", "不需要。"),
    phrase("总是", Anywhere, 3, "总是先运行测试。", "总之。"),
    phrase("不用", Anywhere, 2, "不用新的依赖。", "用它。"),
    phrase("只", Anywhere, 1, "只改测试。", "改测试。"),
    phrase("しないで", Anywhere, 3, "mainを変更しないでください。", "してください。"),
    phrase("必ず", Anywhere, 3, "必ずテストを実行する。", "必要です。"),
    phrase("代わりに", Anywhere, 2, "代わりにSQLiteを使う。", "変わりに。"),
    phrase("だけ", Anywhere, 2, "テストだけ変更する。", "たけのこ。"),
    phrase("하지 마", Anywhere, 3, "main을 수정하지 마세요.", "하세요."),
    phrase("항상", Anywhere, 3, "항상 테스트를 실행하세요.", "향상."),
];

/// How much a sentence says about how things are to be; nothing for questions, which settle nothing.
pub(super) fn rank_sentence(sentence: &str) -> u32 {
    if sentence.trim_end().ends_with(['?', '？']) {
        return 0;
    }
    phrases_in(&to_small_letters(sentence)).map(|phrase| phrase.weight).max().unwrap_or(0)
}

/// Whether any sentence of a text can rank: most prompts have none, and need not be taken apart.
pub(super) fn may_rank(text: &str) -> bool {
    words_in(&to_small_letters(text)).next().is_some()
}

fn to_small_letters(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

/// The phrases that stand in a text of small letters.
fn phrases_in(lower: &str) -> impl Iterator<Item = &'static Phrase> {
    let stands = |phrase: &Phrase, start| phrase.place == Anywhere || can_begin_wish(&lower[..start]);
    words_in(lower).filter(move |(phrase, start)| stands(phrase, *start)).map(|(phrase, _)| phrase)
}

/// The same, wherever they must stand, and where they do. All are looked for at once: a session may have many sentences.
fn words_in(lower: &str) -> impl Iterator<Item = (&'static Phrase, usize)> {
    static FINDER: LazyLock<Option<AhoCorasick>> =
        LazyLock::new(|| AhoCorasick::new(PHRASES.iter().map(|phrase| phrase.words)).ok());
    let found = FINDER.iter().flat_map(move |finder| finder.find_overlapping_iter(lower));
    found.filter_map(move |found| {
        let phrase = PHRASES.get(found.pattern().as_usize())?;
        is_word(lower, found.start(), found.end()).then_some((phrase, found.start()))
    })
}

/// Whether a place is not in the middle of a word; scripts without spaces have no such places.
fn is_word(text: &str, start: usize, end: usize) -> bool {
    let is_letter =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() && u32::from(letter) < 0x2e80);
    let (first, last) = (text[start..end].chars().next(), text[start..end].chars().next_back());
    let joins_before = is_letter(first) && is_letter(text[..start].chars().next_back());
    let joins_after = is_letter(last) && is_letter(text[end..].chars().next());
    !joins_before && !joins_after
}

/// Whether what stands before leaves a wish to begin.
fn can_begin_wish(before: &str) -> bool {
    let before = before.trim_end();
    let last = before.rsplit(|letter: char| letter.is_whitespace()).next().unwrap_or_default();
    before.is_empty()
        || before.ends_with([',', ':', ';', '-', '–', '—', '.', '('])
        || matches!(
            last,
            "and" | "but" | "please" | "so" | "also" | "then" | "und" | "aber" | "bitte" | "et" | "y" | "a" | "и"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stands_in(phrase: &Phrase, sentence: &str) -> bool {
        assert!(rank_sentence(sentence) == 0 || may_rank(sentence), "{sentence}");
        phrases_in(&sentence.to_lowercase()).any(|found| found.words == phrase.words)
    }

    #[test]
    fn every_phrase_ranks_its_example_and_not_its_counter_example() {
        for phrase in PHRASES {
            assert!(stands_in(phrase, phrase.example), "{}: {}", phrase.words, phrase.example);
            assert!(!stands_in(phrase, phrase.counter_example), "{}: {}", phrase.words, phrase.counter_example);
        }
    }

    #[test]
    fn questions_and_acknowledgements_rank_as_nothing() {
        for none in ["Should it always be red?", "ok", "thanks, looks good", "danke"] {
            assert_eq!(rank_sentence(none), 0, "{none}");
        }
    }
}
