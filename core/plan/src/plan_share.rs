//! [`PlanShare`]: the part of a plan that one host executes.

/// The part of a plan that one host executes: `width` of every `of` users, sessions and
/// connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanShare {
    width: u64,
    of: u64,
}

impl PlanShare {
    /// The whole plan, on one host.
    pub const WHOLE: Self = Self { width: 1, of: 1 };

    /// Returns the share of `width` of every `of`. `None` if it is nothing or more than all.
    pub const fn new(width: u64, of: u64) -> Option<Self> {
        if 0 < width && width <= of { Some(Self { width, of }) } else { None }
    }

    /// Returns how many of `total` belong to the share at most. Where the share begins decides
    /// whether it has one more or less.
    pub const fn part_of(self, total: u64) -> u64 {
        let rest = total % self.of;
        total / self.of * self.width + if rest < self.width { rest } else { self.width }
    }

    /// Returns the largest total of which at most `part` belong to the share.
    pub(crate) const fn total_of(self, part: u64) -> u64 {
        (part / self.width).saturating_mul(self.of).saturating_add(part % self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(width: u64, of: u64, total: u64, part: u64) {
        let share = PlanShare::new(width, of).expect("a share");
        assert_eq!(share.part_of(total), part, "{share:?} of {total}");
        let most = share.total_of(part);
        assert!(share.part_of(most) <= part && most >= total, "{share:?}: {part} of at most {most}");
        assert!(most == u64::MAX || share.part_of(most + 1) > part, "{share:?}: {part} of at most {most}");
    }

    #[test]
    fn a_share_has_its_part_rounded_up() {
        check(1, 1, 7, 7);
        check(1, 3, 0, 0);
        check(1, 3, 1, 1);
        check(1, 3, 3, 1);
        check(1, 3, 4, 2);
        check(2, 3, 4, 3);
        check(2, 3, 1_000_000, 666_667);
        check(5, 7, u64::MAX, 13_176_245_766_935_394_011);
        assert_eq!([PlanShare::new(0, 3), PlanShare::new(4, 3), PlanShare::new(0, 0)], [None; 3]);
        assert_eq!(PlanShare::new(1, 1), Some(PlanShare::WHOLE));
    }
}
