//! [`Pool`]: who of the servers behind a balancer takes new connections.

/// What a check changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolChange {
    /// The server is out: it gets no new connections.
    Out,
    /// It is back in.
    In,
}

/// The servers of a balancer: what they weigh, and whether they live. They count as alive until the first checks say
/// otherwise, so that a lab whose servers start at the same time as its balancer is not refused its first requests.
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
    /// Checks in a row that say the opposite of `alive`.
    against: u32,
}

impl Pool {
    /// Servers with these weights. `fall` failed checks in a row take one out, `rise` good ones take it back in.
    pub fn new(weights: impl IntoIterator<Item = u32>, fall: u32, rise: u32) -> Self {
        let members = weights.into_iter().map(|weight| Member { weight, alive: true, against: 0 }).collect();
        Self { fall: fall.max(1), rise: rise.max(1), members }
    }

    /// A check of server `index` succeeded or failed. `Some` if that takes it out or back in.
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

    /// Somebody gives server `index` another weight; 0 drains it: its connections go on and no new ones come. True if
    /// that is another one than before.
    pub fn set_weight(&mut self, index: usize, weight: u32) -> bool {
        self.members
            .get_mut(index)
            .is_some_and(|member| std::mem::replace(&mut member.weight, weight) != weight)
    }

    /// What each server weighs for new connections, in order: 0 for who is out.
    pub fn weights(&self) -> Vec<u32> {
        self.members.iter().map(|member| if member.alive { member.weight } else { 0 }).collect()
    }

    /// What server `index` is to weigh while it lives.
    pub fn target_weight(&self, index: usize) -> u32 {
        self.members.get(index).map_or(0, |member| member.weight)
    }

    /// Whether server `index` counts as alive.
    pub fn is_alive(&self, index: usize) -> bool {
        self.members.get(index).is_some_and(|member| member.alive)
    }

    /// How many take new connections.
    pub fn accepting_count(&self) -> usize {
        self.weights().iter().filter(|weight| **weight > 0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks of one server, `+` good and `-` failed; what changed, as `o` and `i`, `.` for nothing.
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
