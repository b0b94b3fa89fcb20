//! [`Ports`]: which ports connections may be made from.

/// A set of ports, as ranges in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports(Vec<(u16, u16)>);

impl Ports {
    /// All from `first` to `last`; none if they run backwards.
    pub fn range(first: u16, last: u16) -> Self {
        Self(if first <= last { vec![(first, last)] } else { Vec::new() })
    }

    /// These but for every port in `taken`, which may overlap and come in any order.
    #[must_use]
    pub fn without(mut self, taken: &[(u16, u16)]) -> Self {
        for &(low, high) in taken {
            let cut = |(first, last): (u16, u16)| {
                let below = (first < low).then(|| (first, last.min(low.saturating_sub(1))));
                let above = (last > high).then(|| (first.max(high.saturating_add(1)), last));
                [below, above].into_iter().flatten()
            };
            self.0 = self.0.into_iter().flat_map(cut).collect();
        }
        self
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|&(first, last)| u64::from(last - first) + 1).sum()
    }

    /// Every one, in order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        self.0.iter().flat_map(|&(first, last)| first..=last)
    }
}
