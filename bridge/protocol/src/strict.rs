//! JSON that is read to the letter: what stands there must be what a value of the type would be written as.
//!
//! Derived readers take more than they write: `{"allow":null}` and `{"allow":{}}` for the word `"allow"`, a list for an
//! object, a number for the name of a variant. Who reads what others wrote takes none of that, so what was read is written
//! again over the text, and each value must be of the same kind. Nothing is copied but member names.

use std::{
    borrow::Cow,
    collections::{BTreeMap, btree_map::Entry},
    fmt,
};

use serde::{
    Deserialize, Serialize,
    de::DeserializeOwned,
    ser::{self, Serializer},
};
use serde_json::value::RawValue;

/// Reads a value, to the letter. Members that the type does not name may be there, and members with a default may not.
pub fn from_slice<T: DeserializeOwned + Serialize>(json: &[u8]) -> Result<T, serde_json::Error> {
    read(json, false)
}

/// Reads a value, to the letter and whole: every member stands there, `null` spelt out, and no other. What is left out or
/// misspelt could mean more than what was to be said.
pub fn whole_from_slice<T: DeserializeOwned + Serialize>(json: &[u8]) -> Result<T, serde_json::Error> {
    read(json, true)
}

fn read<T: DeserializeOwned + Serialize>(json: &[u8], whole: bool) -> Result<T, serde_json::Error> {
    let value: T = serde_json::from_slice(json)?;
    let written: &RawValue = serde_json::from_slice(json)?;
    let read = value.serialize(Over { written, whole });
    read.map(|()| value).map_err(<serde_json::Error as serde::de::Error>::custom)
}

/// The text over which a value is written.
#[derive(Clone, Copy)]
struct Over<'a> {
    written: &'a RawValue,
    /// No member may be missing, and none be there that is not written.
    whole: bool,
}

/// A value stands there in another form than its type has.
#[derive(Debug)]
struct OtherKind;

impl std::error::Error for OtherKind {}

impl fmt::Display for OtherKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value is of another kind than it has to be, or a member is missing or one too many")
    }
}

impl ser::Error for OtherKind {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

type Read = Result<(), OtherKind>;

impl<'a> Over<'a> {
    fn begins(self, with: impl FnOnce(u8) -> bool) -> Read {
        let first = self.written.get().trim_start().bytes().next();
        if first.is_some_and(with) { Ok(()) } else { Err(OtherKind) }
    }

    fn number(self) -> Read {
        self.begins(|first| first == b'-' || first.is_ascii_digit())
    }

    fn text(self) -> Read {
        self.begins(|first| first == b'"')
    }

    fn null(self) -> Read {
        self.begins(|first| first == b'n')
    }

    fn read<T: Deserialize<'a>>(self) -> Result<T, OtherKind> {
        serde_json::from_str(self.written.get()).map_err(|_| OtherKind)
    }

    fn members(self) -> Result<Members<'a>, OtherKind> {
        self.read::<Names<'a>>().map(|Names(names)| Members { names, met: 0, whole: self.whole })
    }

    fn items(self) -> Result<Items<'a>, OtherKind> {
        self.read::<Vec<&RawValue>>().map(|items| Items { items: items.into_iter(), whole: self.whole })
    }

    /// The one member of an object, which is named like a variant.
    fn variant(self, name: &str) -> Result<Self, OtherKind> {
        let Members { names, whole, .. } = self.members()?;
        names.get(name).filter(|_| names.len() == 1).map(|written| Self { written, whole }).ok_or(OtherKind)
    }
}

/// Member names are borrowed from the text where they hold no escapes.
struct Names<'a>(BTreeMap<Cow<'a, str>, &'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Names<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        #[derive(Deserialize)]
        struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Names<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
                let mut names = BTreeMap::new();
                while let Some((Name(name), value)) = members.next_entry::<Name<'de>, &'de RawValue>()? {
                    match names.entry(name) {
                        Entry::Vacant(place) => drop(place.insert(value)),
                        // Of members that the type does not name any one will do; it refused all others.
                        Entry::Occupied(_) => {}
                    }
                }
                Ok(Names(names))
            }
        }

        deserializer.deserialize_map(Visitor)
    }
}

/// An object, over whose members a value's are written.
struct Members<'a> {
    names: BTreeMap<Cow<'a, str>, &'a RawValue>,
    /// How many of them were written over.
    met: usize,
    whole: bool,
}

impl Members<'_> {
    fn member(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Read {
        match self.names.get(name) {
            Some(written) => {
                self.met += 1;
                value.serialize(Over { written, whole: self.whole })
            }
            // What is not there has its default.
            None if !self.whole => Ok(()),
            None => Err(OtherKind),
        }
    }

    /// A member that is not written where it is `null`. It may be spelt out.
    fn unwritten(&mut self, name: &str) -> Read {
        if self.names.contains_key(name) { self.member(name, &()) } else { Ok(()) }
    }

    fn all(self) -> Read {
        if self.whole && self.met < self.names.len() { Err(OtherKind) } else { Ok(()) }
    }
}

/// An array, over whose items a value's are written.
struct Items<'a> {
    items: std::vec::IntoIter<&'a RawValue>,
    whole: bool,
}

impl Items<'_> {
    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Read {
        let written = self.items.next().ok_or(OtherKind)?;
        value.serialize(Over { written, whole: self.whole })
    }

    fn all(mut self) -> Read {
        if self.items.next().is_none() { Ok(()) } else { Err(OtherKind) }
    }
}

macro_rules! kinds {
    ($kind:ident: $($method:ident($type:ty)),+) => {
        $(fn $method(self, _: $type) -> Read { self.$kind() })+
    };
}

impl<'a> Serializer for Over<'a> {
    type Ok = ();
    type Error = OtherKind;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Members<'a>;
    type SerializeStruct = Members<'a>;
    type SerializeStructVariant = Members<'a>;

    kinds!(number: serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64), serialize_u8(u8),
        serialize_u16(u16), serialize_u32(u32), serialize_u64(u64), serialize_f32(f32), serialize_f64(f64));
    kinds!(text: serialize_char(char), serialize_str(&str));

    fn serialize_bool(self, _: bool) -> Read {
        self.begins(|first| first == b't' || first == b'f')
    }

    fn serialize_bytes(self, _: &[u8]) -> Read {
        self.items().map(drop)
    }

    fn serialize_none(self) -> Read {
        self.null()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Read {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Read {
        self.null()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Read {
        self.null()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Read {
        self.text()
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Read {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Read {
        value.serialize(self.variant(variant)?)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>, OtherKind> {
        self.items()
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'a>, OtherKind> {
        self.items()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'a>, OtherKind> {
        self.items()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'a>, OtherKind> {
        self.variant(variant)?.items()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'a>, OtherKind> {
        self.members()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'a>, OtherKind> {
        self.members()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'a>, OtherKind> {
        self.variant(variant)?.members()
    }
}

macro_rules! items {
    ($($trait:ident::$method:ident),+) => {
        $(impl ser::$trait for Items<'_> {
            type Ok = ();
            type Error = OtherKind;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Read {
                self.item(value)
            }

            fn end(self) -> Read {
                self.all()
            }
        })+
    };
}

items!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! members {
    ($($trait:ident),+) => {
        $(impl ser::$trait for Members<'_> {
            type Ok = ();
            type Error = OtherKind;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Read {
                self.member(name, value)
            }

            fn skip_field(&mut self, name: &'static str) -> Read {
                self.unwritten(name)
            }

            fn end(self) -> Read {
                self.all()
            }
        })+
    };
}

members!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = OtherKind;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Read {
        Err(OtherKind)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, _: &T) -> Read {
        Err(OtherKind)
    }

    /// The one way in which derived code and maps of members are written.
    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(&mut self, name: &K, value: &V) -> Read {
        match serde_json::to_value(name) {
            Ok(serde_json::Value::String(name)) => self.member(&name, value),
            Ok(_) | Err(_) => Err(OtherKind),
        }
    }

    fn end(self) -> Read {
        self.all()
    }
}

#[cfg(test)]
mod tests;
