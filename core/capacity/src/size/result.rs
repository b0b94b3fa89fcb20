//! [`SizingResult`]: one number with its formula.

use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_clock, show_link, show_size, trimmed};

use super::{PerSecond, Role};

/// One number, and its formula with the numbers filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizingResult {
    /// The role that the number is about; `None`: the load as a whole.
    pub role: Option<Role>,
    /// Stable name, e.g. `source_addresses`.
    pub what: &'static str,
    /// The number.
    pub value: Quantity,
    /// `1,000,000 ÷ (60,480 ports × 1 target)`; may be empty where it was given.
    pub formula: String,
}

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A count.
    Count(u64),
    /// Bytes.
    Bytes(u64),
    /// A rate per second.
    PerSecond(PerSecond),
    /// Bits a second.
    BitsPerSecond(PerSecond),
    /// A time.
    Length(Nanos),
}

impl Quantity {
    /// Formats the number for users.
    pub fn show(self) -> String {
        match self {
            Self::Count(count) => format_grouped(count),
            Self::Bytes(bytes) => show_size(bytes),
            Self::PerSecond(flow) => flow.show(),
            Self::BitsPerSecond(flow) => bits(flow),
            Self::Length(length) => show_length(length),
        }
    }

    /// Its unit in JSON.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Count(_) => "count",
            Self::Bytes(_) => "bytes",
            Self::PerSecond(_) => "per_s",
            Self::BitsPerSecond(_) => "bits_per_s",
            Self::Length(_) => "s",
        }
    }

    /// Its number in JSON.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Count(count) | Self::Bytes(count) => count as f64,
            Self::PerSecond(flow) | Self::BitsPerSecond(flow) => flow.as_f64(),
            Self::Length(length) => length.as_secs_f64(),
        }
    }
}

/// `100s`, `1m40s`; below a second in ms or us.
pub(super) fn show_length(length: Nanos) -> String {
    match length.0.unsigned_abs() {
        0 => "0s".to_owned(),
        ns if ns < 1_000_000 => format!("{}us", ns.div_ceil(1_000)),
        ns if ns < 1_000_000_000 => format!("{}ms", trimmed(&format!("{:.2}", ns as f64 / 1e6))),
        _ => show_clock(length),
    }
}

/// `2.10 Gbit/s`.
pub(super) fn bits(flow: PerSecond) -> String {
    show_link(flow.as_f64())
}
