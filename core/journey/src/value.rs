//! [`Values`]: the values found in an answer, each as its text and the type of that text.

pub use wavetank_plan::{JsonType, ValueRef};

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
}
