//! [`Pool`]: the servers behind a balancer that accept new connections.

/// A change caused by a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolChange {
    /// The server is taken out and gets no new connections.
    Out,
    /// The server is back.
    In,
}

/// The servers of a balancer with their weights and states. A server counts as alive until its
/// checks fail. Otherwise a lab that starts its servers and its balancer together would refuse its
/// first requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    fall: u32,
    rise: u32,
    members: Vec<Member>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    weight: u32,
    alive: bool,
    /// Number of consecutive checks that contradict `alive`.
    against: u32,
}

impl Pool {
    /// Creates a pool of servers with these weights. `fall` consecutive failed checks take a server
    /// out, and `rise` consecutive successful ones bring it back.
    pub fn new(weights: impl IntoIterator<Item = u32>, fall: u32, rise: u32) -> Self {
        let members = weights.into_iter().map(|weight| Member { weight, alive: true, against: 0 }).collect();
        Self { fall: fall.max(1), rise: rise.max(1), members }
    }

    /// Records a successful or failed check of server `index`. Returns the change if it takes the
    /// server out or brings it back.
    pub fn handle_check(&mut self, index: usize, good: bool) -> Option<PoolChange> {
        let member = self.members.get_mut(index)?;
        if good == member.alive {
            member.against = 0;
            return None;
        }
        member.against += 1;
        let needed = if member.alive { self.fall } else { self.rise };
        if member.against < needed {
            return None;
        }
        (member.alive, member.against) = (good, 0);
        Some(if good { PoolChange::In } else { PoolChange::Out })
    }

    /// Sets the weight of server `index`. A weight of 0 drains it: open connections continue and no
    /// new ones arrive. Returns whether the weight has changed.
    pub fn set_weight(&mut self, index: usize, weight: u32) -> bool {
        self.members
            .get_mut(index)
            .is_some_and(|member| std::mem::replace(&mut member.weight, weight) != weight)
    }

    /// Returns the weight of each server for new connections, in order. A server that is out has 0.
    pub fn weights(&self) -> Vec<u32> {
        self.members.iter().map(|member| if member.alive { member.weight } else { 0 }).collect()
    }

    /// Returns the weight of server `index` while it is alive.
    pub fn target_weight(&self, index: usize) -> u32 {
        self.members.get(index).map_or(0, |member| member.weight)
    }

    /// Whether server `index` counts as alive.
    pub fn is_alive(&self, index: usize) -> bool {
        self.members.get(index).is_some_and(|member| member.alive)
    }

    /// Returns the number of servers that accept new connections.
    pub fn accepting_count(&self) -> usize {
        self.weights().iter().filter(|weight| **weight > 0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs checks of one server, `+` for success and `-` for failure. Returns the changes as `o`
    /// (out) and `i` (in), with `.` for no change.
    #[track_caller]
    fn check(fall: u32, rise: u32, checks: &str, expected: &str) {
        let mut pool = Pool::new([3, 1], fall, rise);
        let letter = |change: Option<PoolChange>| match change {
            None => '.',
            Some(PoolChange::Out) => 'o',
            Some(PoolChange::In) => 'i',
        };
        let changes: String = checks.chars().map(|sign| letter(pool.handle_check(0, sign == '+'))).collect();
        assert_eq!(changes, expected, "{fall} down, {rise} up: {checks}");
        assert_eq!(pool.weights()[1], 1, "the other one has not been asked");
    }

    #[test]
    fn only_checks_in_a_row_count() {
        check(2, 2, "++++", "....");
        check(2, 2, "--++", ".o.i");
        check(2, 2, "-+-+-+", "......");
        check(3, 1, "---+---", "..oi..o");
        check(1, 3, "-++-+++", "o.....i");
        check(0, 0, "-+", "oi");
    }

    #[test]
    fn a_drained_server_stays_out_however_well_it_is() {
        let mut pool = Pool::new([1, 1], 1, 1);
        assert!(pool.set_weight(0, 0));
        assert!(!pool.set_weight(0, 0), "it had that weight");
        assert_eq!((pool.weights(), pool.accepting_count()), (vec![0, 1], 1));
        pool.handle_check(1, false);
        assert_eq!(pool.accepting_count(), 0);
        pool.handle_check(0, false);
        pool.handle_check(0, true);
        assert_eq!(pool.weights(), [0, 0]);
        assert_eq!((pool.target_weight(1), pool.is_alive(1)), (1, false), "out, and to be back as it was");
        assert_eq!((pool.target_weight(0), pool.is_alive(0)), (0, true), "drained, and well");
        assert!(pool.set_weight(0, 2));
        assert_eq!(pool.weights(), [2, 0]);
        assert!(!pool.set_weight(7, 1) && pool.handle_check(7, false).is_none(), "there is no such server");
    }
}
