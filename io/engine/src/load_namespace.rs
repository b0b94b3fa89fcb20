//! [`LoadNamespace`]: the network namespace of load threads, if the load comes from several hosts
//! on one machine.

use wavetank_driver::NetworkNamespace;

use crate::sources::SourcePorts;

/// A host of a lab: a network namespace with its own addresses and ports.
#[derive(Clone, Debug)]
pub struct LoadNamespace {
    /// Threads enter this namespace before they create their first socket.
    pub network: NetworkNamespace,
    /// Ports to bind there, and the addresses that belong to the namespace.
    pub ports: SourcePorts,
    /// CPUs to which its threads are pinned, in turn. If empty, they run on the same CPUs as all
    /// other threads.
    pub cpus: Vec<u32>,
}

/// The namespace of a load thread, and the thread's number within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadPlacement {
    /// The number of the namespace.
    pub(crate) namespace: usize,
    /// The thread's number within the namespace.
    pub(crate) among: u64,
    /// The number of threads in the namespace.
    pub(crate) of: u64,
}

impl ThreadPlacement {
    /// The placement of thread number `thread` of `threads`, dealt out over `namespaces` in turn.
    /// Without namespaces, all threads share one placement.
    pub(crate) fn new(thread: u32, threads: u32, namespaces: usize) -> Self {
        let all = u32::try_from(namespaces).unwrap_or(u32::MAX).max(1);
        let namespace = thread % all;
        let of = threads.saturating_sub(namespace).div_ceil(all);
        Self { namespace: namespace as usize, among: u64::from(thread / all), of: u64::from(of) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With `threads` over `namespaces`, the threads of each namespace are numbered without gaps.
    /// The number of threads differs by at most one between namespaces.
    fn check(threads: u32, namespaces: usize) {
        let placements: Vec<_> =
            (0..threads).map(|thread| ThreadPlacement::new(thread, threads, namespaces)).collect();
        let counts: Vec<u64> = (0..namespaces.max(1))
            .map(|namespace| {
                let there: Vec<_> =
                    placements.iter().filter(|placement| placement.namespace == namespace).collect();
                let numbers: Vec<_> = there.iter().map(|placement| placement.among).collect();
                assert_eq!(numbers, (0..there.len() as u64).collect::<Vec<_>>(), "{placements:?}");
                assert!(there.iter().all(|placement| placement.of == there.len() as u64), "{placements:?}");
                there.len() as u64
            })
            .collect();
        assert_eq!(counts.iter().sum::<u64>(), u64::from(threads));
        let (most, least) = (counts.iter().max(), counts.iter().min());
        assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 1), "{counts:?}");
    }

    #[test]
    fn threads_are_dealt_out_evenly() {
        for threads in 1..10 {
            for namespaces in 0..5 {
                check(threads, namespaces);
            }
        }
    }
}
