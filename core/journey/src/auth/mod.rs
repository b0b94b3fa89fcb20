//! Authentication: the three forms of `Authorization`, and functions with which templates sign.

mod challenge;
mod digest;
mod functions;
mod hash;

pub(crate) use challenge::next_nonce;
pub use challenge::{Challenge, ChallengeFault, DigestAlgorithm};
pub use digest::Digest;
pub use functions::{base64_text, basic, bearer, hmac_sha256, hmac_sha256_hex, uuid_v4};
