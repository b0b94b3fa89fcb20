//! [`LoadNamespace`]: where load threads are, where the load comes from several hosts of one machine.

use wavetank_driver::NetworkNamespace;

use crate::sources::SourcePorts;

/// A host of a lab: a network namespace with addresses and ports of its own.
#[derive(Clone, Debug)]
pub struct LoadNamespace {
    /// Threads of this place are in it before they make their first socket.
    pub network: NetworkNamespace,
    /// Ports to bind there, and the addresses that are the place's own.
    pub ports: SourcePorts,
    /// CPUs that the place's threads are kept on, in turn; with none they run where all others do.
    pub cpus: Vec<u32>,
}

/// Which place a load thread is at, and which of those there it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadPlacement {
    /// The place's number.
    pub(crate) place: usize,
    /// The thread's number among those at the place.
    pub(crate) among: u64,
    /// How many are there.
    pub(crate) of: u64,
}

impl ThreadPlacement {
    /// Of thread number `thread` of `threads`, dealt out over `places` in turn; with no places all are at one.
    pub(crate) fn new(thread: u32, threads: u32, places: usize) -> Self {
        let all = u32::try_from(places).unwrap_or(u32::MAX).max(1);
        let place = thread % all;
        let of = threads.saturating_sub(place).div_ceil(all);
        Self { place: place as usize, among: u64::from(thread / all), of: u64::from(of) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `threads` over `places`: each place's threads are numbered without gaps, and no place has more than one thread
    /// more than another.
    fn check(threads: u32, places: usize) {
        let seats: Vec<_> =
            (0..threads).map(|thread| ThreadPlacement::new(thread, threads, places)).collect();
        let counts: Vec<u64> = (0..places.max(1))
            .map(|place| {
                let there: Vec<_> = seats.iter().filter(|seat| seat.place == place).collect();
                let numbers: Vec<_> = there.iter().map(|seat| seat.among).collect();
                assert_eq!(numbers, (0..there.len() as u64).collect::<Vec<_>>(), "{seats:?}");
                assert!(there.iter().all(|seat| seat.of == there.len() as u64), "{seats:?}");
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
            for places in 0..5 {
                check(threads, places);
            }
        }
    }
}
