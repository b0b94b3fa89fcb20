//! Who asks: `Authorization` in its three forms, and the small functions that templates sign with.

mod challenge;
mod digest;
mod functions;
mod hash;
mod login;

pub use challenge::{Challenge, ChallengeFault, DigestAlgorithm};
pub use digest::Digest;
pub use functions::{base64_text, basic, bearer, hmac_sha256, hmac_sha256_hex, uuid_v4};
pub(crate) use login::{Credentials, Logins};
