//! The io\_uring driver does what every driver must, with all that newer kernels have and without.

#[path = "epoll_parts/masked.rs"]
mod masked;
mod suite;

mod with_all {
    crate::driver_suite!(wavetank_driver::Uring);
}

/// What a kernel before 6.11 leaves of it.
mod without_bind_op {
    use wavetank_driver::{Feature, Uring};

    use crate::masked::Masked;

    crate::driver_suite!(super::Masked<super::Uring, { super::Feature::BindOp as usize }>);
}
