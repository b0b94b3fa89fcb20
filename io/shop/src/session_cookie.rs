//! [`CookieSigner`]: session cookies that need no memory. They contain the user's name and a
//! signature that only this server can make.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The cookie's name.
const NAME: &str = "session";
/// Length of a key.
pub(crate) const KEY_BYTES: usize = 32;

/// Signs session cookies.
#[derive(Clone)]
pub(crate) struct CookieSigner {
    mac: Hmac<Sha256>,
}

impl CookieSigner {
    /// Creates a signer with a secret key.
    pub(crate) fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self { mac: Hmac::new_from_slice(key).expect("a key of any length will do") }
    }

    /// Returns the value of `Set-Cookie` for a user who has logged in.
    pub(crate) fn cookie(&self, user: &str) -> String {
        let mut mac = self.mac.clone();
        mac.update(user.as_bytes());
        let code = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let (name, seal) = (code(user.as_bytes()), code(&mac.finalize().into_bytes()));
        format!("{NAME}={name}.{seal}; Path=/; HttpOnly; SameSite=Lax")
    }

    /// Returns the user of the session in a `Cookie` field, if its signature is valid.
    pub(crate) fn user(&self, field: &[u8]) -> Option<String> {
        let field = str::from_utf8(field).ok()?;
        let pairs = field.split(';').filter_map(|pair| pair.trim().split_once('='));
        let (_, value) = pairs.into_iter().find(|(name, _)| *name == NAME)?;
        let (name, seal) = value.split_once('.')?;
        let plain = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).ok();
        let (user, seal) = (plain(name)?, plain(seal)?);
        let mut mac = self.mac.clone();
        mac.update(&user);
        mac.verify_slice(&seal).ok()?;
        String::from_utf8(user).ok()
    }
}

impl std::fmt::Debug for CookieSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_it_sealed_is_a_session() {
        let seal = CookieSigner::new(&[7; KEY_BYTES]);
        for user in ["ann", "", "b; ob=\"\u{e4}", "x.y"] {
            let set = seal.cookie(user);
            let cookie = set.split(';').next().expect("a pair");
            let user_of = |field: String| seal.user(field.as_bytes());
            assert_eq!(user_of(cookie.to_owned()).as_deref(), Some(user));
            assert_eq!(user_of(format!("a=b; {cookie}; c=d")).as_deref(), Some(user));
            assert_eq!(user_of(cookie.replace("session", "session2")), None);
            assert_eq!(user_of(cookie.replace("session=", "session=YQ")), None, "another name");
            assert_eq!(user_of(cookie[..cookie.len() - 1].to_owned()), None, "less of the seal");
            assert_eq!(CookieSigner::new(&[8; KEY_BYTES]).user(cookie.as_bytes()), None, "another key");
        }
        for nothing in ["", "session", "session=", "session=.", "session=a", "session=%.%", "\u{e4}"] {
            assert_eq!(seal.user(nothing.as_bytes()), None, "{nothing}");
        }
        assert_eq!(seal.user(b"session=\xff.\xff"), None);
    }
}
