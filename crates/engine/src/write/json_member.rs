//! One member of an object, or one element of an array, in somebody else's JSON: put in, found and taken out as text, so
//! that every other byte stays.

use std::borrow::Cow;
use std::fmt;

use carryover_agents::{JsonHolder, JsonMember};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::write::journal::Member;

/// Why a text is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MemberError {
    #[error("it is not a JSON object")]
    NotAnObject,
    #[error("it is not a JSON array")]
    NotAnArray,
    #[error("`{0}` is not there")]
    NoWay(String),
    #[error("`{0}` is there twice")]
    Twice(String),
    #[error("it has a member `{0}` already")]
    Taken(String),
}

/// Where something is, or is to be, in JSON.
pub(crate) struct MemberPlace<'a, Step> {
    pub(crate) path: &'a [Step],
    pub(crate) holder: JsonHolder<&'a str>,
    pub(crate) name: &'a str,
}

impl<'a> From<&'a JsonMember> for MemberPlace<'a, &'static str> {
    fn from(member: &'a JsonMember) -> Self {
        Self { path: member.path, holder: member.holder, name: &member.name }
    }
}

impl<'a> From<&'a Member> for MemberPlace<'a, String> {
    fn from(member: &'a Member) -> Self {
        Self { path: &member.path, holder: member.holder.map(String::as_str), name: &member.name }
    }
}

/// The members of an object in the order in which they stand. Names may be there twice.
struct Members<'t>(Vec<(Cow<'t, str>, &'t str)>);

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                    members.push((name.0, value.get()));
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Collect)
    }
}

/// A text, which is borrowed where nothing in it is escaped.
#[derive(serde::Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

impl<'t> Members<'t> {
    fn parse(text: &'t str) -> Result<Self, MemberError> {
        serde_json::from_str(text).map_err(|_| MemberError::NotAnObject)
    }

    fn find(&self, name: &str) -> Result<Option<usize>, MemberError> {
        find_only((0..self.0.len()).filter(|at| self.0[*at].0 == name), name)
    }
}

/// The one place of a name; each client would read one that is there twice in its own way.
fn find_only(mut found: impl Iterator<Item = usize>, name: &str) -> Result<Option<usize>, MemberError> {
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(MemberError::Twice(name.to_owned())),
        (first, None) => Ok(first),
    }
}

/// What an object or an array holds.
struct Held<'t> {
    /// The text of the whole, and where what it holds begins.
    text: &'t str,
    start: usize,
    /// The values, as they stand there one after another.
    values: Vec<&'t str>,
    /// Which of them has the name.
    found: Option<usize>,
}

impl<'t> Held<'t> {
    fn read<Step: AsRef<str>>(text: &'t str, place: &MemberPlace<'_, Step>) -> Result<Self, MemberError> {
        let holder = find_holder(text, place.path)?;
        let (values, found) = match place.holder {
            JsonHolder::Object => {
                let members = Members::parse(holder)?;
                let found = members.find(place.name)?;
                (members.0.into_iter().map(|(_, value)| value).collect(), found)
            }
            JsonHolder::Texts => find_element(holder, place.name, |element| Some(parse_text(element)?.0))?,
            JsonHolder::Objects(field) => find_element(holder, place.name, |element| {
                let members = Members::parse(element).ok()?;
                let at = members.find(field).ok()??;
                Some(parse_text(members.0[at].1)?.0)
            })?,
        };
        Ok(Self { text, start: offset_in(text, holder) + 1, values, found })
    }

    fn end_of(&self, at: usize) -> usize {
        offset_in(self.text, self.values[at]) + self.values[at].len()
    }
}

fn find_element<'t>(
    array: &'t str,
    name: &str,
    name_of: impl Fn(&'t str) -> Option<Cow<'t, str>>,
) -> Result<(Vec<&'t str>, Option<usize>), MemberError> {
    let elements: Vec<&RawValue> = serde_json::from_str(array).map_err(|_| MemberError::NotAnArray)?;
    let values: Vec<&str> = elements.into_iter().map(RawValue::get).collect();
    let found =
        find_only((0..values.len()).filter(|at| name_of(values[*at]).is_some_and(|known| known == name)), name)?;
    Ok((values, found))
}

fn parse_text(json: &str) -> Option<Text<'_>> {
    serde_json::from_str(json).ok()
}

/// The object or array at the end of a path.
fn find_holder<'t>(text: &'t str, path: &[impl AsRef<str>]) -> Result<&'t str, MemberError> {
    let mut holder = text.trim();
    for name in path.iter().map(AsRef::as_ref) {
        let members = Members::parse(holder)?;
        let at = members.find(name)?.ok_or_else(|| MemberError::NoWay(name.to_owned()))?;
        holder = members.0[at].1;
    }
    Ok(holder)
}

/// Whether, of all members of an object, one alone has this text as its value, and is called so.
pub(crate) fn is_only_referrer(object: &str, name: &str, referred: &str) -> bool {
    let Ok(members) = Members::parse(object.trim()) else { return false };
    let refers = |value: &str| parse_text(value).is_some_and(|text| text.0 == referred);
    let mut referring = members.0.iter().filter(|(_, value)| refers(value)).map(|(known, _)| known);
    referring.next().is_some_and(|known| known == name) && referring.next().is_none()
}

/// Where a part of a text begins in it.
fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

impl<Step: AsRef<str>> MemberPlace<'_, Step> {
    /// The value as it stands there.
    pub(crate) fn find<'t>(&self, text: &'t str) -> Result<Option<&'t str>, MemberError> {
        let held = Held::read(text, self)?;
        Ok(held.found.map(|at| held.values[at]))
    }

    /// The text with a value behind all others.
    pub(crate) fn insert(&self, text: &str, json: &str) -> Result<String, MemberError> {
        let held = Held::read(text, self)?;
        if held.found.is_some() {
            return Err(MemberError::Taken(self.name.to_owned()));
        }
        let (at, comma) = match held.values.len().checked_sub(1) {
            Some(last) => (held.end_of(last), ","),
            None => (held.start, ""),
        };
        let name = match self.holder {
            JsonHolder::Object => format!("{}:", serde_json::Value::from(self.name)),
            JsonHolder::Texts | JsonHolder::Objects(_) => String::new(),
        };
        Ok(format!("{}{comma}{name}{json}{}", &text[..at], &text[at..]))
    }

    /// The text without the value: what `insert` made of it, undone. `None` where it is not there.
    pub(crate) fn remove(&self, text: &str) -> Result<Option<String>, MemberError> {
        let held = Held::read(text, self)?;
        let Some(at) = held.found else { return Ok(None) };
        let (from, to) = match at.checked_sub(1) {
            Some(before) => (held.end_of(before), held.end_of(at)),
            None if held.values.len() > 1 => {
                // The first goes with the comma behind it.
                let end = held.end_of(0);
                (held.start, text[end..].find(',').map_or(end, |comma| end + comma + 1))
            }
            None => (held.start, held.end_of(0)),
        };
        Ok(Some(format!("{}{}", &text[..from], &text[to..])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(holder: JsonHolder) -> MemberPlace<'static, &'static str> {
        MemberPlace { path: &["entries"], holder, name: "b" }
    }

    const OBJECT: JsonHolder = JsonHolder::Object;

    #[test]
    fn a_member_goes_in_behind_all_others_and_out_again() {
        for (text, expected) in [
            (r#"{"version":1,"entries":{}}"#, r#"{"version":1,"entries":{"b":{"x":1}}}"#),
            (r#"{"entries":{"a":[1, "}"]},"z":0}"#, r#"{"entries":{"a":[1, "}"],"b":{"x":1}},"z":0}"#),
            (" {\n \"entries\" : { \"a\" : 1 } }\n", " {\n \"entries\" : { \"a\" : 1,\"b\":{\"x\":1} } }\n"),
            (r#"{"entries":{"ü":"\"b\":"}}"#, r#"{"entries":{"ü":"\"b\":","b":{"x":1}}}"#),
            (r#"{"entries":{ }}"#, r#"{"entries":{"b":{"x":1} }}"#),
        ] {
            let with = place(OBJECT).insert(text, r#"{"x":1}"#).unwrap();
            assert_eq!(with, expected);
            assert_eq!(place(OBJECT).find(&with).unwrap(), Some(r#"{"x":1}"#));
            assert_eq!(place(OBJECT).remove(&with).unwrap().as_deref(), Some(text));
        }
    }

    #[test]
    fn an_element_goes_in_behind_all_others_and_out_again() {
        const BY_ID: JsonHolder = JsonHolder::Objects("id");
        let added = r#"{"id":"b","x":1}"#;
        for (holder, json, text, expected) in [
            (BY_ID, added, r#"{"entries":[],"z":0}"#, r#"{"entries":[{"id":"b","x":1}],"z":0}"#),
            (
                BY_ID,
                added,
                r#"{"entries":[7, "b", {"no":"b"}, {"id":["b"]} ]}"#,
                r#"{"entries":[7, "b", {"no":"b"}, {"id":["b"]},{"id":"b","x":1} ]}"#,
            ),
            (JsonHolder::Texts, r#""b""#, r#"{"entries":["a, ]"]}"#, r#"{"entries":["a, ]","b"]}"#),
            (JsonHolder::Texts, r#""b""#, r#"{"entries":[ ]}"#, r#"{"entries":["b" ]}"#),
        ] {
            let place = place(holder);
            let with = place.insert(text, json).unwrap();
            assert_eq!(with, expected);
            assert_eq!(place.find(&with).unwrap(), Some(json));
            assert_eq!(place.remove(&with).unwrap().as_deref(), Some(text));
            assert_eq!(place.insert(&with, json).unwrap_err(), MemberError::Taken("b".into()));
        }
    }

    #[test]
    fn only_the_member_goes_wherever_it_has_come_to_stand() {
        let without = |text: &str| place(OBJECT).remove(text).unwrap();
        assert_eq!(without(r#"{"entries":{"b":1,"a":"1,2"}}"#).unwrap(), r#"{"entries":{"a":"1,2"}}"#);
        assert_eq!(without(r#"{"entries":{"a":1, "b": 2 , "c":3}}"#).unwrap(), r#"{"entries":{"a":1 , "c":3}}"#);
        assert_eq!(without(r#"{"entries":{"a":1}}"#), None);
        let without = |text: &str| place(JsonHolder::Objects("id")).remove(text).unwrap();
        let grown = r#"{"entries":[{"new":[1,2],"id":"\u0062"} , {"id":"a"}]}"#;
        assert_eq!(without(grown).unwrap(), r#"{"entries":[ {"id":"a"}]}"#);
        assert_eq!(without(r#"{"entries":[{"id":"a"}]}"#), None);
    }

    #[test]
    fn what_is_shared_has_one_referrer_or_others() {
        let alone = |object: &str| is_only_referrer(object, "ours", "p");
        assert!(alone(r#"{"ours":"p"}"#) && alone(r#" {"a":"q","ours":"\u0070","b":["p"]}"#));
        assert!(!alone(r#"{"ours":"p","theirs":"p"}"#) && !alone(r#"{"theirs":"p"}"#));
        assert!(!alone(r#"{"ours":"q"}"#) && !alone(r#"{"ours":"p","ours":"p"}"#) && !alone("[]") && !alone(""));
    }

    #[test]
    fn a_name_is_found_however_it_is_written() {
        assert_eq!(place(OBJECT).find(r#"{"entries":{"\u0062":7}}"#).unwrap(), Some("7"));
        assert_eq!(place(JsonHolder::Texts).find(r#"{"entries":["\u0062"]}"#).unwrap(), Some(r#""\u0062""#));
    }

    #[test]
    fn what_is_not_the_json_that_it_was_is_left_alone() {
        let insert = |text: &str| place(OBJECT).insert(text, "1").unwrap_err();
        assert_eq!(insert(""), MemberError::NotAnObject);
        assert_eq!(insert("[]"), MemberError::NotAnObject);
        assert_eq!(insert(r#"{"entries":[]}"#), MemberError::NotAnObject);
        assert_eq!(insert(r#"{"entries":{"a":1}"#), MemberError::NotAnObject);
        assert_eq!(insert(r#"{"entries":{"a":1}} x"#), MemberError::NotAnObject);
        assert_eq!(insert("{}"), MemberError::NoWay("entries".into()));
        assert_eq!(insert(r#"{"entries":{},"entries":{}}"#), MemberError::Twice("entries".into()));
        assert_eq!(insert(r#"{"entries":{"b":0}}"#), MemberError::Taken("b".into()));
        assert_eq!(place(OBJECT).remove(r#"{"entries":{"b":0,"b":1}}"#).unwrap_err(), MemberError::Twice("b".into()));
        let insert = |text: &str| place(JsonHolder::Texts).insert(text, "1").unwrap_err();
        assert_eq!(insert(r#"{"entries":{}}"#), MemberError::NotAnArray);
        assert_eq!(insert(r#"{"entries":["b","b"]}"#), MemberError::Twice("b".into()));
    }
}
