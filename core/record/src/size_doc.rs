//! [`SizeDoc`]: the `wavetank.size/1` object, what `wavetank size --format json` prints.

use serde::{Deserialize, Serialize};

use crate::{DecodeError, LackDoc, Number, SettingDoc};

/// Version of the format; fields are only ever added to it.
pub const SIZE_SCHEMA: &str = "wavetank.size/1";

/// The hosts, ports, memory and network that a load needs. The text of `wavetank size` is a
/// function of it alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizeDoc {
    /// Always [`SIZE_SCHEMA`].
    pub schema: String,
    /// Version of wavetank.
    pub version: String,
    /// The URL or file that was named; empty without one.
    pub target: String,
    /// The requested load, and values derived from it alone.
    pub asked: Vec<AnswerDoc>,
    /// Hosts of each role.
    pub hosts: Vec<TierDoc>,
    /// Ports, addresses, memory and links.
    pub answers: Vec<AnswerDoc>,
    /// Limits of the kernel that must be raised.
    pub tunings: Vec<TuningDoc>,
    /// A comparison of numbers of online users with rates per second.
    pub compare: Vec<ColumnDoc>,
    /// Available resources that are too few or too small.
    pub lacking: Vec<LackDoc>,
    /// The assumptions behind the numbers.
    pub settings: Vec<SettingDoc>,
    /// Additional information.
    pub notes: Vec<String>,
}

/// One number with its formula.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswerDoc {
    /// `load`, `balancer`, `server`; empty where it is of the load as a whole.
    pub role: String,
    /// `load`, `ports`, `memory` or `network`.
    pub group: String,
    /// Stable name, e.g. `source_addresses`.
    pub what: String,
    /// The number.
    pub value: Number,
    /// `count`, `bytes`, `per_s`, `bits_per_s` or `s`.
    pub unit: String,
    /// The number as people read it.
    pub shown: String,
    /// How it was computed, with the numbers filled in; may be empty.
    pub formula: String,
}

/// Hosts of one role.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TierDoc {
    /// `load`, `balancer` or `server`.
    pub role: String,
    /// Hosts that it takes, spare ones included.
    pub needed: u64,
    /// How many of these may fail.
    pub spare: u64,
    /// Available hosts; `null` if not given.
    pub have: Option<u64>,
    /// Something bounds a host of the role; else one was taken for granted.
    pub bounded: bool,
    /// The requirement of each bound, without spare hosts; the largest comes first.
    pub limits: Vec<LimitDoc>,
}

/// Hosts required by one bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitDoc {
    /// `requests`, `connections`, `memory` or `link`.
    pub what: String,
    /// The number of hosts.
    pub hosts: u64,
    /// How it was computed.
    pub formula: String,
}

/// One limit of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TuningDoc {
    /// On hosts of this role.
    pub role: String,
    /// `fs.file-max`, or `nofile`.
    pub name: String,
    /// Its value.
    pub value: String,
    /// A host that has more keeps it.
    pub at_least: bool,
    /// The command that sets it.
    pub command: String,
    /// How the value was computed.
    pub formula: String,
}

/// One load of the comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnDoc {
    /// `1M online`.
    pub name: String,
    /// Name and value of each row, the same names in each column.
    pub rows: Vec<(String, String)>,
}

impl SizeDoc {
    /// The object as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data with string keys always encodes")
    }

    /// Reads the object. Unknown fields are skipped: the format only grows.
    ///
    /// # Errors
    /// If the text is not a JSON object of this schema.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        let doc: Self = serde_json::from_str(text).map_err(|error| DecodeError::json(&error))?;
        if doc.schema == SIZE_SCHEMA { Ok(doc) } else { Err(DecodeError::schema(&doc.schema, SIZE_SCHEMA)) }
    }
}
