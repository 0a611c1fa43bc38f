//! One member of an object in somebody else's JSON: put in, found and taken out as text, so that every other byte stays.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Why a text is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MemberError {
    #[error("it is not a JSON object")]
    NotAnObject,
    #[error("`{0}` is not there")]
    NoWay(String),
    #[error("`{0}` is there twice")]
    Twice(String),
    #[error("it has a member `{0}` already")]
    Taken(String),
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
                while let Some((name, value)) = map.next_entry::<Name<'de>, &'de RawValue>()? {
                    members.push((name.0, value.get()));
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Collect)
    }
}

/// A name, which is borrowed where nothing in it is escaped.
#[derive(serde::Deserialize)]
struct Name<'t>(#[serde(borrow)] Cow<'t, str>);

impl<'t> Members<'t> {
    fn parse(text: &'t str) -> Result<Self, MemberError> {
        serde_json::from_str(text).map_err(|_| MemberError::NotAnObject)
    }

    /// The place of a member; each client would read one that is there twice in its own way.
    fn find(&self, name: &str) -> Result<Option<usize>, MemberError> {
        let mut found = (0..self.0.len()).filter(|at| self.0[*at].0 == name);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(MemberError::Twice(name.to_owned())),
            (first, None) => Ok(first),
        }
    }
}

/// The object at the end of a path, and where in the text it begins.
fn find_object<'t>(text: &'t str, path: &[impl AsRef<str>]) -> Result<(&'t str, usize), MemberError> {
    let mut object = text.trim();
    for name in path.iter().map(AsRef::as_ref) {
        let members = Members::parse(object)?;
        let at = members.find(name)?.ok_or_else(|| MemberError::NoWay(name.to_owned()))?;
        object = members.0[at].1;
    }
    Ok((object, offset_in(text, object)))
}

/// Where a part of a text begins in it.
fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// The member's value as it stands there.
pub(crate) fn find_member<'t>(
    text: &'t str,
    path: &[impl AsRef<str>],
    name: &str,
) -> Result<Option<&'t str>, MemberError> {
    let members = Members::parse(find_object(text, path)?.0)?;
    Ok(members.find(name)?.map(|at| members.0[at].1))
}

/// The text with a member behind all others.
pub(crate) fn insert_member(
    text: &str,
    path: &[impl AsRef<str>],
    name: &str,
    json: &str,
) -> Result<String, MemberError> {
    let (object, start) = find_object(text, path)?;
    let members = Members::parse(object)?;
    if members.find(name)?.is_some() {
        return Err(MemberError::Taken(name.to_owned()));
    }
    let name = serde_json::Value::from(name);
    let (at, comma) = match members.0.last() {
        Some((_, value)) => (offset_in(text, value) + value.len(), ","),
        None => (start + 1, ""),
    };
    Ok(format!("{}{comma}{name}:{json}{}", &text[..at], &text[at..]))
}

/// The text without a member: what `insert_member` made of it, undone. `None` where the member is not there.
pub(crate) fn remove_member(text: &str, path: &[impl AsRef<str>], name: &str) -> Result<Option<String>, MemberError> {
    let (object, start) = find_object(text, path)?;
    let members = Members::parse(object)?;
    let Some(at) = members.find(name)? else { return Ok(None) };
    let end_of = |at: usize| offset_in(text, members.0[at].1) + members.0[at].1.len();
    let (from, to) = match at.checked_sub(1) {
        Some(before) => (end_of(before), end_of(at)),
        None if members.0.len() > 1 => {
            // The first goes with the comma behind it.
            let comma = text[end_of(0)..].find(',').map_or(end_of(0), |comma| end_of(0) + comma + 1);
            (start + 1, comma)
        }
        None => (start + 1, end_of(0)),
    };
    Ok(Some(format!("{}{}", &text[..from], &text[to..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &[&str] = &["entries"];

    #[test]
    fn a_member_goes_in_behind_all_others_and_out_again() {
        for (text, expected) in [
            (r#"{"version":1,"entries":{}}"#, r#"{"version":1,"entries":{"b":{"x":1}}}"#),
            (r#"{"entries":{"a":[1, "}"]},"z":0}"#, r#"{"entries":{"a":[1, "}"],"b":{"x":1}},"z":0}"#),
            (" {\n \"entries\" : { \"a\" : 1 } }\n", " {\n \"entries\" : { \"a\" : 1,\"b\":{\"x\":1} } }\n"),
            (r#"{"entries":{"ü":"\"b\":"}}"#, r#"{"entries":{"ü":"\"b\":","b":{"x":1}}}"#),
            (r#"{"entries":{ }}"#, r#"{"entries":{"b":{"x":1} }}"#),
        ] {
            let with = insert_member(text, PATH, "b", r#"{"x":1}"#).unwrap();
            assert_eq!(with, expected);
            assert_eq!(find_member(&with, PATH, "b").unwrap(), Some(r#"{"x":1}"#));
            assert_eq!(remove_member(&with, PATH, "b").unwrap().as_deref(), Some(text));
        }
    }

    #[test]
    fn only_the_member_goes_wherever_it_has_come_to_stand() {
        let without = |text: &str| remove_member(text, PATH, "b").unwrap();
        assert_eq!(without(r#"{"entries":{"b":1,"a":"1,2"}}"#).unwrap(), r#"{"entries":{"a":"1,2"}}"#);
        assert_eq!(without(r#"{"entries":{"a":1, "b": 2 , "c":3}}"#).unwrap(), r#"{"entries":{"a":1 , "c":3}}"#);
        assert_eq!(without(r#"{"entries":{"a":1}}"#), None);
    }

    #[test]
    fn a_name_is_found_however_it_is_written() {
        assert_eq!(find_member(r#"{"entries":{"\u0062":7}}"#, PATH, "b").unwrap(), Some("7"));
    }

    #[test]
    fn what_is_not_the_json_that_it_was_is_left_alone() {
        let insert = |text: &str| insert_member(text, PATH, "b", "1").unwrap_err();
        assert_eq!(insert(""), MemberError::NotAnObject);
        assert_eq!(insert("[]"), MemberError::NotAnObject);
        assert_eq!(insert(r#"{"entries":[]}"#), MemberError::NotAnObject);
        assert_eq!(insert(r#"{"entries":{"a":1}"#), MemberError::NotAnObject);
        assert_eq!(insert(r#"{"entries":{"a":1}} x"#), MemberError::NotAnObject);
        assert_eq!(insert("{}"), MemberError::NoWay("entries".into()));
        assert_eq!(insert(r#"{"entries":{},"entries":{}}"#), MemberError::Twice("entries".into()));
        assert_eq!(insert(r#"{"entries":{"b":0}}"#), MemberError::Taken("b".into()));
        assert_eq!(
            remove_member(r#"{"entries":{"b":0,"b":1}}"#, PATH, "b").unwrap_err(),
            MemberError::Twice("b".into())
        );
    }
}
