//! [`CustomKind`]: single values that occur only in topology files.

use serde_json::{Value, json};
use wavetank_grammar::json_schema_values::{number_or, one_or_list, pattern_or_variable, text};

use super::MapName;

const SHARE: &str = r"\d+(\.\d+)? ?%";
const LINK: &str = r"\d+(\.\d+)? ?[kMG]bit/s";
const SUBNET: &str = r"[0-9a-fA-F:.]+/\d+";
const ADDRESS: &str = "[0-9a-fA-F:.]+";
const PORTS: &str = r"\d+( to \d+)?";
const CPUS: &str = r"\d+(-\d+)?( ?, ?\d+(-\d+)?)*";

/// The kinds of value that occur in topology files but in no other file.
pub(crate) enum CustomKind {
    /// A share: `5%`.
    Share,
    /// A bit rate: `1Gbit/s`.
    Link,
    /// `10.30.0.0/24`.
    Subnet,
    /// `10.30.0.0/24`, or `default`.
    Destination,
    /// `10.30.0.10`.
    Address,
    /// An address, or a range `A to B` of addresses.
    Addresses,
    /// A port, a range `A to B`, or a list.
    Ports,
    /// CPU numbers: `0-3`, `"0,2"`.
    Cpus,
    /// A path that starts with `/`.
    Path,
    /// Permission bits: `"0644"`.
    Mode,
    /// `"app[1-4]:8080"`.
    Servers,
    /// A single value of any kind, as for a sysctl: text or number.
    Scalar,
    /// `false`.
    Never,
}

impl wavetank_grammar::CustomKind for CustomKind {
    fn takes(&self) -> &'static str {
        match self {
            Self::Share => "a share",
            Self::Link => "a link's rate",
            Self::Subnet => "a network: `10.30.0.0/24`",
            Self::Destination => "a network, or `default`",
            Self::Address => "an address",
            Self::Addresses => "an address, or A to B",
            Self::Ports => "a port, or A to B, or a list",
            Self::Cpus => "CPUs: `0-3`, `\"0,2\"`",
            Self::Path => "a path",
            Self::Mode => "permission bits",
            Self::Servers => "`\"HOSTS:PORT\"`",
            Self::Scalar => "a value",
            Self::Never => "`false`",
        }
    }

    fn shape(&self) -> Value {
        match self {
            Self::Share => pattern_or_variable::<MapName>(SHARE),
            Self::Link => pattern_or_variable::<MapName>(LINK),
            Self::Subnet => pattern_or_variable::<MapName>(SUBNET),
            Self::Destination => pattern_or_variable::<MapName>(&format!("(default|{SUBNET}|{ADDRESS})")),
            Self::Address => pattern_or_variable::<MapName>(ADDRESS),
            Self::Addresses => pattern_or_variable::<MapName>(&format!("{ADDRESS}( to {ADDRESS})?")),
            Self::Ports => one_or_list::<MapName>(&number_or::<MapName>(PORTS)),
            Self::Cpus => one_or_list::<MapName>(&number_or::<MapName>(CPUS)),
            Self::Path => pattern_or_variable::<MapName>("/.*"),
            Self::Mode => json!({"type": ["string", "integer"], "pattern": "^(0o|0)?[0-7]{3}$"}),
            Self::Servers => pattern_or_variable::<MapName>(r"[a-z0-9,.\[\]-]+(:\d+)?"),
            Self::Scalar => text(),
            Self::Never => json!({"const": false}),
        }
    }
}
