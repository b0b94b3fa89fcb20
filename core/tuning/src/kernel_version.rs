//! [`KernelVersion`]: major and minor number of a kernel.

use wavetank_units::{Code, UserError};

/// Major and minor number of a kernel; kernels compare by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelVersion(pub u16, pub u16);

impl KernelVersion {
    /// Reads the numbers at the start of a release such as `6.18.44-amd64`.
    pub fn of_release(release: &str) -> Option<Self> {
        let mut numbers = release.trim().split(['.', '-', '+', '_']);
        Some(Self(numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }

    /// Reads the value of an option.
    ///
    /// # Errors
    /// On everything that is not two numbers.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        Self::of_release(text).ok_or_else(|| {
            let message = format!("`{text}` is not a kernel version");
            UserError::usage(Code::ValueUnknown, message, "two numbers, for example 5.10")
        })
    }
}

impl std::fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}
