//! [`Errno`]: why the kernel said no.

use std::fmt;

/// An error number of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    /// The number left by the last failed call on this thread.
    pub(crate) fn last() -> Self {
        Self(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
    }

    /// `-1` means failure with errno set; anything else is the call's result.
    pub(crate) fn check(result: i32) -> Result<i32, Self> {
        if result < 0 { Err(Self::last()) } else { Ok(result) }
    }

    /// The number as a byte. Numbers that do not fit become `EIO`; the largest of Linux is 133.
    pub(crate) fn packed(self) -> u8 {
        u8::try_from(self.0).ok().filter(|&number| number != 0).unwrap_or(libc::EIO as u8)
    }

    /// What was packed; `None` for 0, where nothing was.
    pub(crate) fn unpacked(number: u8) -> Option<Self> {
        (number != 0).then(|| Self(i32::from(number)))
    }

    /// The number's symbol where it matters to users, e.g. `ECONNREFUSED`.
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
