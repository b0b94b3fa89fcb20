//! [`Packet`]: what a message of the broker is, as its two headers say.

use std::fmt;
use std::str::FromStr;

/// Header with the [`Origin`].
pub(crate) const ORIGIN: &str = "Wavetank-From";
/// Header with the [`Packet`].
pub(crate) const PACKET: &str = "Wavetank-Packet";

/// The connection that a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Random number of the link's end, which differs for each process.
    pub(crate) instance: u64,
    /// Number of its connection to the broker, from 1.
    pub(crate) connection: u64,
}

/// What a message is. Its data follows the headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Packet {
    /// The sender is there. Empty.
    Greeting,
    /// The sender ends. Empty.
    Farewell,
    /// A part of a line of `docs/formats/fleet.md`. Parts of a line follow one another.
    Part {
        /// Number of the line, which increases on each connection.
        number: u64,
        /// Number of the part, from 0.
        index: u32,
        /// How many parts the line has.
        of: u32,
        /// The plan that belongs to the line.
        plan: Option<PlanName>,
    },
    /// An agent requests a piece of a plan. Empty.
    Want {
        /// The plan.
        hash: String,
        /// The piece's first byte.
        offset: usize,
        /// The piece's bytes at most.
        length: usize,
    },
    /// A piece of a plan.
    Piece {
        /// The plan.
        hash: String,
        /// The piece's first byte.
        offset: usize,
    },
}

/// Names the text of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlanName {
    /// SHA-256 of the text, in hexadecimal.
    pub(crate) hash: String,
    /// Length of the text in bytes.
    pub(crate) bytes: usize,
}

impl Origin {
    /// Whether messages of `self` are from before those of `other`, from the same link's end.
    pub(crate) const fn is_before(self, other: Self) -> bool {
        self.instance == other.instance && self.connection < other.connection
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x} {}", self.instance, self.connection)
    }
}

impl FromStr for Origin {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (instance, connection) = text.split_once(' ').ok_or(())?;
        let instance = u64::from_str_radix(instance, 16).map_err(drop)?;
        Ok(Self { instance, connection: connection.parse().map_err(drop)? })
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Greeting => f.write_str("greeting"),
            Self::Farewell => f.write_str("farewell"),
            Self::Part { number, index, of, plan: None } => write!(f, "part {number} {index} {of}"),
            Self::Part { number, index, of, plan: Some(PlanName { hash, bytes }) } => {
                write!(f, "part {number} {index} {of} {hash} {bytes}")
            }
            Self::Want { hash, offset, length } => write!(f, "want {hash} {offset} {length}"),
            Self::Piece { hash, offset } => write!(f, "piece {hash} {offset}"),
        }
    }
}

impl FromStr for Packet {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        fn number<T: FromStr>(word: &str) -> Result<T, ()> {
            word.parse().map_err(drop)
        }
        let words: Vec<&str> = text.split(' ').take(8).collect();
        Ok(match words.as_slice() {
            ["greeting"] => Self::Greeting,
            ["farewell"] => Self::Farewell,
            ["part", line, index, of, plan @ ..] => {
                let plan = match plan {
                    [] => None,
                    [hash, bytes] => Some(PlanName { hash: (*hash).to_owned(), bytes: number(bytes)? }),
                    _ => return Err(()),
                };
                Self::Part { number: number(line)?, index: number(index)?, of: number(of)?, plan }
            }
            ["want", hash, offset, length] => {
                Self::Want { hash: (*hash).to_owned(), offset: number(offset)?, length: number(length)? }
            }
            ["piece", hash, offset] => Self::Piece { hash: (*hash).to_owned(), offset: number(offset)? },
            _ => return Err(()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(packet: Packet, text: &str) {
        assert_eq!(packet.to_string(), text);
        assert_eq!(text.parse(), Ok(packet));
    }

    #[test]
    fn headers_are_read_as_they_are_written() {
        check(Packet::Greeting, "greeting");
        check(Packet::Farewell, "farewell");
        check(Packet::Part { number: 7, index: 1, of: 3, plan: None }, "part 7 1 3");
        let plan = Some(PlanName { hash: "ab".to_owned(), bytes: 9 });
        check(Packet::Part { number: 7, index: 0, of: 1, plan }, "part 7 0 1 ab 9");
        check(Packet::Want { hash: "ab".to_owned(), offset: 4, length: 2 }, "want ab 4 2");
        check(Packet::Piece { hash: "ab".to_owned(), offset: 4 }, "piece ab 4");
        for text in ["", "greeting 1", "part 1 2", "part 1 2 3 ab", "part 1 -2 3", "piece ab", "x"] {
            assert_eq!(text.parse::<Packet>(), Err(()), "{text}");
        }
    }

    #[test]
    fn an_origin_has_an_order_within_its_instance() {
        let origin = |instance, connection| Origin { instance, connection };
        assert_eq!(origin(0xab, 3).to_string().parse(), Ok(origin(0xab, 3)));
        assert!(origin(1, 1).is_before(origin(1, 2)) && !origin(1, 2).is_before(origin(1, 2)));
        assert!(!origin(2, 1).is_before(origin(1, 2)));
        for text in ["", "1", "x 1", "1 x", "1 2 3"] {
            assert_eq!(text.parse::<Origin>(), Err(()), "{text}");
        }
    }
}
