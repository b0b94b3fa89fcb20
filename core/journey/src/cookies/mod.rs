//! Cookies as a user agent keeps them (RFC 6265): one [`Jar`] a user.

mod date;
mod jar;
mod set_cookie;

pub use date::cookie_date;
pub use jar::{CookieOutcome, Jar, Site};
pub use set_cookie::SetCookie;
