//! [`Host`]: what is known of this host before anything is planned.

use wavetank_driver::{Feature, Features, Found, WallClock};
use wavetank_engine::SourcePorts;
use wavetank_plan::{HostFacts, SocketFacts, UserError};

/// Names what of the kernel must not be used, so that every fallback can be walked on one kernel.
const MASK: &str = "WAVETANK_MASK";

/// Facts for resolving, and what of the kernel may be used.
pub(crate) struct Host {
    pub(crate) facts: HostFacts,
    pub(crate) found: Found,
}

impl Host {
    /// Look around now, having raised the limit of open files as far as it goes. Fails on words in the mask that
    /// mean nothing.
    pub(crate) fn look() -> Result<Self, UserError> {
        let wanted = wanted(&std::env::var(MASK).unwrap_or_default())?;
        // Where the kernel says no, the plan is made for the limit there is.
        let _ = wavetank_observe::raise_file_limit();
        let found = Features::probe(wanted);
        let facts = wavetank_observe::host_facts();
        let sockets = SocketFacts {
            uring: found.missing(Feature::Uring).map_or(Ok(()), |missing| Err(missing.clone())),
            own_files: found.own_files(),
            ..facts.sockets
        };
        Ok(Self { facts: HostFacts { sockets, ..facts }, found })
    }

    /// The ports that connections with a source address of ours bind, from a place that is another each time.
    pub(crate) fn source_ports(&self) -> SourcePorts {
        SourcePorts::new(&self.facts.tuple_ports(), WallClock::unix_ns().unsigned_abs())
    }
}

fn wanted(mask: &str) -> Result<Features, UserError> {
    Features::masked(mask).map_err(|word| {
        let known: Vec<_> = Feature::ALL.iter().map(|(_, word)| *word).collect();
        UserError::usage(
            "bad_mask",
            format!("`{word}` in {MASK} is nothing that can be masked"),
            format!("some of {}, joined by commas", known.join(", ")),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_read_or_refused() {
        assert_eq!(wanted(""), Ok(Features::all()));
        assert_eq!(wanted("uring"), Ok(Features::all().without(Feature::Uring)));
        let error = wanted("uring,xdp").expect_err("xdp cannot be masked");
        assert!(error.message.contains("`xdp`") && error.hint.contains("own_process"), "{error}");
    }
}
