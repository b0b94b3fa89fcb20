//! Who asks: `Authorization` in its three forms, and the small functions that templates sign with.

mod challenge;
mod credentials_cache;
mod digest;
mod functions;
mod hash;

pub use challenge::{Challenge, ChallengeFault, DigestAlgorithm};
pub(crate) use credentials_cache::{Credentials, CredentialsCache};
pub use digest::Digest;
pub use functions::{base64_text, basic, bearer, hmac_sha256, hmac_sha256_hex, uuid_v4};
