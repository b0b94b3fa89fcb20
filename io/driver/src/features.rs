//! [`Features`]: what of the kernel may be used.

/// Something newer kernels have, and some hosts forbid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// io\_uring with all that the driver on it cannot do without (6.1).
    Uring,
    /// Binding and socket options on direct descriptors of io\_uring (6.11).
    BindOp,
    /// A table of files for one thread: `unshare(CLONE_FILES)`.
    Unshare,
    /// `epoll_pwait2` (5.11): waiting to the nanosecond.
    EpollPwait2,
}

impl Feature {
    /// All of them, with the word that masks each.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Uring, "uring"),
        (Self::BindOp, "bind_op"),
        (Self::Unshare, "unshare"),
        (Self::EpollPwait2, "epoll_pwait2"),
    ];
}

/// A set of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u32);

impl Features {
    /// Every one.
    pub const fn all() -> Self {
        Self((1 << Feature::ALL.len()) - 1)
    }

    /// Whether `feature` is among them.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 & (1 << feature as u32) != 0
    }

    /// These but for `feature`.
    #[must_use]
    pub const fn without(self, feature: Feature) -> Self {
        Self(self.0 & !(1 << feature as u32))
    }
}
