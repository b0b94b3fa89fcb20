//! [`SourceRange`]: a range of source addresses.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::network::{address_from_number, address_number};

/// A range of source addresses, first to last inclusive, one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRange {
    /// Lowest address.
    pub first: IpAddr,
    /// Highest address.
    pub last: IpAddr,
}

impl SourceRange {
    /// Addresses in the range.
    pub fn len(&self) -> u128 {
        (address_number(self.last) - address_number(self.first)).saturating_add(1)
    }

    /// A range holds its first address at least.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The addresses that are in both, if any are.
    pub fn common(&self, other: Self) -> Option<Self> {
        let v4 = self.first.is_ipv4();
        let first = address_number(self.first).max(address_number(other.first));
        let last = address_number(self.last).min(address_number(other.last));
        let some = v4 == other.first.is_ipv4() && first <= last;
        some.then(|| Self { first: address_from_number(first, v4), last: address_from_number(last, v4) })
    }

    /// Whether `address` is inside.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.first.is_ipv4() == address.is_ipv4()
            && (address_number(self.first)..=address_number(self.last)).contains(&address_number(address))
    }
}
