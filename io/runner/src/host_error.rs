//! [`host_error`]: what the kernel refused.

use wavetank_driver::Errno;
use wavetank_units::{Code, UserError};

/// The kernel refused what every run needs.
pub fn host_error(what: &str, errno: Errno) -> UserError {
    UserError::refused(
        Code::HostCannot,
        format!("this host did not let wavetank {what}: {errno}"),
        "look at `ulimit -a` and at the limits of the container",
    )
}
