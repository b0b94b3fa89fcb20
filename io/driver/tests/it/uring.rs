//! The io\_uring driver passes the suite of all drivers, with all features of newer kernels and
//! without.

mod with_all {
    crate::driver_suite!(wavetank_driver::Uring);
}

/// The features of a kernel before 6.11.
mod without_bind_op {
    use wavetank_driver::{Feature, Uring};

    use crate::made::{Made, Without};

    crate::driver_suite!(super::Made<super::Without<super::Uring, { super::Feature::BindOp as usize }>>);
}

/// The receive of each connection is armed only when there is something to receive.
mod parked {
    use wavetank_driver::{Driver, DriverConfig, Errno, Uring};

    use crate::made::{Made, Make};

    pub(crate) struct Parked;

    impl Make for Parked {
        type Driver = Uring;

        fn make(setup: &DriverConfig) -> Result<Uring, Errno> {
            Uring::new(setup).map(|uring| uring.with_hot_max(0))
        }
    }

    crate::driver_suite!(super::Made<super::Parked>);
}

/// One connection keeps its receive armed, all others do not. A slot may change from one kind to
/// the other.
mod one_hot {
    use wavetank_driver::{Driver, DriverConfig, Errno, Uring};

    use crate::made::{Made, Make};

    pub(crate) struct OneHot;

    impl Make for OneHot {
        type Driver = Uring;

        fn make(setup: &DriverConfig) -> Result<Uring, Errno> {
            Uring::new(setup).map(|uring| uring.with_hot_max(1))
        }
    }

    crate::driver_suite!(super::Made<super::OneHot>);
}
