//! [`Limited`]: wraps the parts of a serde reader, and bounds nesting and memory.
//!
//! Postcard bounds neither. A chain of nested actions takes one byte for each level, and a list of
//! short actions takes a hundred times the memory of its bytes.

use std::cell::Cell;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::PACKAGE_BYTES_MAX;

/// Most enums inside each other. Actions nest the deepest, and files have at most 64 levels.
const DEPTH_MAX: u32 = 96;
/// Most bytes that values in lists and enums may take. A list that grows takes three times its
/// size.
const MEMORY_BYTES_MAX: usize = 2 * PACKAGE_BYTES_MAX;
/// Memory that is counted for an enum, which may be in a box of its own.
const ENUM_BYTES: usize = 64;

/// What is left of each limit.
pub(super) struct Limits {
    depth_left: Cell<u32>,
    bytes_left: Cell<usize>,
    exceeded: Cell<Option<&'static str>>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth_left: Cell::new(DEPTH_MAX),
            bytes_left: Cell::new(MEMORY_BYTES_MAX),
            exceeded: Cell::new(None),
        }
    }
}

impl Limits {
    /// Returns what was too much, if anything was. Postcard's errors have no text for it.
    pub(super) const fn exceeded(&self) -> Option<&'static str> {
        self.exceeded.get()
    }

    fn take_bytes<E: Error>(&self, bytes: usize) -> Result<(), E> {
        let left = self.bytes_left.get().checked_sub(bytes);
        left.map(|left| self.bytes_left.set(left))
            .ok_or_else(|| self.refusal("it takes too much memory; send a smaller plan"))
    }

    fn enter<E: Error>(&self) -> Result<(), E> {
        self.take_bytes(ENUM_BYTES)?;
        let left = self.depth_left.get().checked_sub(1);
        left.map(|left| self.depth_left.set(left))
            .ok_or_else(|| self.refusal("its actions are nested too deeply; send a simpler plan"))
    }

    fn leave(&self) {
        self.depth_left.set(self.depth_left.get() + 1);
    }

    fn refusal<E: Error>(&self, reason: &'static str) -> E {
        self.exceeded.set(Some(reason));
        E::custom(reason)
    }
}

/// A part of a reader, with the limits that it obeys.
pub(super) struct Limited<'l, T> {
    inner: T,
    limits: &'l Limits,
}

impl<'l, T> Limited<'l, T> {
    pub(super) const fn new(inner: T, limits: &'l Limits) -> Self {
        Self { inner, limits }
    }

    /// Another part under the same limits.
    const fn around<U>(&self, inner: U) -> Limited<'l, U> {
        Limited { inner, limits: self.limits }
    }
}

macro_rules! forward_reads {
    ($($method:ident($($argument:ident: $kind:ty),*);)*) => {
        $(fn $method<V: Visitor<'de>>(self, $($argument: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
            let visitor = self.around(visitor);
            self.inner.$method($($argument,)* visitor)
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Limited<'_, D> {
    type Error = D::Error;

    forward_reads! {
        deserialize_any();
        deserialize_bool();
        deserialize_i8();
        deserialize_i16();
        deserialize_i32();
        deserialize_i64();
        deserialize_i128();
        deserialize_u8();
        deserialize_u16();
        deserialize_u32();
        deserialize_u64();
        deserialize_u128();
        deserialize_f32();
        deserialize_f64();
        deserialize_char();
        deserialize_str();
        deserialize_string();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_option();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq();
        deserialize_tuple(length: usize);
        deserialize_tuple_struct(name: &'static str, length: usize);
        deserialize_map();
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_identifier();
        deserialize_ignored_any();
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.limits.enter()?;
        let limits = self.limits;
        let visitor = self.around(visitor);
        let value = self.inner.deserialize_enum(name, variants, visitor);
        limits.leave();
        value
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! forward_values {
    ($($method:ident($kind:ty);)*) => {
        $(fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.inner.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Limited<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    forward_values! {
        visit_bool(bool);
        visit_i8(i8);
        visit_i16(i16);
        visit_i32(i32);
        visit_i64(i64);
        visit_i128(i128);
        visit_u8(u8);
        visit_u16(u16);
        visit_u32(u32);
        visit_u64(u64);
        visit_u128(u128);
        visit_f32(f32);
        visit_f64(f64);
        visit_char(char);
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_bytes(&[u8]);
        visit_borrowed_bytes(&'de [u8]);
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        let value = self.around(value);
        self.inner.visit_some(value)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        let value = self.around(value);
        self.inner.visit_newtype_struct(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        let elements = self.around(elements);
        self.inner.visit_seq(elements)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        let entries = self.around(entries);
        self.inner.visit_map(entries)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        let variant = self.around(variant);
        self.inner.visit_enum(variant)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Limited<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<S::Value, D::Error> {
        let reader = self.around(reader);
        self.inner.deserialize(reader)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Limited<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.limits.take_bytes(size_of::<S::Value>())?;
        let seed = self.around(seed);
        self.inner.next_element_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Limited<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.limits.take_bytes(size_of::<S::Value>())?;
        let seed = self.around(seed);
        self.inner.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.limits.take_bytes(size_of::<S::Value>())?;
        let seed = self.around(seed);
        self.inner.next_value_seed(seed)
    }
}

impl<'de, 'l, A: EnumAccess<'de>> EnumAccess<'de> for Limited<'l, A> {
    type Error = A::Error;
    type Variant = Limited<'l, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let limits = self.limits;
        let seed = self.around(seed);
        let (value, variant) = self.inner.variant_seed(seed)?;
        Ok((value, Limited::new(variant, limits)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Limited<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.around(seed);
        self.inner.newtype_variant_seed(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, A::Error> {
        let visitor = self.around(visitor);
        self.inner.tuple_variant(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let visitor = self.around(visitor);
        self.inner.struct_variant(fields, visitor)
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Nested {
        End,
        In(Vec<Self>),
    }

    /// Checks whether `value` is read with these limits, and that they are all left afterwards.
    #[track_caller]
    fn check(value: &Nested, depth: u32, bytes: usize, exceeded: Option<&str>) {
        let limits =
            Limits { depth_left: Cell::new(depth), bytes_left: Cell::new(bytes), exceeded: Cell::new(None) };
        let content = postcard::to_extend(value, Vec::new()).expect("is written");
        let mut reader = postcard::Deserializer::from_bytes(&content);
        let read = Nested::deserialize(Limited::new(&mut reader, &limits));
        assert_eq!((read.is_err(), limits.depth_left.get()), (exceeded.is_some(), depth), "{value:?}");
        assert_eq!(limits.exceeded().is_some(), exceeded.is_some(), "{value:?}");
        assert!(limits.exceeded().unwrap_or_default().contains(exceeded.unwrap_or_default()), "{value:?}");
        assert!(read.is_err() || read.as_ref() == Ok(value));
    }

    #[test]
    fn nesting_and_memory_are_bounded() {
        let two = || Nested::In(vec![Nested::End, Nested::End]);
        check(&two(), 2, 1_000, None);
        check(&two(), 1, 1_000, Some("nested too deeply"));
        check(&two(), 2, 200, Some("too much memory"));
        check(&Nested::In(vec![two(), two(), two()]), 3, 1_000, None);
        check(&Nested::In(vec![two(), two(), two()]), 2, 1_000, Some("nested too deeply"));
    }
}
