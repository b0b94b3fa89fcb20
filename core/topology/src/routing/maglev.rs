//! [`Maglev`]: a lookup table that gives every server its share and changes little when a server
//! comes or goes.

/// A table of slots, each assigned to one member. It follows §3.4 of "Maglev: A Fast and Reliable
/// Software Network Load Balancer" (Eisenbud et al., NSDI 2016). Every member has its own
/// permutation of the slots. In turns, each member takes the next slot of its permutation that is
/// still free. Members with the same weight get the same number of slots, up to a difference of
/// one. When a member leaves, most slots of the other members stay the same.
///
/// The paper leaves weights open. Here a member takes as many slots in each turn as its weight. All
/// weights are first divided by their greatest common divisor, so the counts are exact up to one
/// turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maglev {
    slots: Vec<u32>,
}

/// A member's permutation of the slots: `offset`, `offset + skip`, `offset + 2 skip`, … modulo the
/// number of slots. That number is prime, so every slot occurs once.
struct Walk {
    at: u64,
    skip: u64,
    weight: u32,
    member: u32,
}

impl Maglev {
    /// Creates a table of `slots` slots, a prime, for `members`, given by name and weight. A weight
    /// of 0 gets no slot. The same names and weights give the same table in any order and on any
    /// machine, so two balancers agree without communicating. If no member has a weight, the table
    /// is empty.
    pub fn new(members: &[(&str, u32)], slots: u32) -> Self {
        let divisor = members.iter().fold(0, |divisor, (_, weight)| common(divisor, *weight));
        if divisor == 0 {
            return Self { slots: Vec::new() };
        }
        let mut order: Vec<usize> = (0..members.len()).filter(|&index| members[index].1 > 0).collect();
        // The member that starts gets the odd slot. Members are sorted by name, because the order
        // of the list has no meaning.
        order.sort_by_key(|&index| members[index].0);
        let size = u64::from(slots);
        let walk = |index: usize| {
            let (name, weight) = members[index];
            let (offset, skip) = (mixed(name, 1) % size, mixed(name, 2) % (size - 1) + 1);
            Walk { at: offset, skip, weight: weight / divisor, member: index as u32 }
        };
        Self { slots: filled(order.into_iter().map(walk).collect(), slots) }
    }

    /// Returns the owner of each slot, as an index into the list of members. The table is empty if
    /// no member has a weight.
    pub fn lookup_table(&self) -> &[u32] {
        &self.slots
    }
}

fn filled(mut walks: Vec<Walk>, slots: u32) -> Vec<u32> {
    const FREE: u32 = u32::MAX;
    let size = u64::from(slots);
    let mut table = vec![FREE; slots as usize];
    let mut left = table.len();
    loop {
        for walk in &mut walks {
            for _ in 0..walk.weight {
                if left == 0 {
                    return table;
                }
                // This loop ends: a slot is free, and the walk reaches all slots.
                while table[walk.at as usize] != FREE {
                    walk.at = (walk.at + walk.skip) % size;
                }
                table[walk.at as usize] = walk.member;
                left -= 1;
            }
        }
    }
}

/// Returns the greatest common divisor. With 0, this is the other number.
const fn common(mut one: u32, mut other: u32) -> u32 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// Hashes a name with FNV-1a over its bytes and the finalizer of `SplitMix64`. FNV alone gives
/// close values for names that differ only in their last letter. Different values of `salt` give
/// independent hashes.
fn mixed(name: &str, salt: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut hash =
        name.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("app{number}:8080")).collect()
    }

    fn table(weights: &[u32], slots: u32) -> Maglev {
        let names = names(weights.len());
        let members: Vec<(&str, u32)> =
            names.iter().map(String::as_str).zip(weights.iter().copied()).collect();
        Maglev::new(&members, slots)
    }

    /// Checks that every member has its share of the slots, within one turn.
    #[track_caller]
    fn check(weights: &[u32], slots: u32) {
        let table = table(weights, slots);
        assert_eq!(table.lookup_table().len(), slots as usize, "{weights:?}: a slot for everybody");
        let all: u32 = weights.iter().sum();
        let divisor = weights.iter().fold(0, |divisor, weight| common(divisor, *weight));
        for (member, &weight) in weights.iter().enumerate() {
            let has = table.lookup_table().iter().filter(|&&owner| owner == member as u32).count() as f64;
            let share = f64::from(slots) * f64::from(weight) / f64::from(all);
            let turn = f64::from(weight / divisor);
            assert!(
                (has - share).abs() <= turn,
                "{weights:?}: member {member} has {has} of {slots}, not {share}"
            );
        }
    }

    #[test]
    fn shares_are_exact_to_a_turn() {
        check(&[1], 251);
        check(&[1, 1], 1021);
        check(&[1, 1, 1, 1], 65_537);
        check(&[7, 7, 7], 4_099);
        check(&[1, 2, 5], 4_099);
        check(&[200, 100, 0, 50], 65_537);
        check(&[1; 100], 65_537);
        // With more members than slots, the first ones by name have one slot each.
        let few = table(&[1; 20], 7);
        let mut owners = few.lookup_table().to_vec();
        owners.sort_unstable();
        owners.dedup();
        assert_eq!(owners.len(), 7);
    }

    #[test]
    fn no_process_is_an_empty_table() {
        assert!(Maglev::new(&[], 65_537).lookup_table().is_empty());
        assert!(table(&[0, 0], 65_537).lookup_table().is_empty());
    }

    #[test]
    fn the_order_of_the_list_does_not_matter() {
        let one = Maglev::new(&[("a", 1), ("b", 2), ("c", 1)], 1021);
        let other = Maglev::new(&[("c", 1), ("a", 1), ("b", 2)], 1021);
        let named = |table: &Maglev, names: [&'static str; 3]| -> Vec<&str> {
            table.lookup_table().iter().map(|&owner| names[owner as usize]).collect()
        };
        assert_eq!(named(&one, ["a", "b", "c"]), named(&other, ["c", "a", "b"]));
    }

    /// Returns the fraction of all slots that move between the remaining members when one member of
    /// `count` leaves.
    fn moved(count: usize, slots: u32) -> f64 {
        let full = table(&vec![1; count], slots);
        let mut worst: f64 = 0.0;
        for gone in 0..count.min(8) {
            let mut weights = vec![1; count];
            weights[gone] = 0;
            let without = table(&weights, slots);
            let pairs = full.lookup_table().iter().zip(without.lookup_table());
            let moved = pairs.filter(|(before, after)| before != after && **before != gone as u32).count();
            worst = worst.max(moved as f64 / f64::from(slots));
        }
        worst
    }

    #[test]
    fn who_stays_keeps_nearly_everything() {
        // §5.3 of the paper: with 65,537 slots and some hundreds of servers, the loss of one server
        // moves its own slots and less than 2 % of the others. With only about a hundred slots for
        // each server, more slots move.
        for (count, slots, most) in [(2, 1021, 0.0), (4, 4_099, 0.1), (4, 65_537, 0.1), (100, 65_537, 0.05)] {
            let moved = moved(count, slots);
            assert!(moved <= most, "{count} servers, {slots} slots: {:.2} % moved", moved * 100.0);
        }
        // The remainder of a hash by the number of servers would move three of four.
        assert!(moved(4, 65_537) < 0.25);
    }

    #[test]
    fn the_table_is_the_same_for_ever() {
        // Two versions of the program may balance for the same address in parallel.
        let table = Maglev::new(&[("app1:80", 1), ("app2:80", 1), ("app3:80", 1)], 13);
        assert_eq!(table.lookup_table(), [2, 1, 2, 0, 0, 2, 2, 0, 0, 1, 1, 0, 1]);
    }
}
