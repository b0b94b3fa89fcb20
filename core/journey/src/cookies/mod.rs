//! Cookies as user agents keep them (RFC 6265), with one [`Jar`] for each user.

mod date;
mod jar;
mod set_cookie;

pub use date::cookie_date;
pub use jar::{CookieOutcome, Jar, Site};
pub use set_cookie::SetCookie;
