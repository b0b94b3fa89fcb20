//! [`Features`]: the kernel features that may be used.

/// A feature that newer kernels have and some hosts forbid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// io\_uring with everything that its driver requires (6.1).
    Uring,
    /// Binding and socket options on direct descriptors of io\_uring (6.11).
    BindOp,
    /// A separate table of files for one thread: `unshare(CLONE_FILES)`.
    Unshare,
    /// `epoll_pwait2` (5.11): waiting with nanosecond precision.
    EpollPwait2,
    /// A process on the same memory with a separate table of files: `clone(CLONE_VM)`.
    OwnProcess,
}

impl Feature {
    /// All features, with the name that masks each.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Uring, "uring"),
        (Self::BindOp, "bind_op"),
        (Self::Unshare, "unshare"),
        (Self::EpollPwait2, "epoll_pwait2"),
        (Self::OwnProcess, "own_process"),
    ];
}

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u32);

impl Features {
    /// Returns the set of all features.
    pub const fn all() -> Self {
        Self((1 << Feature::ALL.len()) - 1)
    }

    /// Returns whether the set contains `feature`.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 & (1 << feature as u32) != 0
    }

    /// Returns the set without `feature`.
    #[must_use]
    pub const fn without(self, feature: Feature) -> Self {
        Self(self.0 & !(1 << feature as u32))
    }

    /// Returns all features except the masked ones: names of [`Feature::ALL`] joined by commas.
    /// Fails with the first unknown name.
    pub fn from_mask(words: &str) -> Result<Self, &str> {
        let mut words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.try_fold(Self::all(), |left, word| {
            let known = Feature::ALL.iter().find(|(_, name)| *name == word);
            known.map(|&(feature, _)| left.without(feature)).ok_or(word)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &str, masked: &[Feature]) {
        let left = Features::from_mask(words).expect("known names");
        for (feature, _) in Feature::ALL {
            assert_eq!(left.has(feature), !masked.contains(&feature), "{words}: {feature:?}");
        }
    }

    #[test]
    fn masks_take_away_what_they_name() {
        check("", &[]);
        check("uring", &[Feature::Uring]);
        check(" unshare , own_process,", &[Feature::Unshare, Feature::OwnProcess]);
        check("uring,bind_op,unshare,epoll_pwait2,own_process", &Feature::ALL.map(|(feature, _)| feature));
        assert_eq!(Features::from_mask("uring,urine,x"), Err("urine"));
    }
}
