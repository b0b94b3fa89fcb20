//! [`Errno`]: the reason why a system call failed.

use std::fmt;

/// An error number of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    /// Returns the number left by the last failed call on this thread.
    pub(crate) fn last() -> Self {
        Self(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
    }

    /// Interprets the result of a call: `-1` means failure with errno set, anything else is its
    /// value.
    pub(crate) fn check(result: i32) -> Result<i32, Self> {
        if result < 0 { Err(Self::last()) } else { Ok(result) }
    }

    /// Returns the number as one byte. Numbers that do not fit become `EIO`; none of Linux exceeds
    /// 133.
    pub(crate) fn packed(self) -> u8 {
        u8::try_from(self.0).ok().filter(|&number| number != 0).unwrap_or(libc::EIO as u8)
    }

    /// Reverses [`packed`](Self::packed); `None` for 0, which means "no error".
    pub(crate) fn unpacked(number: u8) -> Option<Self> {
        (number != 0).then(|| Self(i32::from(number)))
    }

    /// Returns the symbol of numbers that matter to users, e.g. `ECONNREFUSED`.
    pub fn symbol(self) -> Option<&'static str> {
        Some(match self.0 {
            libc::ECONNREFUSED => "ECONNREFUSED",
            libc::ETIMEDOUT => "ETIMEDOUT",
            libc::EHOSTUNREACH => "EHOSTUNREACH",
            libc::ENETUNREACH => "ENETUNREACH",
            libc::EADDRNOTAVAIL => "EADDRNOTAVAIL",
            libc::EADDRINUSE => "EADDRINUSE",
            libc::EMFILE => "EMFILE",
            libc::ENFILE => "ENFILE",
            libc::ECONNRESET => "ECONNRESET",
            libc::EPIPE => "EPIPE",
            libc::EAGAIN => "EAGAIN",
            libc::EACCES => "EACCES",
            libc::EPERM => "EPERM",
            libc::ENOBUFS => "ENOBUFS",
            libc::ENOMEM => "ENOMEM",
            libc::EINVAL => "EINVAL",
            libc::ENOSYS => "ENOSYS",
            _ => return None,
        })
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = std::io::Error::from_raw_os_error(self.0).to_string();
        let text = text.split(" (os error").next().unwrap_or(&text);
        match self.symbol() {
            Some(symbol) => write!(f, "{text} ({symbol})"),
            None => write!(f, "{text} (errno {})", self.0),
        }
    }
}

impl std::error::Error for Errno {}
