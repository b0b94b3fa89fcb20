//! [`SizeDoc`]: the `wavetank.size/1` object, what `wavetank size --format json` prints.

use serde::Serialize;
use wavetank_capacity::size::{ComparisonColumn, Limit, Setting, Tuning};

use crate::{LackDoc, Number};

/// Version of the format; fields are only ever added to it.
pub const SIZE_SCHEMA: &str = "wavetank.size/1";

/// The hosts, ports, memory and network that a load needs. The text of `wavetank size` is a
/// function of it alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    pub tunings: Vec<Tuning>,
    /// A comparison of numbers of online users with rates per second.
    pub compare: Vec<ComparisonColumn>,
    /// Available resources that are too few or too small.
    pub lacking: Vec<LackDoc>,
    /// The assumptions behind the numbers.
    pub settings: Vec<Setting>,
    /// Additional information.
    pub notes: Vec<String>,
}

/// One number with its formula.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
    pub limits: Vec<Limit>,
}

impl SizeDoc {
    /// The object as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data with string keys always encodes")
    }
}
