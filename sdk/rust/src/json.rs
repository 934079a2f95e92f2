//! JSON texts: looked into for a member, never printed again.

use std::{borrow::Cow, collections::HashMap};

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::error::Malformed;

/// One level of a JSON object; of a repeated member the last.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Object<'a> {
    #[serde(borrow)]
    members: HashMap<Cow<'a, str>, &'a RawValue>,
}

impl<'a> Object<'a> {
    /// Reads a text that is known to be JSON.
    pub(crate) fn parse(text: &'a str) -> Result<Self, Malformed> {
        serde_json::from_str(text).map_err(|_| Malformed::NotObject)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.members.get(name).copied()
    }
}

/// A value of our own as text.
pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    // A `Value` prints as JSON, so this parses; `null` keeps it total without a panic.
    RawValue::from_string(value.to_string()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
