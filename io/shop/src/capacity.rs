//! [`Capacity`]: servers that are busy for a stated time with each request, as a schedule that all
//! threads share.
//!
//! N servers serve requests in order of arrival, each for the same time. Then a request is served
//! by the server that took the Nth request before it, since that one is free first. So a ring of N
//! instants is the whole queue, and each request moves one of them. The end of a request is known
//! on its arrival, to the nanosecond and on any thread. No capacity is lost between requests, and a
//! timer that fires late delays only one response.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use wavetank_units::Nanos;

/// Maximum number of servers in one pool.
pub(crate) const WORKERS_MAX: u64 = 10_000;
/// Longest work of one request.
pub(crate) const WORK_MAX: Nanos = Nanos::from_secs(3_600);
/// Maximum number of waiting requests.
pub(crate) const QUEUE_MAX: u64 = 1_000_000;

/// The stated capacity of a pool of servers: at most `workers / work` requests a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DeclaredCapacity {
    /// Requests served simultaneously, 1 to [`WORKERS_MAX`].
    pub(crate) workers: u64,
    /// Time for each request; positive, at most [`WORK_MAX`].
    pub(crate) work: Nanos,
    /// Maximum number of waiting requests. A request that finds this many waiting is refused.
    pub(crate) queue: u64,
}

/// A pool of servers with a stated capacity. See the module's description.
#[derive(Debug)]
pub(crate) struct Capacity {
    stated: DeclaredCapacity,
    /// The turn of the next request in the ring.
    next: AtomicU64,
    /// When each server is free.
    free_at: Box<[AtomicI64]>,
}

impl Capacity {
    /// Creates a pool of free servers.
    pub(crate) fn new(stated: DeclaredCapacity) -> Self {
        let free_at = (0..stated.workers).map(|_| AtomicI64::new(i64::MIN)).collect();
        Self { stated, next: AtomicU64::new(0), free_at }
    }

    /// Returns the stated capacity.
    pub(crate) const fn stated(&self) -> DeclaredCapacity {
        self.stated
    }

    /// Takes in a request that came at `now`. Returns when its work is done, or as the error the
    /// time until the queue has room.
    pub(crate) fn admit(&self, now: Nanos) -> Result<Nanos, Nanos> {
        let room_in = self.room_at(self.next.load(Ordering::Relaxed)).saturating_sub(now.0);
        // Threads that check simultaneously may exceed the queue by one request each.
        if room_in > 0 {
            return Err(Nanos(room_in));
        }
        let server = self.server(self.next.fetch_add(1, Ordering::Relaxed));
        let over = |free: i64| free.max(now.0) + self.stated.work.0;
        let mut free = server.load(Ordering::Relaxed);
        while let Err(found) =
            server.compare_exchange_weak(free, over(free), Ordering::Relaxed, Ordering::Relaxed)
        {
            free = found;
        }
        Ok(Nanos(over(free)))
    }

    /// Returns when the queue has room for the request of this turn: when the work on the request
    /// `queue` turns earlier starts. If that one is still waiting, the later requests on its server
    /// follow without a gap.
    fn room_at(&self, turn: u64) -> i64 {
        let DeclaredCapacity { workers, work, queue } = self.stated;
        let Some(others) = queue.checked_sub(1) else { return self.server(turn).load(Ordering::Relaxed) };
        let last = self.server(turn + workers - 1 - others % workers).load(Ordering::Relaxed);
        last.saturating_sub(work.0.saturating_mul(1 + (others / workers) as i64))
    }

    fn server(&self, turn: u64) -> &AtomicI64 {
        &self.free_at[(turn % self.stated.workers) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(workers: u64, work: i64, queue: u64) -> Capacity {
        Capacity::new(DeclaredCapacity { workers, work: Nanos(work), queue })
    }

    /// Checks the results for requests that come at these instants.
    fn check(pool: &Capacity, arrivals: &[i64], expected: &[Result<i64, i64>]) {
        let said: Vec<_> =
            arrivals.iter().map(|&at| pool.admit(Nanos(at)).map(|at| at.0).map_err(|wait| wait.0)).collect();
        assert_eq!(said, expected, "{pool:?}");
    }

    #[test]
    fn serves_in_order_and_refuses_beyond_the_queue() {
        // Two servers of 30 ns: the third request waits for the first, the fourth for the second;
        // three may wait.
        check(
            &pool(2, 30, 3),
            &[0, 10, 10, 10, 10, 10, 100],
            &[Ok(30), Ok(40), Ok(60), Ok(70), Ok(90), Err(20), Ok(130)],
        );
        // No request may wait.
        check(&pool(1, 30, 0), &[0, 29, 30, 31, 61], &[Ok(30), Err(1), Ok(60), Err(29), Ok(91)]);
    }

    /// Compares with a direct simulation of a queue with several servers: each request takes the
    /// first free server.
    #[test]
    fn is_the_queue_of_the_first_free_worker() {
        let pool = pool(7, 1_000, 1_000_000);
        let mut free = [0_i64; 7];
        let mut now = 0;
        for turn in 0..10_000_i64 {
            now += turn * turn % 277;
            let first = free.iter_mut().min().expect("seven");
            *first = (*first).max(now) + 1_000;
            assert_eq!(pool.admit(Nanos(now)), Ok(Nanos(*first)), "request {turn} at {now}");
        }
    }

    /// The same, with a queue that is often full: a request that finds `queue` others waiting is
    /// refused.
    #[test]
    fn the_queue_holds_as_many_as_are_stated() {
        for (workers, queue) in [(1, 1), (1, 5), (3, 1), (3, 3), (3, 4), (3, 10), (7, 6), (2, 0)] {
            let pool = pool(workers, 1_000, queue);
            let (mut free, mut begins) = (vec![0_i64; workers as usize], Vec::new());
            let mut now = 0;
            for turn in 0..5_000_i64 {
                now += turn * turn % (1_700 / workers as i64);
                let waiting = begins.iter().filter(|begin| **begin > now).count();
                let first = free.iter_mut().min().expect("at least one");
                let begin = now.max(*first);
                let refused = if queue == 0 { begin > now } else { waiting as u64 >= queue };
                let said = pool.admit(Nanos(now));
                assert_eq!(
                    said.is_err(),
                    refused,
                    "request {turn} at {now} of {workers} and {queue}: {said:?}"
                );
                if !refused {
                    begins.push(begin);
                    *first = begin + 1_000;
                    assert_eq!(said, Ok(Nanos(*first)));
                }
            }
            assert!(begins.len() < 5_000, "some were refused");
        }
    }

    #[test]
    fn no_capacity_is_lost_or_won_between_threads() {
        let pool = pool(4, 1_000, QUEUE_MAX);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10_000).for_each(|_| assert!(pool.admit(Nanos(5)).is_ok())));
            }
        });
        // 40,000 requests on four servers, and this one after them.
        check(&pool, &[5], &[Ok(5 + 10_001 * 1_000)]);
    }
}
