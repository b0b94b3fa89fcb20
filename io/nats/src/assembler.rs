//! [`Assembler`]: makes a line of its parts.

/// The line of which parts have arrived.
#[derive(Debug)]
pub(crate) struct Assembler {
    number: u64,
    next: u32,
    data: Vec<u8>,
    bytes_max: usize,
}

/// What a part led to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Assembled {
    /// The line is complete.
    Line(Vec<u8>),
    /// More parts are to come.
    Incomplete,
    /// The line lacks a part or is too long: its parts are dropped.
    Lost,
}

impl Assembler {
    /// Lines have at most `bytes_max` bytes.
    pub(crate) const fn new(bytes_max: usize) -> Self {
        Self { number: 0, next: 0, data: Vec::new(), bytes_max }
    }

    /// Forgets the parts of an incomplete line.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.bytes_max);
    }

    /// Takes a part. A first part drops the incomplete line before it.
    pub(crate) fn add(&mut self, number: u64, index: u32, of: u32, data: &[u8]) -> Assembled {
        if index == 0 {
            self.clear();
            self.number = number;
        }
        let is_next = number == self.number && index == self.next && index < of;
        if !is_next || self.data.len() + data.len() > self.bytes_max {
            self.clear();
            return Assembled::Lost;
        }
        self.data.extend_from_slice(data);
        self.next += 1;
        if self.next < of {
            return Assembled::Incomplete;
        }
        let line = std::mem::take(&mut self.data);
        self.clear();
        Assembled::Line(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_in_order_make_a_line() {
        let mut parts = Assembler::new(6);
        assert_eq!(parts.add(4, 0, 1, b"one"), Assembled::Line(b"one".to_vec()));
        assert_eq!(parts.add(5, 0, 3, b"ab"), Assembled::Incomplete);
        assert_eq!(parts.add(5, 1, 3, b"cd"), Assembled::Incomplete);
        assert_eq!(parts.add(5, 2, 3, b"ef"), Assembled::Line(b"abcdef".to_vec()));
    }

    #[test]
    fn a_line_with_a_gap_is_lost() {
        let mut parts = Assembler::new(6);
        assert_eq!(parts.add(5, 0, 3, b"ab"), Assembled::Incomplete);
        assert_eq!(parts.add(5, 2, 3, b"ef"), Assembled::Lost);
        assert_eq!(parts.add(6, 1, 2, b"ef"), Assembled::Lost);
        assert_eq!(parts.add(7, 0, 2, b"ab"), Assembled::Incomplete);
        assert_eq!(parts.add(8, 0, 1, b"cd"), Assembled::Line(b"cd".to_vec()), "it drops line 7");
        assert_eq!(parts.add(9, 0, 2, b"abcd"), Assembled::Incomplete);
        assert_eq!(parts.add(9, 1, 2, b"efg"), Assembled::Lost, "too long");
        assert_eq!(parts.add(9, 3, 2, b""), Assembled::Lost);
    }
}
