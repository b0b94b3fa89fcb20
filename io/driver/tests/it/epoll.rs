//! The epoll driver does what every driver must, with all that newer kernels have and without.

mod with_all {
    crate::driver_suite!(wavetank_driver::Epoll);
}

/// What a kernel before 5.11 leaves of it.
mod without_epoll_pwait2 {
    use wavetank_driver::{Epoll, Feature};

    use crate::made::{Made, Without};

    crate::driver_suite!(super::Made<super::Without<super::Epoll, { super::Feature::EpollPwait2 as usize }>>);
}
