//! [`SlotAssignments`]: which connection slot a session uses.

/// Assigned slots, by owner.
#[derive(Default)]
pub(crate) struct SlotAssignments {
    /// Slots of sessions of the open loop, by index.
    pub(super) arrivals: Vec<AssignedSlots>,
    /// Further slots of users, in addition to their first one; empty if no user has any.
    pub(super) users: Vec<AssignedSlots>,
}

/// Slots of one session or user, each with its target.
#[derive(Default)]
pub(super) enum AssignedSlots {
    #[default]
    None,
    One(u16, u32),
    More(Vec<(u16, u32)>),
}

impl AssignedSlots {
    pub(super) fn to(&self, target: u16) -> Option<u32> {
        match self {
            Self::None => None,
            Self::One(to, slot) => (*to == target).then_some(*slot),
            Self::More(all) => all.iter().find(|(to, _)| *to == target).map(|(_, slot)| *slot),
        }
    }

    pub(super) fn add(&mut self, target: u16, slot: u32) {
        *self = match std::mem::take(self) {
            Self::None => Self::One(target, slot),
            Self::One(to, first) => Self::More(vec![(to, first), (target, slot)]),
            Self::More(mut all) => {
                all.push((target, slot));
                Self::More(all)
            }
        };
    }

    /// Removes all of them, one at a time.
    pub(super) fn pop(&mut self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::One(_, slot) => {
                let slot = *slot;
                *self = Self::None;
                Some(slot)
            }
            Self::More(all) => {
                let last = all.pop().map(|(_, slot)| slot);
                if all.is_empty() {
                    *self = Self::None;
                }
                last
            }
        }
    }
}
