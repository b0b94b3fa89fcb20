//! The io\_uring driver does what every driver must, with all that newer kernels have and without.

mod with_all {
    crate::driver_suite!(wavetank_driver::Uring);
}

/// What a kernel before 6.11 leaves of it.
mod without_bind_op {
    use wavetank_driver::{Feature, Uring};

    use crate::made::{Made, Without};

    crate::driver_suite!(super::Made<super::Without<super::Uring, { super::Feature::BindOp as usize }>>);
}

/// Every connection one of those whose receive is not armed until there is something to receive.
mod parked {
    use wavetank_driver::{Driver, Errno, Setup, Uring};

    use crate::made::{Made, Make};

    pub(crate) struct Parked;

    impl Make for Parked {
        type Driver = Uring;

        fn make(setup: &Setup) -> Result<Uring, Errno> {
            Uring::new(setup).map(|uring| uring.with_hot_max(0))
        }
    }

    crate::driver_suite!(super::Made<super::Parked>);
}

/// One connection keeps its receive armed, all others do not; a slot may go from one kind to the other.
mod one_hot {
    use wavetank_driver::{Driver, Errno, Setup, Uring};

    use crate::made::{Made, Make};

    pub(crate) struct OneHot;

    impl Make for OneHot {
        type Driver = Uring;

        fn make(setup: &Setup) -> Result<Uring, Errno> {
            Uring::new(setup).map(|uring| uring.with_hot_max(1))
        }
    }

    crate::driver_suite!(super::Made<super::OneHot>);
}
