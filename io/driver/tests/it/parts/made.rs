//! [`Made`]: a driver made in a special way, for the suite of all drivers.

use std::marker::PhantomData;

use wavetank_driver::{Driver, DriverConfig, Errno, Feature};

/// The way a driver is made.
pub(crate) trait Make {
    type Driver: Driver;

    fn make(setup: &DriverConfig) -> Result<Self::Driver, Errno>;
}

/// `D` without the feature with the number `FEATURE`, as on a kernel that lacks it.
pub(crate) struct Without<D, const FEATURE: usize>(PhantomData<D>);

impl<D: Driver, const FEATURE: usize> Make for Without<D, FEATURE> {
    type Driver = D;

    fn make(setup: &DriverConfig) -> Result<D, Errno> {
        let feature = Feature::ALL.iter().find(|(feature, _)| *feature as usize == FEATURE);
        let (feature, _) = feature.expect("the number of a feature");
        D::new(&DriverConfig { features: setup.features.without(*feature), ..*setup })
    }
}

/// See the module's description.
pub(crate) struct Made<M: Make>(M::Driver);

impl<M: Make> Driver for Made<M> {
    const SENDS_LATER: bool = M::Driver::SENDS_LATER;

    wavetank_driver::forward_driver! {
        0:
        ends connect listen stop_accepting send send_shared bytes_sent close shut_down_sending
        clock wait_from send_now take_unsent next received is_ending waker stale tls_fault
    }

    fn new(setup: &DriverConfig) -> Result<Self, Errno> {
        M::make(setup).map(Self)
    }
}
