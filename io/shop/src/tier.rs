//! [`Tier`]: a kind of work, and its capacity.

use url::form_urlencoded;
use wavetank_units::Nanos;
use wavetank_units::quantity::{parse_count, parse_duration_positive};

use crate::capacity::{DeclaredCapacity, QUEUE_MAX, WORK_MAX, WORKERS_MAX};

/// Default length of the queue.
const QUEUE: u64 = 1_000;
const PARAMETERS: &str = "parameters of a tier: workers=N (1 to 10,000), work=DURATION (up to an hour), queue=N (up to a million)\n";
const WORK_WANTED: &str = "workers= and queue= need work=: /tier/query?workers=4&work=2ms\n";
pub(crate) const POOLS_FULL: &str = "all 64 capacities are in use: no further one can be added\n";

/// The work for a request of a tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TierKind {
    /// Computes a checksum.
    Simple,
    /// Looks up rows in the database.
    Query,
    /// Changes rows in a separate transaction.
    Transaction,
}

/// Identifies a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolIx(pub(super) u16);

/// A tier, as requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tier {
    /// The kind of work.
    pub kind: TierKind,
    /// `None`: without a limit.
    pub pool: Option<PoolIx>,
}

impl TierKind {
    /// Returns the tier of a path, if it is the path of one.
    pub fn from_path(path: &[u8]) -> Option<Self> {
        match path {
            b"/tier/simple" => Some(Self::Simple),
            b"/tier/query" => Some(Self::Query),
            b"/tier/transaction" => Some(Self::Transaction),
            _ => None,
        }
    }
}

/// Parses the capacity in a tier's query. The error describes the valid parameters.
pub(crate) fn stated(query: &[u8]) -> Result<Option<DeclaredCapacity>, &'static str> {
    let (mut workers, mut work, mut queue) = (None, None, None);
    for (name, value) in form_urlencoded::parse(query) {
        let twice = match &*name {
            "workers" => workers.replace(count(&value, 1, WORKERS_MAX)?).is_some(),
            "queue" => queue.replace(count(&value, 0, QUEUE_MAX)?).is_some(),
            "work" => work.replace(duration(&value)?).is_some(),
            _ => return Err(PARAMETERS),
        };
        if twice {
            return Err(PARAMETERS);
        }
    }
    match work {
        Some(work) => {
            Ok(Some(DeclaredCapacity { workers: workers.unwrap_or(1), work, queue: queue.unwrap_or(QUEUE) }))
        }
        None if workers.is_some() || queue.is_some() => Err(WORK_WANTED),
        None => Ok(None),
    }
}

fn count(text: &str, least: u64, most: u64) -> Result<u64, &'static str> {
    parse_count(text).ok().filter(|count| (least..=most).contains(count)).ok_or(PARAMETERS)
}

fn duration(text: &str) -> Result<Nanos, &'static str> {
    parse_duration_positive(text).ok().filter(|work| *work <= WORK_MAX).ok_or(PARAMETERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str, expected: Result<Option<(u64, i64, u64)>, &str>) {
        let found = stated(query.as_bytes());
        let found = found.map(|stated| stated.map(|one| (one.workers, one.work.0, one.queue)));
        assert_eq!(found, expected, "{query}");
    }

    #[test]
    fn capacities() {
        check("", Ok(None));
        check("work=30ms", Ok(Some((1, 30_000_000, 1_000))));
        check("workers=4&work=30ms", Ok(Some((4, 30_000_000, 1_000))));
        check("queue=0&work=1us&workers=10k", Ok(Some((10_000, 1_000, 0))));
        check("workers=4", Err(WORK_WANTED));
        check("queue=4", Err(WORK_WANTED));
        for wrong in [
            "workers=0&work=1ms",
            "workers=10001&work=1ms",
            "work=0s",
            "work=-1s",
            "work=30",
            "work=2h",
            "work=",
            "queue=-1&work=1s",
            "queue=2M&work=1s",
            "work=1s&work=2s",
            "worker=1&work=1s",
            "x",
            "workers=%FF&work=1s",
        ] {
            check(wrong, Err(PARAMETERS));
        }
    }
}
