//! [`Retain`]: the parts of a response that a step needs.

/// The parts of a response that must be kept until it is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is independent")]
pub struct Retain {
    /// The fields of its head.
    pub fields: bool,
    /// Its body.
    pub body: bool,
    /// Its body, if it is a page.
    pub page: bool,
    /// Its fields, if it sets cookies.
    pub cookies: bool,
}

impl Retain {
    /// Whether any part is kept.
    pub const fn any(self) -> bool {
        self.fields || self.body || self.page || self.cookies
    }
}
