//! [`JsonType`] and [`ValueRef`]: a value of a variable, as its text and the type of that text.

use wavetank_units::Number;

/// The type of a value. Its text always exists. The type decides how a typed body such as JSON
/// shows it: a template that is a whole value keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonType {
    /// Text, or bytes.
    #[default]
    Text,
    /// A number in JSON notation.
    Number,
    /// `true` or `false`.
    Bool,
    /// `null`.
    Null,
    /// An array or object, as JSON text.
    Json,
}

/// A value, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueRef<'a> {
    /// Its type.
    pub kind: JsonType,
    /// Its text.
    pub text: &'a [u8],
}

impl ValueRef<'_> {
    /// Returns the text as a number, whatever its type: `"12"` compares like 12.
    pub fn as_number(&self) -> Option<Number> {
        Number::parse(std::str::from_utf8(self.text).ok()?)
    }
}

/// The values found, in a buffer that is reused: a list, of which the first is *the* value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    bytes: Vec<u8>,
    ends: Vec<(JsonType, u32)>,
    /// Whether all matches were requested: then even a single one is a list.
    list: bool,
}

impl Values {
    /// Maximum size of all values together, in bytes.
    pub const BYTES_MAX: usize = 16 << 20;

    /// Removes the values and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.list = false;
    }

    /// Makes it a list until it is cleared, regardless of the number of values.
    pub fn set_list(&mut self) {
        self.list = true;
    }

    /// Whether it is a list rather than one value.
    pub const fn is_list(&self) -> bool {
        self.list
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The value at `index`.
    pub fn get(&self, index: usize) -> Option<ValueRef<'_>> {
        let (kind, end) = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before].1);
        Some(ValueRef { kind, text: &self.bytes[start as usize..end as usize] })
    }

    /// The first value.
    pub fn first(&self) -> Option<ValueRef<'_>> {
        self.get(0)
    }

    /// All values in order.
    pub fn iter(&self) -> impl Iterator<Item = ValueRef<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Adds a value. Returns false if the byte limit is reached.
    pub fn push(&mut self, kind: JsonType, text: &[u8]) -> bool {
        self.push_with(kind, |out| {
            out.extend_from_slice(text);
            true
        })
    }

    /// Adds the value that `write` appends to the buffer. If `write` returns false or the byte
    /// limit is reached, nothing is added and the result is false.
    pub fn push_with(&mut self, kind: JsonType, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        let start = self.bytes.len();
        if write(&mut self.bytes) && self.bytes.len() <= Self::BYTES_MAX {
            self.ends.push((kind, self.bytes.len() as u32));
            return true;
        }
        self.bytes.truncate(start);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_as_they_went_in() {
        let mut finds = Values::default();
        for round in 0..2 {
            assert!(finds.is_empty() && finds.first().is_none(), "{round}");
            assert!(finds.push(JsonType::Text, b"one"));
            assert!(finds.push(JsonType::Text, b""));
            assert!(!finds.push_with(JsonType::Text, |out| {
                out.push(b'x');
                false
            }));
            assert!(finds.push(JsonType::Number, b"2.5"));
            assert!(!finds.push(JsonType::Text, &vec![0; Values::BYTES_MAX]), "the limit holds");
            let all: Vec<_> = finds.iter().map(|found| (found.kind, found.text)).collect();
            let expected: [(JsonType, &[u8]); 3] =
                [(JsonType::Text, b"one"), (JsonType::Text, b""), (JsonType::Number, b"2.5")];
            assert_eq!(all, expected);
            finds.clear();
        }
    }

    #[test]
    fn text_that_is_a_number_compares_as_one() {
        let check = |text: &str, expected| {
            let found = ValueRef { kind: JsonType::Text, text: text.as_bytes() }.as_number();
            assert_eq!(found.map(Number::as_f64), expected, "{text}");
        };
        check("12", Some(12.0));
        check(" -1.5e2 ", Some(-150.0));
        check("", None);
        check("1k", None);
        check("inf", None);
        check("nan", None);
    }
}
