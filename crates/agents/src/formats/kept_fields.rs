//! What of a record moves with a session that may be somebody else's: the fields that are named, and nothing else. A client
//! reads more from its records than anybody knows of, and the next version reads more again.

use serde_json::Value;

/// The fields of an object that stay in it.
pub(crate) struct KeptFields {
    /// With whatever they hold.
    pub whole: &'static [&'static str],
    /// With what is named of what they hold.
    pub inside: &'static [(&'static str, Kept)],
}

/// What stays of a field that holds others.
pub(crate) enum Kept {
    Object(&'static KeptFields),
    List(&'static KeptFields),
}

impl KeptFields {
    pub(crate) const fn whole(names: &'static [&'static str]) -> Self {
        Self { whole: names, inside: &[] }
    }

    /// Removes every other field. Whether it is an object at all.
    pub(crate) fn keep(&self, value: &mut Value) -> bool {
        let Value::Object(fields) = value else { return false };
        fields.retain(|name, field| self.whole.contains(&name.as_str()) || self.keep_inside(name, field));
        true
    }

    fn keep_inside(&self, name: &str, field: &mut Value) -> bool {
        let kept = self.inside.iter().find(|(inside, _)| *inside == name);
        kept.is_some_and(|(_, kept)| field.is_null() || kept.keep(field))
    }
}

impl Kept {
    fn keep(&self, value: &mut Value) -> bool {
        match (self, value) {
            (Self::Object(fields), value) => fields.keep(value),
            (Self::List(fields), Value::Array(items)) => {
                items.retain_mut(|item| fields.keep(item));
                true
            }
            (Self::List(_), _) => false,
        }
    }
}

/// Sets a field of an object that has it; whatever else it is stays as it is.
pub(crate) fn replace_field(value: &mut Value, name: &str, field: impl Into<Value>) {
    if let Some(there) = value.get_mut(name) {
        *there = field.into();
    }
}

/// Sets a field of an object, whether it has it or not.
pub(crate) fn set_field(value: &mut Value, name: &str, field: impl Into<Value>) {
    if let Some(fields) = value.as_object_mut() {
        fields.insert(name.to_owned(), field.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CALL: KeptFields = KeptFields::whole(&["name"]);
    const RECORD: KeptFields = KeptFields {
        whole: &["id", "input"],
        inside: &[("calls", Kept::List(&CALL)), ("call", Kept::Object(&CALL)), ("none", Kept::Object(&CALL))],
    };

    #[test]
    fn only_named_fields_stay() {
        let mut record = json!({"id": 1, "grant": 1, "input": {"grant": "as it was"}, "none": null,
            "calls": [{"name": "a", "grant": 1}, "b", 5, null], "call": {"name": "c", "grant": 1}});
        assert!(RECORD.keep(&mut record));
        let kept = json!({"id": 1, "input": {"grant": "as it was"}, "none": null, "calls": [{"name": "a"}],
            "call": {"name": "c"}});
        assert_eq!(record, kept);
    }

    #[test]
    fn what_has_another_form_than_it_should_goes() {
        let mut record = json!({"calls": {"name": "a"}, "call": [1]});
        assert!(RECORD.keep(&mut record));
        assert_eq!(record, json!({}));
        for mut other in [json!(5), json!([]), json!("x"), json!(null)] {
            let before = other.clone();
            assert!(!RECORD.keep(&mut other));
            set_field(&mut other, "id", 1);
            replace_field(&mut other, "id", 1);
            assert_eq!(other, before);
        }
    }
}
