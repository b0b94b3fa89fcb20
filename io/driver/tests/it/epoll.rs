//! The epoll driver passes the suite of all drivers, with all features of newer kernels and
//! without.

mod with_all {
    crate::driver_suite!(wavetank_driver::Epoll);
}

/// The features of a kernel before 5.11.
mod without_epoll_pwait2 {
    use wavetank_driver::{Epoll, Feature};

    use crate::made::{Made, Without};

    crate::driver_suite!(super::Made<super::Without<super::Epoll, { super::Feature::EpollPwait2 as usize }>>);
}
